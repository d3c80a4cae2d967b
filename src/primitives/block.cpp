// See block.h.
#include "primitives/block.h"

#include "primitives/tx_parser.h"

#include <limits>

namespace ibd {

BlockHeader BlockHeader::FromBytes(const uint8_t* p80)
{
    BlockHeader out;
    out.version = static_cast<int32_t>(ReadLE32(p80));
    out.prev_hash = BlockHash::FromBytes(p80 + 4);
    out.merkle_root = Uint256::FromBytes(p80 + 36);
    out.time = ReadLE32(p80 + 68);
    out.bits = ReadLE32(p80 + 72);
    out.nonce = ReadLE32(p80 + 76);
    return out;
}

std::array<uint8_t, BlockHeader::kSize> BlockHeader::ToBytes() const
{
    std::array<uint8_t, kSize> out;
    WriteLE32(out.data(), static_cast<uint32_t>(version));
    std::memcpy(out.data() + 4, prev_hash.data(), 32);
    std::memcpy(out.data() + 36, merkle_root.data(), 32);
    WriteLE32(out.data() + 68, time);
    WriteLE32(out.data() + 72, bits);
    WriteLE32(out.data() + 76, nonce);
    return out;
}

BlockHash BlockHeader::Hash() const { return BlockHash(Sha256d(ToBytes())); }

Result<> BlockView::Parse(ByteSpan raw)
{
    Clear();
    m_fault = nullptr;
    if (raw.size() > std::numeric_limits<uint32_t>::max()) {
        m_fault = Reader::kSizeTooLarge;
        return BadData("block too large");
    }
    Reader reader(raw);
    const ByteSpan header = reader.Span(BlockHeader::kSize);
    m_fault = reader.Fault();
    if (m_fault) return BadData("offset 0: header cut short, {} bytes", raw.size());
    m_fault = ParseTransactions(reader);
    if (m_fault) {
        const size_t at = m_txs.empty() ? 0 : m_txs.size() - 1;
        Clear();
        return BadData("offset {}, transaction {}: {}", reader.Position(), at, m_fault);
    }
    m_raw = raw.first(reader.Position());
    m_header = BlockHeader::FromBytes(header.data());
    m_hash = BlockHash(Sha256d(header));
    PointViewsIntoArrays();
    for (TxView& tx : m_txs) m_ids.Add(tx);
    m_ids.Run();
    return {};
}

const char* BlockView::ParseTransactions(Reader& reader)
{
    const size_t count = reader.Count(kMinTxSize);
    if (!reader.Ok()) return reader.Fault();
    m_stripped_size = BlockHeader::kSize + CompactSizeLength(count);
    // Room for most blocks at once: growing arrays take their memory from the system twice, and a
    // page of fresh memory costs more than its parsing.
    constexpr size_t kBytesPerInput = 150, kBytesPerOutput = 150;
    m_txs.reserve(count);
    m_inputs.reserve(reader.Remaining() / kBytesPerInput);
    m_outputs.reserve(reader.Remaining() / kBytesPerOutput);
    for (size_t i = 0; i < count; ++i) {
        TxView& tx = m_txs.emplace_back();
        if (const char* reason = ParseTx(reader, true, m_inputs, m_outputs, tx)) return reason;
        m_stripped_size += tx.stripped_size;
    }
    m_weight = static_cast<int64_t>(3 * m_stripped_size + reader.Position());
    return nullptr;
}

void BlockView::PointViewsIntoArrays()
{
    const InputView* input = m_inputs.data();
    const OutputView* output = m_outputs.data();
    for (TxView& tx : m_txs) {
        tx.inputs = {input, tx.inputs.size()};
        tx.outputs = {output, tx.outputs.size()};
        input += tx.inputs.size();
        output += tx.outputs.size();
    }
}

void BlockView::Clear()
{
    m_raw = {};
    m_header = {};
    m_hash = {};
    m_txs.clear();
    m_inputs.clear();
    m_outputs.clear();
    m_weight = 0;
    m_stripped_size = 0;
}

void ComputeWitnessHashes(const BlockView& block, std::vector<Wtxid>& out)
{
    std::vector<HashMessage> messages;
    for (const TxView& tx : block.Txs()) {
        if (tx.has_witness) messages.push_back({tx.raw, {}, {}});
    }
    std::vector<Hash32> digests(messages.size());
    Sha256dMany(messages, digests.data());
    out.clear();
    out.reserve(block.Txs().size());
    size_t next = 0;
    for (const TxView& tx : block.Txs()) {
        out.push_back(tx.has_witness ? Wtxid(digests[next++]) : tx.txid);
    }
}

} // namespace ibd
