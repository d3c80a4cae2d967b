// See join_state.h.
#include "join/join_state.h"

#include "crypto/sha256.h"
#include "join/hot_table.h"
#include "util/atomic_file.h"
#include "util/found.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <set>

namespace ibd {

namespace {

constexpr std::array<uint8_t, 8> kMagic = {'i', 'b', 'd', 'j', 'o', 'i', 'n', 9};
constexpr size_t kChecksumSize = sizeof(ShortDigest);
constexpr size_t kSpillEntrySize = 20;
constexpr const char* kStateFile = "join.dat";

/** The number in a name made by SpillPath(). */
std::optional<uint32_t> SpillNumberIn(const std::string& name)
{
    constexpr std::string_view kBefore = "spill";
    if (!name.starts_with(kBefore)) return std::nullopt;
    uint32_t number = 0;
    const auto read =
        std::from_chars(name.data() + kBefore.size(), name.data() + name.size(), number);
    if (read.ec != std::errc() || SpillPath({}, number) != name) return std::nullopt;
    return number;
}

void WriteSpillInfo(Writer& writer, const SpillInfo& spill)
{
    writer.U32(spill.number);
    writer.U64(spill.size);
    writer.Raw(spill.checksum);
}

SpillInfo ReadSpillInfo(Reader& reader)
{
    SpillInfo spill;
    spill.number = reader.U32();
    spill.size = reader.U64();
    const ByteSpan checksum = reader.Span(spill.checksum.size());
    std::copy(checksum.begin(), checksum.end(), spill.checksum.begin());
    return spill;
}

void WriteSpillInfos(Writer& writer, const std::vector<SpillInfo>& spills)
{
    writer.U32(static_cast<uint32_t>(spills.size()));
    for (const SpillInfo& spill : spills) WriteSpillInfo(writer, spill);
}

/** False: malformed. */
bool ReadSum(Reader& reader, JoinState& state)
{
    const uint8_t kind = reader.U8();
    if (kind == 0) return true;
    if (kind > 1 + static_cast<uint8_t>(AggregateKind::kMuHash)) return false;
    state.aggregate = static_cast<AggregateKind>(kind - 1);
    const ByteSpan sum = reader.Span(reader.U16());
    if (!reader.Ok()) return false;
    state.sum.assign(sum.begin(), sum.end());
    return MakeAggregate(*state.aggregate, state.salt)->Load(state.sum).Ok();
}

/** False: there are fewer entries than the count says. */
bool ReadSpillInfos(Reader& reader, std::vector<SpillInfo>& spills)
{
    const uint32_t count = reader.U32();
    if (!reader.Ok() || reader.Remaining() / kSpillEntrySize < count) return false;
    for (uint32_t i = 0; i < count; ++i) spills.push_back(ReadSpillInfo(reader));
    return true;
}

} // namespace

uint32_t JoinState::BlocksRead() const
{
    return static_cast<uint32_t>(outputs.size() -
                                 std::count(outputs.begin(), outputs.end(), kNotRead));
}

uint32_t JoinState::NextSpillNumber() const
{
    uint32_t next = 0;
    for (const SpillInfo& spill : AllSpills()) next = std::max(next, spill.number + 1);
    return next;
}

std::vector<SpillInfo> JoinState::AllSpills() const
{
    std::vector<SpillInfo> all = spills;
    all.insert(all.end(), pair_spills.begin(), pair_spills.end());
    all.insert(all.end(), value_spills.begin(), value_spills.end());
    all.insert(all.end(), coin_spills.begin(), coin_spills.end());
    return all;
}

SpillOwner JoinState::Owner() const
{
    return {Uint256(Sha256Of(salt)), uint32_t{1} << partition_bits};
}

// Ranges are of about equal size, so that each fits into a thread's memory. The number of
// partitions of events was chosen by that memory. Compared with spilled events, pairs take two
// thirds of the bytes and get half of the memory; coins take twice the bytes, get two fifths of the
// memory, and are spread less evenly. A range that does not fit is read several times, and its
// blocks wait for one thread. More ranges than necessary would make short pages, and each range is
// a read of its own.

HeightRanges JoinState::MakingRanges() const { return HeightRanges(terminal_height, RangesFor(8)); }

HeightRanges JoinState::SpendingRanges() const { return HeightRanges(outputs, RangesFor(8)); }

/** `each` ranges for each partition of events, up to the limit. */
uint32_t JoinState::RangesFor(uint32_t each) const
{
    const unsigned bits = std::clamp<unsigned>(partition_bits, TableShape::kMinPartitionBits,
                                               TableShape::kMaxPartitionBits);
    return std::min(each << bits, HeightRanges::kMost);
}

Bytes JoinState::Encode() const
{
    // Decode() would refuse others, or read other fields.
    const size_t blocks = size_t{terminal_height} + 1;
    CHECK(outputs.size() == blocks && checksums.size() == (KeepsChecksums() ? blocks : 0));
    CHECK(!aggregate || sum.size() <= std::numeric_limits<uint16_t>::max());
    Bytes out;
    out.reserve(256 + outputs.size() * 8 + AllSpills().size() * kSpillEntrySize);
    Writer writer(out);
    writer.Raw(kMagic);
    writer.Raw(network_magic);
    writer.U32(terminal_height);
    writer.Hash(terminal_hash);
    writer.Hash(rules);
    writer.U8(static_cast<uint8_t>(stage));
    writer.U8(ordered);
    writer.U8(pairs);
    writer.U8(values);
    writer.U8(rules_kept ? 1 + uint8_t{*rules_kept} : 0);
    writer.U8(partition_bits);
    writer.Raw(salt);
    for (const uint64_t number : {bytes, records, met}) writer.U64(number);
    for (const uint32_t height : {fetched_to, fetched_for}) writer.U32(height);
    writer.U8(aggregate ? 1 + static_cast<uint8_t>(*aggregate) : 0);
    if (aggregate) {
        writer.U16(static_cast<uint16_t>(sum.size()));
        writer.Raw(sum);
    }
    for (const uint32_t count : outputs) writer.U32(count);
    for (const uint32_t checksum : checksums) writer.U32(checksum);
    for (const auto* list : {&spills, &pair_spills, &value_spills, &coin_spills}) {
        WriteSpillInfos(writer, *list);
    }
    writer.Raw(Shorten(Sha256Of(out)));
    return out;
}

Result<JoinState> JoinState::Decode(ByteSpan encoded)
{
    if (encoded.size() < kMagic.size() + kChecksumSize ||
        !std::equal(kMagic.begin(), kMagic.end(), encoded.begin())) {
        return BadData("not the state of a join of this version");
    }
    const ByteSpan body = encoded.first(encoded.size() - kChecksumSize);
    const Hash32 digest = Sha256Of(body);
    if (!std::equal(encoded.end() - kChecksumSize, encoded.end(), digest.begin())) {
        return BadData("the checksum is wrong");
    }
    JoinState s;
    Reader reader(body.subspan(kMagic.size()));
    const ByteSpan magic = reader.Span(4);
    s.terminal_height = reader.U32();
    s.terminal_hash = reader.Hash();
    s.rules = reader.Hash();
    const uint8_t stage = reader.U8();
    s.ordered = reader.U8() != 0;
    s.pairs = reader.U8() != 0;
    s.values = reader.U8() != 0;
    if (const uint8_t kept = reader.U8()) s.rules_kept = kept > 1;
    s.partition_bits = reader.U8();
    const ByteSpan salt = reader.Span(s.salt.size());
    for (uint64_t* number : {&s.bytes, &s.records, &s.met}) *number = reader.U64();
    for (uint32_t* height : {&s.fetched_to, &s.fetched_for}) *height = reader.U32();
    const bool summed = ReadSum(reader, s);
    const size_t counts = size_t{s.terminal_height} + 1;
    if (!reader.Ok() || reader.Remaining() / (s.KeepsChecksums() ? 8 : 4) < counts) {
        return BadData("it is cut off");
    }
    for (size_t i = 0; i < counts; ++i) s.outputs.push_back(reader.U32());
    for (size_t i = 0; i < counts && s.KeepsChecksums(); ++i) s.checksums.push_back(reader.U32());
    bool whole = summed && stage <= static_cast<uint8_t>(JoinStage::kHinted);
    for (auto* list : {&s.spills, &s.pair_spills, &s.value_spills, &s.coin_spills}) {
        whole = whole && ReadSpillInfos(reader, *list);
    }
    if (!whole || !reader.AtEnd()) return BadData("its fields contradict each other");
    s.stage = static_cast<JoinStage>(stage);
    std::copy(magic.begin(), magic.end(), s.network_magic.begin());
    std::copy(salt.begin(), salt.end(), s.salt.begin());
    return s;
}

Result<> SaveJoinState(Env& env, const Path& directory, const JoinState& state)
{
    return WriteFileAtomically(env, directory / kStateFile, state.Encode());
}

uint64_t SizeOf(std::span<const SpillInfo> spills)
{
    uint64_t size = 0;
    for (const SpillInfo& spill : spills) size += spill.size;
    return size;
}

JoinTotals TotalsOf(const JoinState& state)
{
    JoinTotals totals;
    totals.blocks = state.terminal_height;
    totals.bytes = state.bytes;
    for (const uint32_t outputs : state.outputs) totals.outputs += outputs;
    totals.records = state.records;
    totals.met = state.met;
    totals.spilled_bytes = SizeOf(state.spills);
    totals.pair_bytes = SizeOf(state.pair_spills);
    totals.value_bytes = SizeOf(state.value_spills);
    totals.coin_bytes = SizeOf(state.coin_spills);
    return totals;
}

Result<> SaveStage(Env& env, const Path& directory, const JoinState& state)
{
    IBD_RETURN_IF_ERROR(SaveJoinState(env, directory, state));
    return RemoveOtherSpills(env, directory, state.AllSpills());
}

Found<JoinState> LoadJoinState(Env& env, const Path& directory)
{
    const Path path = directory / kStateFile;
    IBD_ASSIGN_OR_RETURN(const bool there, env.IsThere(path));
    if (!there) return std::nullopt;
    IBD_ASSIGN_OR_RETURN(const Bytes bytes, ReadWholeFile(env, path));
    auto state = JoinState::Decode(bytes);
    if (!state) return BadData("state of a join {}: {}", path.string(), state.Message());
    return std::move(*state);
}

Result<std::vector<uint32_t>> OtherSpills(Env& env, const Path& directory,
                                          const std::vector<SpillInfo>& kept)
{
    std::set<uint32_t> numbers;
    for (const SpillInfo& spill : kept) numbers.insert(spill.number);
    IBD_ASSIGN_OR_RETURN(const auto there, env.List(directory));
    std::vector<uint32_t> others;
    for (const std::string& name : there) {
        const auto number = SpillNumberIn(name);
        if (number && !numbers.contains(*number)) others.push_back(*number);
    }
    return others;
}

Result<> RemoveOtherSpills(Env& env, const Path& directory, const std::vector<SpillInfo>& kept)
{
    IBD_ASSIGN_OR_RETURN(const auto others, OtherSpills(env, directory, kept));
    for (const uint32_t number : others) {
        IBD_RETURN_IF_ERROR(env.Remove(SpillPath(directory, number)));
    }
    return {};
}

Result<> CheckSpills(Env& env, const Path& directory, const JoinState& state)
{
    IBD_RETURN_IF_ERROR(SpillReader::Open(env, directory, state.spills, state.Owner()));
    const SpillOwner making = state.OwnerOf(state.MakingRanges().Count());
    IBD_RETURN_IF_ERROR(SpillReader::Open(env, directory, state.value_spills, making));
    if (!state.pairs) return {};
    IBD_RETURN_IF_ERROR(SpillReader::Open(env, directory, state.pair_spills, making));
    const SpillOwner spending = state.OwnerOf(state.SpendingRanges().Count());
    IBD_RETURN_IF_ERROR(SpillReader::Open(env, directory, state.coin_spills, spending));
    return {};
}

Result<> KeepFirstPass(Env& env, const Path& directory, JoinState state)
{
    state.spills.clear();
    state.pair_spills.clear();
    state.value_spills.clear();
    state.coin_spills.clear();
    state.pairs = state.values = false;
    state.stage = JoinStage::kHinted;
    return SaveStage(env, directory, state);
}

std::optional<FirstPass> FirstPassOf(const JoinState& state)
{
    if (!state.aggregate || state.BlocksRead() != state.outputs.size()) return std::nullopt;
    return FirstPass{state.terminal_hash, state.rules,     *state.aggregate, state.salt,
                     state.sum,           state.checksums, state.rules_kept};
}

bool IsJoinFile(const std::string& name)
{
    return name == kStateFile || name == std::string(kStateFile) + kUnwrittenEnding ||
           SpillNumberIn(name);
}

Found<uint64_t> BytesOfJoin(Env& env, const Path& directory)
{
    IBD_ASSIGN_OR_RETURN(const bool there, env.IsThere(directory));
    if (!there) return std::nullopt;
    IBD_ASSIGN_OR_RETURN(const auto names, env.List(directory));
    std::optional<uint64_t> bytes;
    for (const std::string& name : names) {
        if (!IsJoinFile(name)) continue;
        IBD_ASSIGN_OR_RETURN(const auto file, env.OpenRead(directory / name));
        IBD_ASSIGN_OR_RETURN(const uint64_t size, file->Size());
        bytes = bytes.value_or(0) + size;
    }
    return bytes;
}

Result<> RemoveJoin(Env& env, const Path& directory)
{
    IBD_ASSIGN_OR_RETURN(const bool there, env.IsThere(directory));
    if (!there) return {};
    IBD_RETURN_IF_ERROR(RemoveOtherSpills(env, directory, {}));
    const auto removed = RemoveWithUnwritten(env, directory / kStateFile);
    if (!removed) return removed.GetError();
    return env.SyncDirectory(directory);
}

} // namespace ibd
