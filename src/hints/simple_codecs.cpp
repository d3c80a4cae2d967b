// Records without entropy coding: the revisions of the indexed file, btcd's runs, lines of text.
// Formats: doc/formats/hints.md, sections 4, 6 and 7.
#include "hints/gaps.h"
#include "hints/record_codec.h"
#include "primitives/serialize.h"

#include <charconv>

namespace ibd {

namespace {

const char* const kTooLarge = "an index is larger than a block can have";

/** Reads the first `count` bits of a byte string, least significant first. */
const char* TakeBits(ByteSpan bits, uint64_t count, BlockHints& out)
{
    for (uint64_t i = 0; i < bits.size() * 8; ++i) {
        if (!(bits[i / 8] >> i % 8 & 1)) continue;
        if (i >= count) return "padding bits are not zero";
        out.unspent.push_back(static_cast<uint32_t>(i));
    }
    return nullptr;
}

void PutBits(uint32_t outputs, std::span<const uint32_t> unspent, Bytes& out)
{
    const size_t start = out.size();
    out.resize(start + (outputs + 7) / 8);
    for (const uint32_t index : unspent) {
        out[start + index / 8] |= static_cast<uint8_t>(1 << index % 8);
    }
}

/** Reads indices; `take()` gives the zeros before each one. Null, or the error. */
template <typename More, typename TakeGap>
const char* TakeGaps(More more, TakeGap take, BlockHints& out)
{
    uint64_t next = 0;
    while (more()) {
        const uint64_t gap = take();
        if (gap >= kMaxHintedOutputs || next + gap >= kMaxHintedOutputs) return kTooLarge;
        out.unspent.push_back(static_cast<uint32_t>(next + gap));
        next += gap + 1;
    }
    return nullptr;
}

void Reset(BlockHints& out)
{
    out.outputs.reset();
    out.unspent.clear();
}

/** The number of outputs as a u32 or CompactSize, then a bit for each. */
class IndexedBits final : public RecordCodec {
public:
    explicit IndexedBits(HintsFormat format) : m_format(format) {}
    HintsFormat Format() const override { return m_format; }
    const char* Take(ByteSpan bytes, bool, size_t& used, BlockHints& out) const override
    {
        Reset(out);
        Reader in(bytes);
        const uint64_t outputs =
            m_format == HintsFormat::kIndexed ? in.U32() : in.CompactSize(false);
        if (!in.Ok()) return "a count is malformed or cut off";
        if (outputs > kMaxHintedOutputs) return "more outputs than a block can have";
        const ByteSpan bits = in.Span((outputs + 7) / 8);
        if (!in.Ok()) return "the record is cut off";
        used = in.Position();
        out.outputs = static_cast<uint32_t>(outputs);
        return TakeBits(bits, outputs, out);
    }
    void Put(std::optional<uint32_t> outputs, std::span<const uint32_t> unspent,
             Bytes& out) const override
    {
        Writer writer(out);
        if (m_format == HintsFormat::kIndexed) {
            writer.U32(*outputs);
        } else {
            writer.CompactSize(*outputs);
        }
        PutBits(*outputs, unspent, out);
    }

private:
    const HintsFormat m_format;
};

/** The number of unspent outputs, then the differences of consecutive indices, all as CompactSize.
 */
class IndexedDeltas final : public RecordCodec {
public:
    HintsFormat Format() const override { return HintsFormat::kIndexedDeltas; }
    const char* Take(ByteSpan bytes, bool, size_t& used, BlockHints& out) const override
    {
        Reset(out);
        Reader in(bytes);
        const size_t count = in.Count(1);
        uint64_t last = 0;
        for (size_t i = 0; i < count && in.Ok(); ++i) {
            const uint64_t delta = in.CompactSize(false);
            if (i > 0 && delta == 0) return "indices do not ascend";
            if (delta >= kMaxHintedOutputs || last + delta >= kMaxHintedOutputs) return kTooLarge;
            last += delta;
            out.unspent.push_back(static_cast<uint32_t>(last));
        }
        used = in.Position();
        return in.Ok() ? nullptr : "a count is malformed or cut off";
    }
    void Put(std::optional<uint32_t>, std::span<const uint32_t> unspent, Bytes& out) const override
    {
        Writer writer(out);
        writer.CompactSize(unspent.size());
        uint32_t last = 0;
        for (const uint32_t index : unspent) {
            writer.CompactSize(index - last);
            last = index;
        }
    }
};

/** A length twice, as VARINT and as CompactSize; then, as the index says, either bits without
 *  trailing zero bytes, or runs of zeros as VARINT. */
class IndexedRuns final : public RecordCodec {
public:
    HintsFormat Format() const override { return HintsFormat::kIndexedRuns; }
    const char* Take(ByteSpan bytes, bool bits, size_t& used, BlockHints& out) const override
    {
        Reset(out);
        Reader in(bytes);
        const uint64_t length = in.VarInt();
        if (in.CompactSize(false) != length || !in.Ok()) return "a length is malformed or cut off";
        Reader body(in.Span(length));
        if (!in.Ok()) return "the record is cut off";
        used = in.Position();
        if (bits) {
            if (length > kMaxHintedOutputs / 8) return "more outputs than a block can have";
            return TakeBits(body.Span(length), kMaxHintedOutputs, out);
        }
        const char* wrong = TakeGaps([&] { return body.Remaining() > 0 && body.Ok(); },
                                     [&] { return body.VarInt(); }, out);
        return body.Ok() ? wrong : "a run is malformed or cut off";
    }
    /** Always writes runs: the choice of the shorter form needs the index. */
    void Put(std::optional<uint32_t>, std::span<const uint32_t> unspent, Bytes& out) const override
    {
        Bytes runs;
        Writer body(runs);
        ForEachGap(unspent, [&](uint32_t gap) { body.VarInt(gap); });
        Writer writer(out);
        writer.VarInt(runs.size());
        writer.VarBytes(runs);
    }
};

/** A length, then runs of zeros, all as CompactSize. */
class Btcd final : public RecordCodec {
public:
    HintsFormat Format() const override { return HintsFormat::kBtcd; }
    const char* Take(ByteSpan bytes, bool, size_t& used, BlockHints& out) const override
    {
        Reset(out);
        Reader in(bytes);
        Reader body(in.VarBytes());
        if (!in.Ok()) return "a length is malformed or cut off";
        used = in.Position();
        const char* wrong = TakeGaps([&] { return body.Remaining() > 0 && body.Ok(); },
                                     [&] { return body.CompactSize(false); }, out);
        return body.Ok() ? wrong : "a run is malformed or cut off";
    }
    void Put(std::optional<uint32_t>, std::span<const uint32_t> unspent, Bytes& out) const override
    {
        Bytes runs;
        Writer body(runs);
        ForEachGap(unspent, [&](uint32_t gap) { body.CompactSize(gap); });
        Writer(out).VarBytes(runs);
    }
};

/** Decimal runs of zeros between commas; a line for each block. */
class Gaps final : public RecordCodec {
public:
    HintsFormat Format() const override { return HintsFormat::kGaps; }
    const char* Take(ByteSpan bytes, bool, size_t& used, BlockHints& out) const override
    {
        Reset(out);
        const std::string_view text = AsChars(bytes);
        const size_t end = text.find('\n');
        if (end == text.npos) return "the last line is cut off, or a line is too long";
        used = end + 1;
        bool numbers = true;
        const char* at = text.data();
        const char* const last = at + end;
        const auto take = [&] {
            uint64_t gap = 0;
            const auto [next, error] = std::from_chars(at, last, gap);
            const bool follows = next == last || (*next == ',' && next + 1 < last);
            numbers = error == std::errc() && follows;
            at = next == last ? last : next + 1;
            return numbers ? gap : 0;
        };
        const char* wrong = TakeGaps([&] { return at < last && numbers; }, take, out);
        return numbers ? wrong : "no number where a run of zeros must be";
    }
    void Put(std::optional<uint32_t>, std::span<const uint32_t> unspent, Bytes& out) const override
    {
        const char* comma = "";
        ForEachGap(unspent, [&](uint32_t gap) {
            Append(out, AsBytes(fmt::format("{}{}", comma, gap)));
            comma = ",";
        });
        out.push_back('\n');
    }
};

} // namespace

const RecordCodec& IndexedCodec(HintsFormat format)
{
    static const IndexedBits bits(HintsFormat::kIndexed);
    static const IndexedBits compact(HintsFormat::kIndexedCompact);
    static const IndexedDeltas deltas;
    static const IndexedRuns runs;
    switch (format) {
    case HintsFormat::kIndexedCompact: return compact;
    case HintsFormat::kIndexedDeltas: return deltas;
    case HintsFormat::kIndexedRuns: return runs;
    default: return bits;
    }
}

const RecordCodec& BtcdCodec()
{
    static const Btcd codec;
    return codec;
}

const RecordCodec& GapsCodec()
{
    static const Gaps codec;
    return codec;
}

} // namespace ibd
