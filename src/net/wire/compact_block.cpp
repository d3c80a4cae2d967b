// See compact_block.h.
#include "net/wire/compact_block.h"

#include "consensus/block_check.h"
#include "crypto/siphash_batch.h"
#include "util/prefetch.h"

#include <algorithm>
#include <numeric>

namespace ibd {

namespace {

constexpr int kShortIdBits = 48;
constexpr uint64_t kShortIdMask = (uint64_t{1} << kShortIdBits) - 1;
/** The best transactions of the pool are searched first: this many for each of the block, because
 *  the miner's pool differs from ours, and at most kMostToMine, as the pool waits meanwhile. */
constexpr size_t kToMineForEach = 2;
constexpr size_t kMostToMine = 12'000;

} // namespace

/** A transaction known only by its short id. */
struct PartialBlock::Wanted {
    uint64_t id;
    uint16_t index; //!< in the block
    bool seen;      //!< a transaction of the pool has this id
};

/** The wanted short ids of a block, and the search for transactions with these ids. Sorted, not
 *  hashed, because the sender chooses the ids; the upper bits of an id give the place to search,
 *  and nearly always show that there is no match. */
class PartialBlock::WantedTxs {
public:
    WantedTxs(PartialBlock& block, std::vector<Wanted> sorted, SipKey key)
        : m_block(block), m_wanted(std::move(sorted)), m_key(key), m_starts(kGroups + 1)
    {
        static_assert(kMaxCompactTxs <= UINT16_MAX);
        for (const Wanted& entry : m_wanted) ++m_starts[(entry.id >> kShift) + 1];
        std::partial_sum(m_starts.begin(), m_starts.end(), m_starts.begin());
    }

    bool AreFound() const { return m_block.m_found == m_wanted.size(); }

    /** False: no more are wanted. */
    bool Offer(std::span<const Wtxid> ids, std::span<const TransactionRef> txs)
    {
        static_assert(sizeof(Wtxid) == Wtxid::size());
        CHECK(ids.size() == txs.size());
        if (ids.empty()) return true;
        m_hashes.resize(ids.size());
        SipHash32Many(m_key, ids.front().data(), ids.size(), m_hashes.data());
        m_hits.clear();
        for (size_t i = 0; i < ids.size(); ++i) {
            Wanted* const wanted = Find(m_hashes[i] & kShortIdMask);
            if (!wanted || !txs[i]) continue;
            // Taking a transaction reads its memory: all are prefetched before the first is taken.
            __builtin_prefetch(txs[i].get());
            m_hits.emplace_back(wanted, i);
        }
        for (const auto& [wanted, i] : m_hits) m_block.Offer(*wanted, ids[i], txs[i]);
        return !AreFound();
    }

private:
    static constexpr int kGroupBits = 16;
    static constexpr size_t kGroups = size_t{1} << kGroupBits;
    static constexpr int kShift = kShortIdBits - kGroupBits;

    Wanted* Find(uint64_t id)
    {
        const size_t group = id >> kShift;
        const auto end = m_wanted.begin() + m_starts[group + 1];
        const auto found =
            std::lower_bound(m_wanted.begin() + m_starts[group], end, id,
                             [](const Wanted& entry, uint64_t value) { return entry.id < value; });
        return found != end && found->id == id ? &*found : nullptr;
    }

