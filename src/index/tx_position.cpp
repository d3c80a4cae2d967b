// See tx_position.h.
#include "index/tx_position.h"

#include "primitives/tx_parser.h"

namespace ibd {

namespace {

constexpr uint32_t kHeaderBytes = 80;
/** Most transactions are shorter; a longer one is read again, each time four times as much. */
constexpr uint32_t kFirstRead = 4 << 10;
constexpr uint32_t kReadGrowth = 4;

/** Length of the transaction at the start of `bytes`; nothing: it is malformed, or cut. */
std::optional<size_t> LengthOfTx(ByteSpan bytes)
{
    Reader reader(bytes);
    std::vector<InputView> inputs;
    std::vector<OutputView> outputs;
    TxView tx;
    if (ParseTx(reader, true, inputs, outputs, tx) != nullptr) return std::nullopt;
    return reader.Position();
}

} // namespace

void WritePos(Writer& out, const FilePos& at)
{
    out.VarInt(static_cast<uint32_t>(at.file));
    out.VarInt(at.offset);
}

FilePos ReadPos(Reader& in)
{
    const uint64_t file = in.VarInt();
    const uint64_t offset = in.VarInt();
    if (file > INT32_MAX || offset > UINT32_MAX) in.Fail();
    return {static_cast<int32_t>(file), static_cast<uint32_t>(offset)};
}

void TxPosition::Write(Writer& out) const
{
    WritePos(out, block);
    out.VarInt(offset);
}

TxPosition TxPosition::Read(Reader& in)
{
    const FilePos block = ReadPos(in);
    const uint64_t offset = in.VarInt();
    if (offset > UINT32_MAX - kHeaderBytes) in.Fail();
    if (!in.Ok()) return {};
    return {block, static_cast<uint32_t>(offset)};
}

Result<PlacedTx> ReadTxAt(const BlockStore& blocks, const TxPosition& at)
{
    IBD_ASSIGN_OR_RETURN(const Bytes header, blocks.ReadBlockPart(at.block, 0, kHeaderBytes));
    for (uint32_t most = kFirstRead;; most *= kReadGrowth) {
        IBD_ASSIGN_OR_RETURN(const Bytes part,
                             blocks.ReadBlockUpTo(at.block, kHeaderBytes + at.offset, most));
        if (const auto length = LengthOfTx(part)) {
            IBD_ASSIGN_OR_RETURN(TransactionRef tx,
                                 Transaction::Parse(ByteSpan(part).first(*length)));
            return PlacedTx{BlockHash(Sha256d(header)), std::move(tx)};
        }
        if (part.size() < most) {
            return BadData("{}: there is no transaction at {} of the block at {}",
                           blocks.BlockPath(at.block.file).string(), kHeaderBytes + at.offset,
                           at.block.offset);
        }
    }
}

} // namespace ibd
