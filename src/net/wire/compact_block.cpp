// See compact_block.h.
#include "net/wire/compact_block.h"

#include "consensus/block_check.h"

namespace ibd {

namespace {

constexpr uint64_t kShortIdMask = (uint64_t{1} << 48) - 1;

/** Whether a short id may be wanted, by its low bits. Most transactions of a pool are not, and need
 *  no search. */
class WantedFilter {
public:
    void Add(uint64_t id) { m_words[Word(id)] |= Bit(id); }
    bool MayContain(uint64_t id) const { return (m_words[Word(id)] & Bit(id)) != 0; }

private:
    static constexpr size_t kBits = 1 << 16;
    static size_t Word(uint64_t id) { return id % kBits / 64; }
    static uint64_t Bit(uint64_t id) { return uint64_t{1} << id % 64; }

    std::array<uint64_t, kBits / 64> m_words{};
};

} // namespace

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
    const SipKey key = ShortIdKey(message.header, message.nonce);
    WantedFilter filter;
    for (const Wanted& entry : wanted) filter.Add(entry.id);
    const auto offer = [&](const Wtxid& wtxid, const TransactionRef& tx) {
        const uint64_t id = ShortId(key, wtxid);
        return !filter.MayContain(id) || Offer(id, wtxid, tx, wanted);
    };
    if (pool && !wanted.empty()) pool->ForEachTransaction(offer);
    const size_t from_pool = m_found;
    for (const TransactionRef& tx : extra) {
        if (m_found == wanted.size() || !offer(tx->WitnessId(), tx)) break;
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
    // Sorted, not hashed: the sender chooses the ids.
    std::sort(out.begin(), out.end(),
              [](const Wanted& a, const Wanted& b) { return a.id < b.id; });
    return out;
}

/** Takes a transaction that has a wanted short id; if two have it, neither: a request is cheaper
 *  than a wrong guess. False: no more are wanted. */
bool PartialBlock::Offer(uint64_t id, const Wtxid& wtxid, const TransactionRef& tx,
                         std::vector<Wanted>& wanted)
{
    const auto found =
        std::lower_bound(wanted.begin(), wanted.end(), id,
                         [](const Wanted& entry, uint64_t value) { return entry.id < value; });
    if (found != wanted.end() && found->id == id) {
        TransactionRef& place = m_txs[found->index];
        if (!std::exchange(found->seen, true)) {
            place = tx;
            ++m_found;
        } else if (place && place->WitnessId() != wtxid) {
            place.reset();
            --m_found;
        }
    }
    return m_found < wanted.size();
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
    const std::vector<TransactionRef> txs = std::exchange(m_txs, {});
    const auto lacking = std::count(txs.begin(), txs.end(), nullptr);
    if (static_cast<size_t>(lacking) != missing.size()) return Status::kInvalid;

    block.clear();
    Writer writer(block);
    writer.Raw(m_header.ToBytes());
    writer.CompactSize(txs.size());
    for (const TransactionRef& tx : txs) {
        writer.Raw((tx ? tx : missing.front())->View().raw);
        if (!tx) missing = missing.subspan(1);
    }
    BlockView view;
    const bool sound = view.Parse(block) && !IsBlockMutated(view, expect_commitment);
    return sound ? Status::kOk : Status::kFailed;
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
        // Keep an outbound peer: inbound peers alone must not decide which announcements arrive.
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
