// See rice_record.h.
#include "hints/rice_record.h"

#include "util/check.h"
#include "util/endian.h"

#include <algorithm>
#include <bit>
#include <limits>

namespace ibd {

namespace {

/** Reads one LEB128 number of at most 32 bits at `pos`; false if cut off, too long or too large. */
bool TakeLeb128(ByteSpan in, size_t& pos, uint32_t& value)
{
    uint64_t v = 0;
    for (unsigned shift = 0; shift < 35; shift += 7) {
        if (pos >= in.size()) return false;
        const uint8_t byte = in[pos++];
        v |= uint64_t{byte & 0x7fu} << shift;
        if (byte & 0x80) continue;
        if (byte == 0 && shift > 0) return false; // longer than needed
        value = static_cast<uint32_t>(v);
        return v <= std::numeric_limits<uint32_t>::max();
    }
    return false;
}

void PutLeb128(uint32_t value, Bytes& out)
{
    for (; value >= 0x80; value >>= 7) out.push_back(static_cast<uint8_t>(value | 0x80));
    out.push_back(static_cast<uint8_t>(value));
}

/** Bits of a byte string, least significant of each byte first. Past the end come zeros; the
 *  caller asks Used() at the end. */
class BitReader {
public:
    explicit BitReader(ByteSpan data) : m_data(data) {}

    /** The next bits, at least 57 of them valid. */
    uint64_t Peek() const
    {
        const size_t at = m_bit / 8;
        uint64_t word = 0;
        if (at + 8 <= m_data.size()) {
            word = ReadLE64(m_data.data() + at);
        } else {
            for (size_t i = at; i < m_data.size(); ++i) word |= uint64_t{m_data[i]} << 8 * (i - at);
        }
        return word >> m_bit % 8;
    }
    void Skip(unsigned bits) { m_bit += bits; }
    size_t Used() const { return m_bit; }

    /** Length of the run of one bits here, at most `limit` + 56; skips it and the zero after it. */
    uint64_t Unary(uint64_t limit)
    {
        uint64_t ones = 0;
        for (;;) {
            const auto here = std::min(57, std::countr_one(Peek()));
            ones += static_cast<uint64_t>(here);
            if (here < 57 || ones > limit) {
                Skip(static_cast<unsigned>(here) + 1);
                return ones;
            }
            Skip(57);
        }
    }

private:
    ByteSpan m_data;
    size_t m_bit = 0;
};

class BitWriter {
public:
    explicit BitWriter(Bytes& out) : m_out(out) {}
    ~BitWriter()
    {
        if (m_have) m_out.push_back(static_cast<uint8_t>(m_pending));
    }
    void Put(uint64_t bits, unsigned count)
    {
        for (unsigned i = 0; i < count; ++i) {
            m_pending |= (bits >> i & 1) << m_have;
            if (++m_have == 8) {
                m_out.push_back(static_cast<uint8_t>(m_pending));
                m_pending = m_have = 0;
            }
        }
    }

private:
    Bytes& m_out;
    uint64_t m_pending = 0;
    unsigned m_have = 0;
};

template <typename Visitor>
void ForEachRun(std::span<const uint32_t> unspent, Visitor visit)
{
    uint32_t next = 0;
    for (const uint32_t index : unspent) {
        visit(index - next);
        next = index + 1;
    }
}

/** Total bits of all runs with parameter r. */
uint64_t RiceBits(std::span<const uint32_t> unspent, unsigned r)
{
    uint64_t bits = 0;
    ForEachRun(unspent, [&](uint32_t run) { bits += (run >> r) + 1 + r; });
    return bits;
}

const char* DecodeRuns(ByteSpan payload, unsigned r, uint32_t unspent, BlockHints& out)
{
    BitReader bits(payload);
    const uint32_t low_mask = (uint32_t{1} << r) - 1;
    uint64_t next = 0;
    for (uint32_t i = 0; i < unspent; ++i) {
        const uint64_t high = bits.Unary(out.outputs >> r);
        const uint64_t low = bits.Peek() & low_mask;
        bits.Skip(r);
        const uint64_t index = next + (high << r | low);
        if (index >= out.outputs) return "a run of zeros reaches past the block's outputs";
        out.unspent.push_back(static_cast<uint32_t>(index));
        next = index + 1;
    }
    if (bits.Used() > payload.size() * 8) return "the record is cut off";
    if ((bits.Used() + 7) / 8 != payload.size()) return "the record is longer than its runs";
    if (bits.Used() % 8 && payload.back() >> bits.Used() % 8) return "padding bits are not zero";
    return nullptr;
}

const char* TakeCounts(ByteSpan record, size_t& pos, HintsRecordCounts& counts)
{
    if (!TakeLeb128(record, pos, counts.outputs) || !TakeLeb128(record, pos, counts.unspent)) {
        return "a count is malformed";
    }
    if (counts.outputs > kMaxHintedOutputs) return "more outputs than a block can have";
    if (counts.unspent > counts.outputs) return "more unspent outputs than outputs";
    return nullptr;
}

} // namespace

const char* DecodeHintsCounts(ByteSpan record, HintsRecordCounts& counts)
{
    size_t pos = 0;
    return TakeCounts(record, pos, counts);
}

const char* DecodeHintsRecord(ByteSpan record, BlockHints& out)
{
    size_t pos = 0;
    HintsRecordCounts counts;
    if (const char* wrong = TakeCounts(record, pos, counts)) return wrong;
    out.outputs = counts.outputs;
    out.unspent.clear();
    if (counts.unspent == 0) return pos == record.size() ? nullptr : "bytes follow an empty record";
    if (pos == record.size()) return "the record is cut off";
    const unsigned r = record[pos++];
    if (r > kMaxRiceParameter) return "the Rice parameter is above 18";
    // Each run takes at least a bit, so a short record cannot make the loop below long.
    if (counts.unspent > 8 * (record.size() - pos)) return "the record is cut off";
    return DecodeRuns(record.subspan(pos), r, counts.unspent, out);
}

void EncodeHintsRecord(uint32_t outputs, std::span<const uint32_t> unspent, Bytes& out)
{
    CHECK(outputs <= kMaxHintedOutputs && (unspent.empty() || unspent.back() < outputs));
    PutLeb128(outputs, out);
    PutLeb128(static_cast<uint32_t>(unspent.size()), out);
    if (unspent.empty()) return;
    unsigned best = 0;
    uint64_t best_bits = RiceBits(unspent, 0);
    for (unsigned r = 1; r <= kMaxRiceParameter; ++r) {
        if (const uint64_t bits = RiceBits(unspent, r); bits < best_bits) {
            best = r;
            best_bits = bits;
        }
    }
    out.push_back(static_cast<uint8_t>(best));
    BitWriter writer(out);
    ForEachRun(unspent, [&](uint32_t run) {
        for (uint32_t q = run >> best; q > 0; --q) writer.Put(1, 1);
        writer.Put(0, 1);
        writer.Put(run, best);
    });
}

} // namespace ibd
