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
    std::vector<OutPoint> made_here, spent;
    made_here.reserve(block.Outputs().size());
    spent.reserve(block.Inputs().size());
    for (const TxView& tx : block.Txs()) {
        for (uint32_t i = 0; i < tx.outputs.size(); ++i) {
            if (!IsUnspendable(tx.outputs[i].script_pubkey)) made_here.push_back({tx.txid, i});
        }
        if (tx.IsCoinbase()) continue;
        for (const InputView& input : tx.inputs) spent.push_back(input.Prevout());
    }
    cache.PrefetchPlaces(made_here);
    std::vector<OutPoint> wanted = cache.NotCached(spent);
    if (m_pool.ThreadCount() == 0 || wanted.size() < kFewestToPrefetch) return {};
    // Coins of this block itself are in no database.
    std::unordered_set<Txid, Uint256Hasher> made;
    for (const TxView& tx : block.Txs()) made.insert(tx.txid);
    std::erase_if(wanted, [&](const OutPoint& o) { return made.contains(o.txid); });
    return cache.Prefetch(wanted, m_pool);
}

} // namespace ibd
