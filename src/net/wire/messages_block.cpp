// Codecs of messages.h with transactions, parts of blocks and filters.
#include "net/wire/messages.h"

#include "primitives/tx_parser.h"

#include <limits>

namespace ibd {

namespace {

void WriteHeader(Writer& writer, const BlockHeader& header) { writer.Raw(header.ToBytes()); }

BlockHeader ReadHeader(Reader& reader)
{
    const ByteSpan bytes = reader.Span(BlockHeader::kSize);
    return bytes.empty() ? BlockHeader{} : BlockHeader::FromBytes(bytes.data());
}

void WriteHashes(Writer& writer, const std::vector<Uint256>& hashes)
{
    writer.CompactSize(hashes.size());
    for (const Uint256& hash : hashes) writer.Hash(hash);
}

std::vector<Uint256> ReadHashes(Reader& reader)
{
    std::vector<Uint256> out(reader.Count(Uint256::size()));
    for (Uint256& hash : out) hash = reader.Hash();
    return out;
}

Bytes ReadBytes(Reader& reader)
{
    const ByteSpan bytes = reader.VarBytes();
    return {bytes.begin(), bytes.end()};
}

/** Reads one transaction, with witness if present; null after a failure. */
TransactionRef ReadTransaction(PayloadReader& reader)
{
    const size_t start = reader.Position();
    std::vector<InputView> inputs;
    std::vector<OutputView> outputs;
    TxView view;
    if (const char* const problem = ParseTx(reader, true, inputs, outputs, view)) {
        reader.Refuse(problem);
        return nullptr;
    }
    auto tx = Transaction::Parse(reader.Since(start));
    CHECK(tx.Ok()); // the same parser has accepted these bytes
    return *tx;
}

uint64_t ReadShortId(Reader& reader)
{
    const uint32_t low = reader.U32();
    return uint64_t{reader.U16()} << 32 | low;
}

} // namespace

void TxMessage::Write(Writer& writer) const { writer.Raw(tx->View().raw); }
void TxMessage::Read(PayloadReader& reader) { tx = ReadTransaction(reader); }

void CompactBlockMessage::Write(Writer& writer) const
{
    WriteHeader(writer, header);
    writer.U64(nonce);
    writer.CompactSize(short_ids.size());
    for (const uint64_t id : short_ids) {
        writer.U32(static_cast<uint32_t>(id));
        writer.U16(static_cast<uint16_t>(id >> 32));
    }
    writer.CompactSize(prefilled.size());
    for (const PrefilledTx& entry : prefilled) {
        writer.CompactSize(entry.gap);
        writer.Raw(entry.tx->View().raw);
    }
}

void CompactBlockMessage::Read(PayloadReader& reader)
{
    header = ReadHeader(reader);
    nonce = reader.U64();
    const auto check_count = [&](size_t count) {
        if (count > kMaxCompactTxs) reader.Refuse("indexes overflowed 16 bits");
    };
    const size_t id_count = reader.Count(kShortIdSize);
    check_count(id_count);
    if (!reader.Ok()) return;
    short_ids.resize(id_count);
    for (uint64_t& id : short_ids) id = ReadShortId(reader);
    const size_t tx_count = reader.Count(1 + kMinTxSize);
    check_count(id_count + tx_count);
    for (size_t i = 0; i < tx_count && reader.Ok(); ++i) {
        const uint64_t gap = reader.CompactSize();
        if (gap > std::numeric_limits<uint16_t>::max()) {
            reader.Refuse("CompactSize exceeds limit of type");
            return;
        }
        prefilled.push_back({static_cast<uint16_t>(gap), ReadTransaction(reader)});
    }
}

void GetBlockTxnMessage::Write(Writer& writer) const
{
    writer.Hash(block);
    writer.CompactSize(indexes.size());
    uint32_t next = 0;
    for (const uint16_t index : indexes) {
        CHECK(index >= next);
        writer.CompactSize(index - next);
        next = index + 1U;
    }
}

void GetBlockTxnMessage::Read(PayloadReader& reader)
{
    block = reader.Hash();
    const uint64_t count = reader.CompactSize(); // untrusted: the loop also ends with the data
    uint64_t next = 0;
    for (uint64_t i = 0; i < count && reader.Ok(); ++i) {
        next += reader.CompactSize();
        if (next > std::numeric_limits<uint16_t>::max()) {
            reader.Refuse("differential value overflow");
            return;
        }
        indexes.push_back(static_cast<uint16_t>(next++));
    }
}

void BlockTxnMessage::Write(Writer& writer) const
{
    writer.Hash(block);
    writer.CompactSize(txs.size());
    for (const TransactionRef& tx : txs) writer.Raw(tx->View().raw);
}

void BlockTxnMessage::Read(PayloadReader& reader)
{
    block = reader.Hash();
    const size_t count = reader.Count(kMinTxSize);
    for (size_t i = 0; i < count && reader.Ok(); ++i) txs.push_back(ReadTransaction(reader));
}

void FilterLoadMessage::Write(Writer& writer) const
{
    writer.VarBytes(data);
    writer.U32(hash_count);
    writer.U32(tweak);
    writer.U8(flags);
}

void FilterLoadMessage::Read(PayloadReader& reader)
{
    data = ReadBytes(reader);
    hash_count = reader.U32();
    tweak = reader.U32();
    flags = reader.U8();
}

void FilterAddMessage::Write(Writer& writer) const { writer.VarBytes(data); }
void FilterAddMessage::Read(PayloadReader& reader) { data = ReadBytes(reader); }

void MerkleBlockMessage::Write(Writer& writer) const
{
    WriteHeader(writer, header);
    writer.U32(proof.tx_count);
    WriteHashes(writer, proof.hashes);
    writer.VarBytes(proof.flags);
}

void MerkleBlockMessage::Read(PayloadReader& reader)
{
    header = ReadHeader(reader);
    proof.tx_count = reader.U32();
    proof.hashes = ReadHashes(reader);
    proof.flags = ReadBytes(reader);
}

void BlockFilterRequest::Write(Writer& writer) const
{
    writer.U8(filter_type);
    writer.U32(start_height);
    writer.Hash(stop);
}

void BlockFilterRequest::Read(PayloadReader& reader)
{
    filter_type = reader.U8();
    start_height = reader.U32();
    stop = reader.Hash();
}

void GetCFCheckptMessage::Write(Writer& writer) const
{
    writer.U8(filter_type);
    writer.Hash(stop);
}

void GetCFCheckptMessage::Read(PayloadReader& reader)
{
    filter_type = reader.U8();
    stop = reader.Hash();
}

void CFilterMessage::Write(Writer& writer) const
{
    writer.U8(filter_type);
    writer.Hash(block);
    writer.VarBytes(filter);
}

void CFilterMessage::Read(PayloadReader& reader)
{
    filter_type = reader.U8();
    block = reader.Hash();
    filter = ReadBytes(reader);
}

void CFHeadersMessage::Write(Writer& writer) const
{
    writer.U8(filter_type);
    writer.Hash(stop);
    writer.Hash(previous_header);
    WriteHashes(writer, filter_hashes);
}

void CFHeadersMessage::Read(PayloadReader& reader)
{
    filter_type = reader.U8();
    stop = reader.Hash();
    previous_header = reader.Hash();
    filter_hashes = ReadHashes(reader);
}

void CFCheckptMessage::Write(Writer& writer) const
{
    writer.U8(filter_type);
    writer.Hash(stop);
    WriteHashes(writer, headers);
}

void CFCheckptMessage::Read(PayloadReader& reader)
{
    filter_type = reader.U8();
    stop = reader.Hash();
    headers = ReadHashes(reader);
}

} // namespace ibd