    PartialBlock& m_block;
    std::vector<Wanted> m_wanted;
    const SipKey m_key;
    std::vector<uint16_t> m_starts; //!< first entry of each value of the upper bits
    std::vector<uint64_t> m_hashes;
    std::vector<std::pair<Wanted*, size_t>> m_hits;
};

SipKey ShortIdKey(const BlockHeader& header, uint64_t nonce)
{
    Bytes bytes;
    Writer writer(bytes);
    writer.Raw(header.ToBytes());
    writer.U64(nonce);
    const Hash32 hash = Sha256Of(bytes);
    return {ReadLE<uint64_t>(hash.data()), ReadLE<uint64_t>(hash.data() + 8)};
}

uint64_t ShortId(SipKey key, const Wtxid& id) { return SipHash32(key, id.Array()) & kShortIdMask; }

CompactBlockMessage MakeCompactBlock(const BlockView& block, uint64_t nonce)
{
    std::vector<Wtxid> ids;
    ComputeWitnessHashes(block, ids);
    return MakeCompactBlock(block, ids, nonce);
}

CompactBlockMessage MakeCompactBlock(const BlockView& block, std::span<const Wtxid> witness_ids,
                                     uint64_t nonce)
{
    CHECK(!block.Txs().empty() && witness_ids.size() == block.Txs().size());
    CompactBlockMessage out;
    out.header = block.Header();
    out.nonce = nonce;
    out.prefilled.push_back({0, Transaction::Parse(block.Txs()[0].raw).Value()});
    const SipKey key = ShortIdKey(out.header, nonce);
    for (const Wtxid& id : witness_ids.subspan(1)) out.short_ids.push_back(ShortId(key, id));
    return out;
}

std::optional<Bytes> BlockTxnPayload(const BlockView& block, std::span<const uint16_t> indexes)
{
    Bytes out;
    Writer writer(out);
    writer.Hash(block.Hash());
    writer.CompactSize(indexes.size());
    for (const uint16_t index : indexes) {
        if (index >= block.Txs().size()) return std::nullopt;
        writer.Raw(block.Txs()[index].raw);
    }
    return out;
}

PartialBlock::Status PartialBlock::Start(const CompactBlockMessage& message,
                                         const TransactionSource* pool,
                                         std::span<const TransactionRef> extra)
{
    CHECK(m_txs.empty() && !m_spent);
    const size_t count = message.short_ids.size() + message.prefilled.size();
    if (count == 0 || count > kMaxCompactTxs) return Status::kInvalid;
    m_header = message.header;
    m_txs.resize(count);
    if (!PlacePrefilled(message)) return Status::kInvalid;

    std::vector<Wanted> wanted = ListWanted(message);
    const auto same = [](const Wanted& a, const Wanted& b) { return a.id == b.id; };
    if (std::adjacent_find(wanted.begin(), wanted.end(), same) != wanted.end()) {
        return Status::kFailed;
    }
    if (wanted.empty()) return Status::kOk;
    WantedTxs search(*this, std::move(wanted), ShortIdKey(message.header, message.nonce));
    const auto offer = [&](std::span<const Wtxid> ids, std::span<const TransactionRef> txs) {
        return search.Offer(ids, txs);
    };
    if (pool) {
        const size_t best = std::min(kToMineForEach * message.short_ids.size(), kMostToMine);
        pool->ForEachToMine(best, offer);
        if (!search.AreFound()) pool->ForEachTransaction(offer);
    }
    const size_t from_pool = m_found;
    if (!search.AreFound()) {
        std::vector<Wtxid> ids;
        for (const TransactionRef& tx : extra) ids.push_back(tx->WitnessId());
        search.Offer(ids, extra);
    }
    m_from_extra = m_found - std::min(m_found, from_pool);
    return Status::kOk;
}

bool PartialBlock::PlacePrefilled(const CompactBlockMessage& message)
{
    size_t next = 0;
    for (const PrefilledTx& entry : message.prefilled) {
        const size_t index = next + entry.gap;
        if (index >= m_txs.size()) return false;
        m_txs[index] = entry.tx;
        next = index + 1;
    }
    m_prefilled = message.prefilled.size();
    return true;
}

/** The transactions known only by short id, sorted by it. */
std::vector<PartialBlock::Wanted>
PartialBlock::ListWanted(const CompactBlockMessage& message) const
{
    std::vector<Wanted> out;
    out.reserve(message.short_ids.size());
    for (size_t index = 0; index < m_txs.size(); ++index) {
        if (m_txs[index]) continue;
        out.push_back({message.short_ids[out.size()], static_cast<uint16_t>(index), false});
    }
    std::sort(out.begin(), out.end(),
              [](const Wanted& a, const Wanted& b) { return a.id < b.id; });
    return out;
}

/** Takes a transaction with a wanted short id; if two transactions have it, takes neither: a
 *  request is cheaper than a wrong guess. */
void PartialBlock::Offer(Wanted& wanted, const Wtxid& wtxid, const TransactionRef& tx)
{
    TransactionRef& place = m_txs[wanted.index];
    if (!std::exchange(wanted.seen, true)) {
        place = tx;
        ++m_found;
    } else if (place && place->WitnessId() != wtxid) {
        place.reset();
        --m_found;
    }
}

std::vector<uint16_t> PartialBlock::Missing() const
{
    std::vector<uint16_t> out;
    for (size_t index = 0; index < m_txs.size(); ++index) {
        if (!m_txs[index]) out.push_back(static_cast<uint16_t>(index));
    }
    return out;
}

PartialBlock::Status PartialBlock::Fill(std::span<const TransactionRef> missing,
                                        bool expect_commitment, Bytes& block)
{
    CHECK(!m_spent);
    m_spent = true;
    std::vector<TransactionRef> txs = std::exchange(m_txs, {});
    const auto lacking = std::count(txs.begin(), txs.end(), nullptr);
    if (static_cast<size_t>(lacking) != missing.size()) return Status::kInvalid;
    size_t size = BlockHeader::kSize + CompactSizeLength(txs.size());
    for (TransactionRef& tx : txs) {
        if (!tx) {
            tx = missing.front();
            missing = missing.subspan(1);
        }
        size += tx->View().raw.size();
    }
    if (IsBlockMutated(m_header, txs, expect_commitment)) return Status::kFailed;
    block.clear();
    block.reserve(size);
    Writer writer(block);
    writer.Raw(m_header.ToBytes());
    writer.CompactSize(txs.size());
    constexpr size_t kAhead = 8;
    for (size_t i = 0; i < txs.size(); ++i) {
        if (i + kAhead < txs.size()) {
            const ByteSpan later = txs[i + kAhead]->View().raw;
            PrefetchBytes(later.data(), later.size());
        }
        writer.Raw(txs[i]->View().raw);
    }
    return Status::kOk;
}

CompactAnnouncers::Change
CompactAnnouncers::BroughtBlock(PeerId peer, const std::function<bool(PeerId)>& is_outbound)
{
    const auto found = std::find(m_peers.begin(), m_peers.end(), peer);
    if (found != m_peers.end()) {
        m_peers.erase(found);
        m_peers.push_back(peer);
        return {};
    }
    const auto outbound = std::count_if(m_peers.begin(), m_peers.end(), is_outbound);
    if (m_peers.size() == kMost && outbound == 1 && !is_outbound(peer) &&
        is_outbound(m_peers.front())) {
        // Keeps an outbound peer: inbound peers alone must not decide which announcements arrive.
        std::swap(m_peers[0], m_peers[1]);
    }
    Change change{true, std::nullopt};
    m_peers.push_back(peer);
    if (m_peers.size() > kMost) {
        change.stop = m_peers.front();
        m_peers.pop_front();
    }
    return change;
}

} // namespace ibd
