// See checkpoint.h.
#include "swiftsync/checkpoint.h"

#include "swiftsync/checkpoint_log.h"
#include "util/hex.h"

#include <algorithm>
#include <bit>
#include <set>

namespace ibd {

namespace {

constexpr std::array<uint8_t, 8> kMagic = {'i', 'b', 'd', 'c', 'h', 'k', 0, 2};
constexpr size_t kChecksumSize = sizeof(ShortDigest);
constexpr uint8_t kFullValidationFlag = 1;
constexpr uint8_t kPublishedFlag = 2;
constexpr size_t kRunEntrySize = 28;
constexpr const char* kBadHintsFile = "badhints.txt";
constexpr const char* kLockFile = ".lock";

/** A name that RunPath() gives; the directory may be one in which the user keeps other files. */
bool IsRunFile(std::string_view name)
{
    if (!name.starts_with("run") || !name.ends_with(".dat")) return false;
    name.remove_prefix(3);
    name.remove_suffix(4);
    return name.size() >= 6 && name.find_first_not_of("0123456789") == std::string_view::npos;
}

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

HeightSet HeightSet::FromBytes(uint32_t limit, ByteSpan bits)
{
    HeightSet set(limit);
    CHECK(bits.size() == set.m_bits.size());
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
    Bytes out;
    Writer writer(out);
    writer.Raw(kMagic);
    writer.Raw(network_magic);
    writer.Hash(hints_id);
    writer.U32(terminal_height);
    writer.Hash(terminal_hash);
    writer.U8(static_cast<uint8_t>(aggregate));
    writer.U8((full_validation ? kFullValidationFlag : 0) | (published ? kPublishedFlag : 0));
    writer.U16(static_cast<uint16_t>(sum.size()));
    writer.Raw(salt);
    writer.Hash(rules);
    writer.Raw(sum);
    WriteTotals(writer, totals);
    writer.Raw(folded.Span());
    writer.U32(static_cast<uint32_t>(runs.size()));
    for (const RunInfo& run : runs) WriteRunInfo(writer, run);
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
    if (!reader.Ok() || flags > (kFullValidationFlag | kPublishedFlag) ||
        reader.Remaining() != size_t{runs} * kRunEntrySize) {
        return BadData("its fields contradict each other");
    }
    c.full_validation = (flags & kFullValidationFlag) != 0;
    c.published = (flags & kPublishedFlag) != 0;
    std::copy(magic.begin(), magic.end(), c.network_magic.begin());
    std::copy(salt.begin(), salt.end(), c.salt.begin());
    c.sum.assign(sum.begin(), sum.end());
    c.folded = HeightSet::FromBytes(c.terminal_height, folded);
    for (uint32_t i = 0; i < runs; ++i) c.runs.push_back(ReadRunInfo(reader));
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

Path CheckpointPath(const Path& directory) { return directory / "checkpoint.dat"; }

Result<> SaveCheckpoint(Env& env, const Path& directory, const Checkpoint& checkpoint)
{
    return WriteFileAtomically(env, CheckpointPath(directory), checkpoint.Encode());
}

Result<std::optional<Checkpoint>> LoadCheckpoint(Env& env, const Path& directory)
{
    const Path path = CheckpointPath(directory);
    IBD_ASSIGN_OR_RETURN(const bool there, env.IsThere(path));
    if (!there) return std::nullopt;
    IBD_ASSIGN_OR_RETURN(const Bytes bytes, ReadWholeFile(env, path));
    auto checkpoint = Checkpoint::Decode(bytes);
    if (!checkpoint) return BadData("checkpoint {}: {}", path.string(), checkpoint.Message());
    IBD_RETURN_IF_ERROR(ReplayLog(env, directory, bytes, *checkpoint));
    return std::move(*checkpoint);
}

Result<> RemoveCheckpoint(Env& env, const Path& directory)
{
    IBD_ASSIGN_OR_RETURN(const bool there, env.IsThere(directory));
    if (!there) return {};
    // The checkpoint goes last: while there is a run, it shows that there is work for a clean-up.
    IBD_RETURN_IF_ERROR(RemoveOtherRuns(env, directory, {}));
    const Path checkpoint = CheckpointPath(directory);
    bool removed = false;
    for (const Path& path :
         {Path(checkpoint) += ".new", CheckpointLogPath(directory), checkpoint}) {
        IBD_ASSIGN_OR_RETURN(const bool exists, env.IsThere(path));
        if (exists) IBD_RETURN_IF_ERROR(env.Remove(path));
        removed = removed || exists;
    }
    return removed ? env.SyncDirectory(directory) : Result<>();
}

Result<> RemoveOtherRuns(Env& env, const Path& directory, const Checkpoint& checkpoint)
{
    std::set<std::string> kept;
    for (const RunInfo& run : checkpoint.runs) {
        kept.insert(RunPath(directory, run.number).filename().string());
    }
    IBD_ASSIGN_OR_RETURN(const auto names, env.List(directory));
    for (const std::string& name : names) {
        if (!IsRunFile(name) || kept.contains(name)) continue;
        IBD_RETURN_IF_ERROR(env.Remove(directory / name));
    }
    return {};
}

Result<KeptWork> FindKeptWork(Env& env, const Path& directory, const Uint256& hints_id,
                              const BlockHash& best_block)
{
    const auto found = LoadCheckpoint(env, directory);
    if (!found && found.GetError().kind == Error::Kind::kSystem) return found.GetError();
    if (!found) return KeptWork::kUnpublished;
    if (!*found) return KeptWork::kNone;
    const Checkpoint& kept = **found;
    const bool complete = kept.folded.Count() == kept.terminal_height;
    const bool in_place = complete && kept.hints_id == hints_id && kept.terminal_hash == best_block;
    return kept.published || in_place ? KeptWork::kPublished : KeptWork::kUnpublished;
}

Result<std::unique_ptr<FileLock>> LockBooster(Env& env, const Path& directory)
{
    auto lock = env.Lock(directory / kLockFile);
    if (lock) return lock;
    return SystemError("cannot lock the booster's directory, a node may be using it "
                       "(-ibdboosterdir): {}",
                       lock.Message());
}

namespace {

/** How a line about hints begins that failed on the branch that ends there. */
std::string BadHintsKey(const Uint256& hints_id, const BlockHash& terminal_hash)
{
    return fmt::format("{} {} ", ToHex(hints_id.Span()), terminal_hash.ToHex());
}

/** Empty if there is no such file. */
Result<Bytes> ReadBadHints(Env& env, const Path& directory)
{
    const Path path = directory / kBadHintsFile;
    IBD_ASSIGN_OR_RETURN(const bool there, env.IsThere(path));
    if (!there) return Bytes();
    return ReadWholeFile(env, path);
}

} // namespace

Result<> RememberBadHints(Env& env, const Path& directory, const Uint256& hints_id,
                          const BlockHash& terminal_hash, std::string_view reason)
{
    IBD_ASSIGN_OR_RETURN(const auto known, KnownBadHints(env, directory, hints_id, terminal_hash));
    if (known) return {};
    IBD_ASSIGN_OR_RETURN(Bytes text, ReadBadHints(env, directory));
    Append(text, AsBytes(BadHintsKey(hints_id, terminal_hash)));
    Append(text, AsBytes(fmt::format("{}\n", reason)));
    return WriteFileAtomically(env, directory / kBadHintsFile, text);
}

Result<std::optional<std::string>> KnownBadHints(Env& env, const Path& directory,
                                                 const Uint256& hints_id,
                                                 const BlockHash& terminal_hash)
{
    IBD_ASSIGN_OR_RETURN(const Bytes bytes, ReadBadHints(env, directory));
    const std::string key = BadHintsKey(hints_id, terminal_hash);
    std::string_view rest = AsChars(bytes);
    while (!rest.empty()) {
        const std::string_view line = rest.substr(0, rest.find('\n'));
        if (line.starts_with(key)) return std::string(line.substr(key.size()));
        rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    }
    return std::nullopt;
}

} // namespace ibd
