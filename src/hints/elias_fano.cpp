// BIP 456's record: N, the greatest index M, the low bits of all indices, then the high parts as a
// bit set in which bit (high part + j) stands for the j-th index. Three readings of the text are in
// use, with different bit orders and first blocks. In all of them the low bits of an index are
// stored lowest first. Format: doc/formats/hints.md, section 5.
#include "hints/bit_io.h"
#include "hints/record_codec.h"
#include "primitives/serialize.h"

namespace ibd {

namespace {

constexpr uint8_t Reversed(uint8_t byte)
{
    uint8_t out = 0;
    for (int i = 0; i < 8; ++i) out = static_cast<uint8_t>(out | (byte >> i & 1) << (7 - i));
    return out;
}

void ReverseBits(MutableByteSpan bytes)
{
    for (uint8_t& byte : bytes) byte = Reversed(byte);
}

/** Bits of an index that are stored uncoded. */
unsigned LowBits(uint64_t count, uint64_t greatest)
{
    return static_cast<unsigned>(std::bit_width((greatest + 1) / count)) - 1;
}

class EliasFano final : public RecordCodec {
public:
    EliasFano(HintsFormat format, bool msb_first) : m_format(format), m_msb_first(msb_first) {}

    HintsFormat Format() const override { return m_format; }

    const char* Take(ByteSpan bytes, bool, size_t& used, BlockHints& out) const override
    {
        Reader in(bytes);
        const uint64_t count = in.CompactSize(false);
        const uint64_t greatest = count ? in.CompactSize(false) : 0;
        if (!in.Ok()) return "a count is malformed or cut off";
        out.outputs.reset();
        out.unspent.clear();
        used = in.Position();
        if (count == 0) return nullptr;
        if (greatest >= kMaxHintedOutputs) return "an index is larger than a block can have";
        if (count > greatest + 1) return "more unspent outputs than indices";
        const unsigned low_bits = LowBits(count, greatest);
        const ByteSpan lows = in.Span((count * low_bits + 7) / 8);
        const ByteSpan highs = in.Span((count + (greatest >> low_bits) + 7) / 8);
        if (!in.Ok()) return "the record is cut off";
        used = in.Position();
        return TakeIndices(lows, highs, low_bits, count, greatest, out);
    }

    void Put(std::optional<uint32_t>, std::span<const uint32_t> unspent, Bytes& out) const override
    {
        Writer writer(out);
        writer.CompactSize(unspent.size());
        if (unspent.empty()) return;
        writer.CompactSize(unspent.back());
        const size_t start = out.size();
        const unsigned low_bits = LowBits(unspent.size(), unspent.back());
        {
            BitWriter lows(out);
            for (const uint32_t index : unspent) lows.Put(index, low_bits);
        }
        BitWriter highs(out);
        uint32_t before = 0;
        for (const uint32_t index : unspent) {
            for (; before < index >> low_bits; ++before) highs.Put(0, 1);
            highs.Put(1, 1);
        }
        highs.Finish();
        if (m_msb_first) ReverseBits(MutableByteSpan(out).subspan(start));
    }

private:
    const char* TakeIndices(ByteSpan lows_in, ByteSpan highs_in, unsigned low_bits, uint64_t count,
                            uint64_t greatest, BlockHints& out) const
    {
        out.scratch.assign(lows_in.begin(), lows_in.end());
        Append(out.scratch, highs_in);
        if (m_msb_first) ReverseBits(out.scratch);
        BitReader lows(ByteSpan(out.scratch).first(lows_in.size()));
        BitReader highs(ByteSpan(out.scratch).subspan(lows_in.size()));
        uint64_t high = 0;
        for (uint64_t i = 0; i < count; ++i) {
            uint64_t zeros = highs.Zeros();
            if (high + zeros > greatest >> low_bits) return "the high bits have too few ones";
            high += zeros;
            const uint64_t low = lows.Peek() & ((uint64_t{1} << low_bits) - 1);
            lows.Skip(low_bits);
            const uint64_t index = high << low_bits | low;
            if (!out.unspent.empty() && index <= out.unspent.back()) return "indices do not ascend";
            if (index > greatest) return "an index is above the greatest";
            out.unspent.push_back(static_cast<uint32_t>(index));
        }
        if (out.unspent.back() != greatest) return "the last index is not the greatest";
        if (const char* wrong = lows.CheckEnd()) return wrong;
        return highs.CheckEnd();
    }

    const HintsFormat m_format;
    const bool m_msb_first;
};

} // namespace

const RecordCodec& EliasFanoCodec(HintsFormat format)
{
    static const EliasFano text(HintsFormat::kBip456, true);
    static const EliasFano core(HintsFormat::kBip456Core, true);
    static const EliasFano crate(HintsFormat::kBip456Crate, false);
    return format == HintsFormat::kBip456       ? text
           : format == HintsFormat::kBip456Core ? core
                                                : crate;
}

} // namespace ibd
