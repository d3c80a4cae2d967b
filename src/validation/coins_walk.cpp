// See coins_walk.h.
#include "validation/coins_walk.h"

#include "crypto/muhash.h"
#include "crypto/sha256.h"
#include "script/coin_stats.h"

#include <algorithm>
#include <map>

namespace ibd {

namespace {

int CompareKeys(const CoinKey& a, const CoinKey& b)
{
    const int order = std::memcmp(a.bytes, b.bytes, std::min(a.size, b.size));
    return order != 0 ? order : int{a.size} - int{b.size};
}

} // namespace

Result<> CoinsWalk::UndoDownTo(const ChainView& chain, const HeaderNode& target,
                               CoinsCache& overlay)
{
    for (const HeaderNode* node = chain.Tip(); node != &target; node = node->prev) {
        const StoredBlock stored = chain.Where(*node);
        IBD_ASSIGN_OR_RETURN(auto block,
                             LoadBlock(chain.Blocks(), stored, chain.Params().consensus));
        IBD_ASSIGN_OR_RETURN(BlockUndo undo, BlockArchive(chain.Blocks()).Undo(stored));
        IBD_RETURN_IF_ERROR(
            DisconnectBlock(block->view, *node, chain.Params(), std::move(undo), overlay));
    }
    return {};
}

void CoinsWalk::TakeChanges(const CoinsCache& overlay)
{
    overlay.ForEachChange([&](const OutPoint& outpoint, const Coin* coin) {
        m_changes.push_back(
            {outpoint, CoinKey(outpoint), coin ? std::optional<Coin>(*coin) : std::nullopt});
    });
    std::sort(m_changes.begin(), m_changes.end(),
              [](const Change& a, const Change& b) { return CompareKeys(a.key, b.key) < 0; });
}

Result<std::unique_ptr<CoinsWalk>> CoinsWalk::Start(ChainManager& chain, const HeaderNode* target)
{
    if (!chain.Tip()) return BadData("there is no block yet");
    std::unique_ptr<CoinsWalk> walk;
    const auto start = [&](CoinsDb& coins, const CoinsCache& cache) -> Result<> {
        const HeaderNode& tip = *chain.Tip();
        const HeaderNode& block = target ? *target : tip;
        if (tip.Ancestor(block.height) != &block) {
            return BadData("block {} is not on the active chain", block.hash.ToHex());
        }
        CoinsCache overlay(cache, OutPointHasher(chain.Options().hash_key));
        IBD_RETURN_IF_ERROR(UndoDownTo(chain, block, overlay));
        walk.reset(new CoinsWalk(block, coins.Cursor()));
        walk->TakeChanges(overlay);
        return {};
    };
    IBD_RETURN_IF_ERROR(chain.VisitFlushed(start));
    return walk;
}

bool CoinsWalk::ChangeComesFirst() const
{
    if (m_next == m_changes.size()) return false;
    if (!m_cursor.Valid()) return true;
    return CompareKeys(m_changes[m_next].key, CoinKey(m_cursor.Key())) <= 0;
}

Result<bool> CoinsWalk::Next(OutPoint& outpoint, Coin& coin)
{
    while (ChangeComesFirst()) {
        Change& change = m_changes[m_next++];
        if (m_cursor.Valid() && m_cursor.Key() == change.outpoint) m_cursor.Next();
        if (!change.coin) continue;
        outpoint = change.outpoint;
        coin = std::move(*change.coin);
        return true;
    }
    if (!m_cursor.Valid()) {
        IBD_RETURN_IF_ERROR(m_cursor.Status());
        return false;
    }
    outpoint = m_cursor.Key();
    IBD_ASSIGN_OR_RETURN(coin, m_cursor.Value());
    m_cursor.Next();
    return true;
}

namespace {

/** Adds coins to statistics. Those of one transaction are ordered by output index, as Core hashes
 *  them. The database orders them by the bytes of a VARINT, where 16,512 precedes 256. */
class StatsBuilder {
public:
    explicit StatsBuilder(CoinsHashKind kind) : m_kind(kind) {}

    void Add(const OutPoint& outpoint, Coin coin)
    {
        if (!m_tx.empty() && !(outpoint.txid == m_txid)) CloseTx();
        m_txid = outpoint.txid;
        m_tx.emplace(outpoint.vout, std::move(coin));
    }

    void Finish(CoinsStats& out)
    {
        if (!m_tx.empty()) CloseTx();
        if (m_kind == CoinsHashKind::kSerialized3) {
            out.hash = Uint256(Sha256Of(m_sha.Finalize()));
        }
        if (m_kind == CoinsHashKind::kMuHash) out.hash = Uint256(m_muhash.Finalize());
        out.transactions = m_stats.transactions;
        out.outputs = m_stats.outputs;
        out.bogo_size = m_stats.bogo_size;
        out.total = m_stats.total;
    }

private:
    void CloseTx()
    {
        ++m_stats.transactions;
        for (const auto& [vout, coin] : m_tx) {
            ++m_stats.outputs;
            m_stats.total += coin.value;
            m_stats.bogo_size += BogoSize(coin.script);
            HashCoin(vout, coin);
        }
        m_tx.clear();
    }

    void HashCoin(uint32_t vout, const Coin& coin)
    {
        if (m_kind == CoinsHashKind::kNone) return;
        m_bytes.clear();
        Writer writer(m_bytes);
        WriteHashedCoin(writer, {m_txid, vout}, coin);
        if (m_kind == CoinsHashKind::kSerialized3) m_sha.Write(m_bytes);
        if (m_kind == CoinsHashKind::kMuHash) m_muhash.Insert(m_bytes);
    }

    const CoinsHashKind m_kind;
    CoinsStats m_stats;
    Txid m_txid;
    std::map<uint32_t, Coin> m_tx;
    Sha256 m_sha;
    MuHash3072 m_muhash;
    Bytes m_bytes;
};

} // namespace

Result<CoinsStats> ComputeCoinsStats(CoinsWalk& walk, CoinsHashKind kind,
                                     const std::atomic<bool>& interrupt)
{
    StatsBuilder builder(kind);
    OutPoint outpoint;
    Coin coin;
    while (true) {
        if (interrupt) return BadData("interrupted");
        IBD_ASSIGN_OR_RETURN(const bool more, walk.Next(outpoint, coin));
        if (!more) break;
        builder.Add(outpoint, std::move(coin));
    }
    CoinsStats stats;
    builder.Finish(stats);
    stats.height = walk.Block().height;
    stats.best = walk.Block().hash;
    return stats;
}

} // namespace ibd
