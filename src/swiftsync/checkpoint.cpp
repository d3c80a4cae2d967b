// See checkpoint.h.
#include "swiftsync/checkpoint.h"

#include "util/hex.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <set>

namespace ibd {

namespace {

constexpr std::array<uint8_t, 8> kMagic = {'i', 'b', 'd', 'c', 'h', 'k', 0, 2};
constexpr size_t kChecksumSize = sizeof(ShortDigest);
constexpr uint8_t kFullValidationFlag = 1;
constexpr uint8_t kPublishedFlag = 2;
constexpr uint8_t kCoinsOnlyFlag = 4;
/** Only with kFullValidationFlag, which older programs set alone. */
constexpr uint8_t kKnownHeightFlag = 8;
constexpr uint8_t kAllFlags =
    kFullValidationFlag | kPublishedFlag | kCoinsOnlyFlag | kKnownHeightFlag;
constexpr size_t kRunEntrySize = 28;

} // namespace

bool HeightSet::Insert(uint32_t height)
{
    CHECK(height <= m_limit);
    const auto bit = static_cast<uint8_t>(1 << height % 8);
    if (m_bits[height / 8] & bit) return false;
    m_bits[height / 8] |= bit;
    ++m_count;
    return true;
}

bool HeightSet::Fits(uint32_t limit, ByteSpan bits)
{
    return bits.size() == size_t{limit} / 8 + 1 && bits.back() >> limit % 8 >> 1 == 0;
}

HeightSet HeightSet::FromBytes(uint32_t limit, ByteSpan bits)
{
    HeightSet set(limit);
    CHECK(Fits(limit, bits));
    std::copy(bits.begin(), bits.end(), set.m_bits.begin());
    for (const uint8_t byte : bits) set.m_count += static_cast<uint32_t>(std::popcount(byte));
    return set;
}

void FoldTotals::Add(const FoldTotals& other)
{
    outputs += other.outputs;
    hinted += other.hinted;
    inputs += other.inputs;
    coins += other.coins;
    value = other.value + value < value ? ~uint64_t{0} : value + other.value;
    bytes += other.bytes;
}

uint32_t Checkpoint::NextRunNumber() const
{
    uint32_t next = 0;
    for (const RunInfo& run : runs) next = std::max(next, run.number + 1);
    return next;
}

Bytes Checkpoint::Encode() const
{
    // Decode() would refuse others, or read other fields.
    CHECK(folded.Span().size() == size_t{terminal_height} / 8 + 1);
    CHECK(sum.size() <= std::numeric_limits<uint16_t>::max());
    Bytes out;
    Writer writer(out);
    writer.Raw(kMagic);
    writer.Raw(network_magic);
    writer.Hash(hints_id);
    writer.U32(terminal_height);
    writer.Hash(terminal_hash);
    writer.U8(static_cast<uint8_t>(aggregate));
    writer.U8((full_validation ? kFullValidationFlag | kKnownHeightFlag : 0) |
              (published ? kPublishedFlag : 0) | (coins_only ? kCoinsOnlyFlag : 0));
    writer.U16(static_cast<uint16_t>(sum.size()));
    writer.Raw(salt);
    writer.Hash(rules);
    writer.Raw(sum);
    WriteTotals(writer, totals);
    writer.Raw(folded.Span());
    writer.U32(static_cast<uint32_t>(runs.size()));
    for (const RunInfo& run : runs) WriteRunInfo(writer, run);
    if (full_validation) writer.U32(known_height);
    writer.Raw(Shorten(Sha256Of(out)));
    return out;
}

Result<Checkpoint> Checkpoint::Decode(ByteSpan bytes)
{
    if (bytes.size() < kMagic.size() + kChecksumSize ||
        !std::equal(kMagic.begin(), kMagic.end(), bytes.begin())) {
        return BadData("not a checkpoint of this version");
    }
    const ByteSpan body = bytes.first(bytes.size() - kChecksumSize);
    const Hash32 digest = Sha256Of(body);
    if (!std::equal(bytes.end() - kChecksumSize, bytes.end(), digest.begin())) {
        return BadData("the checksum is wrong");
    }
    Checkpoint c;
    Reader reader(body.subspan(kMagic.size()));
    const ByteSpan magic = reader.Span(4);
    c.hints_id = reader.Hash();
    c.terminal_height = reader.U32();
    c.terminal_hash = reader.Hash();
    c.aggregate = static_cast<AggregateKind>(reader.U8());
    const uint8_t flags = reader.U8();
    const uint16_t sum_size = reader.U16();
    const ByteSpan salt = reader.Span(c.salt.size());
    c.rules = reader.Hash();
    const ByteSpan sum = reader.Span(sum_size);
    c.totals = ReadTotals(reader);
    const ByteSpan folded = reader.Span(size_t{c.terminal_height} / 8 + 1);
    const uint32_t runs = reader.U32();
    const bool has_known_height = (flags & kKnownHeightFlag) != 0;
    const size_t rest = size_t{runs} * kRunEntrySize + (has_known_height ? 4 : 0);
    c.full_validation = (flags & kFullValidationFlag) != 0;
    if (!reader.Ok() || flags > kAllFlags || (has_known_height && !c.full_validation) ||
        !HeightSet::Fits(c.terminal_height, folded) || reader.Remaining() != rest) {
        return BadData("its fields contradict each other");
    }
    c.published = (flags & kPublishedFlag) != 0;
    c.coins_only = (flags & kCoinsOnlyFlag) != 0;
    std::copy(magic.begin(), magic.end(), c.network_magic.begin());
    std::copy(salt.begin(), salt.end(), c.salt.begin());
    c.sum.assign(sum.begin(), sum.end());
    c.folded = HeightSet::FromBytes(c.terminal_height, folded);
    for (uint32_t i = 0; i < runs; ++i) c.runs.push_back(ReadRunInfo(reader));
    if (c.full_validation) c.known_height = has_known_height ? reader.U32() : c.terminal_height;
    return c;
}

void WriteTotals(Writer& writer, const FoldTotals& totals)
{
    for (const uint64_t total :
         {totals.outputs, totals.hinted, totals.inputs, totals.coins, totals.value, totals.bytes}) {
        writer.U64(total);
    }
}

FoldTotals ReadTotals(Reader& reader)
{
    FoldTotals totals;
    for (uint64_t* total : {&totals.outputs, &totals.hinted, &totals.inputs, &totals.coins,
                            &totals.value, &totals.bytes}) {
        *total = reader.U64();
    }
    return totals;
}

void WriteRunInfo(Writer& writer, const RunInfo& run)
{
    writer.U32(run.number);
    writer.U64(run.records);
    writer.U64(run.size);
    writer.Raw(run.checksum);
}

RunInfo ReadRunInfo(Reader& reader)
{
    RunInfo run;
    run.number = reader.U32();
    run.records = reader.U64();
    run.size = reader.U64();
    const ByteSpan checksum = reader.Span(run.checksum.size());
    std::copy(checksum.begin(), checksum.end(), run.checksum.begin());
    return run;
}

ShortDigest CheckpointDigest(ByteSpan encoded)
{
    CHECK(encoded.size() >= kChecksumSize);
    ShortDigest digest;
    std::copy(encoded.end() - kChecksumSize, encoded.end(), digest.begin());
    return digest;
}

} // namespace ibd
