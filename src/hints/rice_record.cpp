// See rice_record.h.
#include "hints/rice_record.h"

#include "hints/bit_io.h"
#include "hints/gaps.h"
#include "hints/leb128.h"
#include "util/check.h"

namespace ibd {

namespace {

/** Total bits of all runs with parameter r. */
uint64_t RiceBits(std::span<const uint32_t> unspent, unsigned r)
{
    uint64_t bits = 0;
    ForEachGap(unspent, [&](uint32_t run) { bits += (run >> r) + 1 + r; });
    return bits;
}

const char* DecodeRuns(ByteSpan payload, unsigned r, uint32_t unspent, BlockHints& out)
{
    BitReader bits(payload);
    const uint32_t low_mask = (uint32_t{1} << r) - 1;
    uint64_t next = 0;
    for (uint32_t i = 0; i < unspent; ++i) {
        const uint64_t high = bits.Unary(*out.outputs >> r);
        const uint64_t low = bits.Peek() & low_mask;
        bits.Skip(r);
        const uint64_t index = next + (high << r | low);
        if (index >= *out.outputs) return "a run of zeros reaches past the block's outputs";
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
    // Each run takes at least a bit, so a short record cannot cause a long loop.
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
    ForEachGap(unspent, [&](uint32_t run) {
        for (uint32_t q = run >> best; q > 0; --q) writer.Put(1, 1);
        writer.Put(0, 1);
        writer.Put(run, best);
    });
}

} // namespace ibd
