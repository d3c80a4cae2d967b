// See coins_prefetch.h.
#include "validation/coins_prefetch.h"

#include <unordered_set>

namespace ibd {

namespace {

/** Below this number of missing coins other threads are not woken. */
constexpr size_t kFewestToPrefetch = 8;

} // namespace

Result<> CoinsPrefetch::Read(const BlockView& block, CoinsCache& cache)
{
    if (m_pool.ThreadCount() == 0) return {};
    std::vector<OutPoint> wanted;
    for (const TxView& tx : block.Txs().subspan(1)) {
        for (const InputView& input : tx.inputs) {
            const OutPoint outpoint = input.Prevout();
            if (!cache.Cached(outpoint)) wanted.push_back(outpoint);
        }
    }
    if (wanted.size() < kFewestToPrefetch) return {};
    // Coins of this block itself are in no database.
    std::unordered_set<Txid, Uint256Hasher> made;
    for (const TxView& tx : block.Txs()) made.insert(tx.txid);
    std::erase_if(wanted, [&](const OutPoint& o) { return made.contains(o.txid); });
    return cache.Prefetch(wanted, m_pool);
}

} // namespace ibd
