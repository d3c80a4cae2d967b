// Checkpoints: round trip, refusal of damage, clean-up, the log, and the memory of bad hints.
#include "swiftsync/checkpoint_log.h"

#include "sim/fault_env.h"
#include "support/aborts.h"
#include "support/testdata.h"
#include "test_chain.h"

#include <fstream>

using namespace ibd;
using namespace ibd::test;

namespace {

Checkpoint SomeCheckpoint()
{
    Checkpoint c;
    c.network_magic = {1, 2, 3, 4};
    c.hints_id = Uint256::FromBytes(RandomBytes(32).data());
    c.terminal_height = 1234;
    c.terminal_hash = Uint256::FromBytes(RandomBytes(32).data());
    for (uint8_t& byte : c.salt) byte = static_cast<uint8_t>(TestRng()());
    auto sum = MakeAggregate(c.aggregate, c.salt);
    sum->AddCreated(RandomBytes(36).data(), 1);
    c.sum = sum->Serialize();
    c.totals = {10, 20, 30, 40, 50, 60};
    c.folded = HeightSet(1234);
    for (const uint32_t h : {1u, 7u, 8u, 1234u}) REQUIRE(c.folded.Insert(h));
    c.rules = Uint256::FromBytes(RandomBytes(32).data());
    c.runs = {{5, 100, 2000, {1, 2, 3, 4, 5, 6, 7, 8}}, {9, 1, 300, {}}};
    return c;
}

} // namespace

TEST_CASE("Height set: counts, refuses repeats, survives its bytes")
{
    HeightSet set(20);
    REQUIRE(set.Insert(20));
    REQUIRE(set.Insert(3));
    REQUIRE_FALSE(set.Insert(3));
    REQUIRE(set.Count() == 2);
    const HeightSet copy = HeightSet::FromBytes(20, set.Span());
    REQUIRE(copy.Count() == 2);
    REQUIRE(copy.Contains(20));
    REQUIRE_FALSE(copy.Contains(4));
}

TEST_CASE("Checkpoint: round trip, and every changed byte or length is refused")
{
    const Checkpoint c = SomeCheckpoint();
    Bytes bytes = c.Encode();
    const Checkpoint d = Must(Checkpoint::Decode(bytes));
    REQUIRE(d.Encode() == bytes);
    REQUIRE(d.runs == c.runs);
    REQUIRE(d.totals == c.totals);
    REQUIRE(d.sum == c.sum);
    REQUIRE(d.salt == c.salt);
    REQUIRE(d.rules == c.rules);
    REQUIRE_FALSE(d.published);
    REQUIRE_FALSE(d.coins_only);
    REQUIRE(d.folded.Count() == 4);
    REQUIRE(d.NextRunNumber() == 10);
    for (size_t at = 0; at < bytes.size(); ++at) {
        bytes[at] ^= 0x40;
        REQUIRE_FALSE(Checkpoint::Decode(bytes).Ok());
        bytes[at] ^= 0x40;
        REQUIRE_FALSE(Checkpoint::Decode(ByteSpan(bytes).first(at)).Ok());
    }
    bytes.push_back(0);
    REQUIRE_FALSE(Checkpoint::Decode(bytes).Ok());
}

TEST_CASE("Checkpoint: fields that contradict each other are refused")
{
    constexpr size_t kFlagsAt = 81, kFoldedAt = 260;
    const Bytes good = SomeCheckpoint().Encode();
    const auto decoded = [](Bytes bytes) {
        const size_t body = bytes.size() - sizeof(ShortDigest);
        const Hash32 digest = Sha256Of(ByteSpan(bytes).first(body));
        std::copy_n(digest.begin(), sizeof(ShortDigest), bytes.begin() + body);
        return Checkpoint::Decode(bytes);
    };
    REQUIRE(decoded(good).Ok());
    Bytes bytes = good;
    bytes[kFlagsAt] |= 8; // a known height without full validation
    bytes.insert(bytes.end() - sizeof(ShortDigest), 4, 0);
    REQUIRE_FALSE(decoded(bytes).Ok());
    bytes[kFlagsAt] |= 1;
    REQUIRE(decoded(bytes).Ok());
    for (size_t height = 1234; height < 1240; ++height) { // 1234 is the terminal block
        bytes = good;
        bytes[kFoldedAt + height / 8] |= static_cast<uint8_t>(1 << height % 8);
        REQUIRE(decoded(bytes).Ok() == (height == 1234));
    }
}

TEST_CASE("Checkpoint: one that could not be read back is not encoded")
{
    Checkpoint c = SomeCheckpoint();
    CHECK_FALSE(Aborts([&] { (void)c.Encode(); }));
    c.terminal_height = 2000; // the heights are up to another one
    CHECK(Aborts([&] { (void)c.Encode(); }));
    c = SomeCheckpoint();
    c.sum.resize(1 << 16);
    CHECK(Aborts([&] { (void)c.Encode(); }));
}

TEST_CASE("Checkpoint: fields lie where the format page says")
{
    const Checkpoint c = SomeCheckpoint();
    const Bytes bytes = c.Encode();
    REQUIRE(ByteSpan(bytes).first(8)[7] == 2);
    REQUIRE(ReadLE32(bytes.data() + 44) == 1234);
    REQUIRE(Uint256::FromBytes(bytes.data() + 48) == c.terminal_hash);
    REQUIRE(ReadLE16(bytes.data() + 82) == 32);
    REQUIRE(std::equal(c.salt.begin(), c.salt.end(), bytes.begin() + 84));
    REQUIRE(Uint256::FromBytes(bytes.data() + 148) == c.rules);
    REQUIRE(std::equal(c.sum.begin(), c.sum.end(), bytes.begin() + 180));
    REQUIRE(ReadLE64(bytes.data() + 212) == 10);
    REQUIRE(bytes[260] == 0x82); // heights 1 and 7
    const size_t runs_at = 260 + 1234 / 8 + 1;
    REQUIRE(ReadLE32(bytes.data() + runs_at) == 2);
    REQUIRE(ReadLE32(bytes.data() + runs_at + 4) == 5);
    REQUIRE(bytes.size() == runs_at + 4 + 2 * 28 + 8);
}

TEST_CASE("Checkpoint: clean-up spares the runs it names and the memory of bad hints")
{
    TempDir dir;
    const auto env = MakePosixEnv();
    const Checkpoint c = SomeCheckpoint();
    Must(SaveCheckpoint(*env, dir.Get(), c));
    for (const uint32_t n : {5u, 6u, 9u}) std::ofstream(RunPath(dir.Get(), n)) << "x";
    const BlockHash& here = c.terminal_hash;
    Must(RememberBadHints(*env, dir.Get(), c.hints_id, here, "because"));
    Must(RemoveOtherRuns(*env, dir.Get(), c));
    REQUIRE(env->Exists(RunPath(dir.Get(), 5)));
    REQUIRE_FALSE(env->Exists(RunPath(dir.Get(), 6)));
    REQUIRE(Must(LoadCheckpoint(*env, dir.Get()))->Encode() == c.Encode());
    Must(RemoveCheckpoint(*env, dir.Get()));
    REQUIRE_FALSE(env->Exists(RunPath(dir.Get(), 5)));
    REQUIRE_FALSE(Must(LoadCheckpoint(*env, dir.Get())));
    REQUIRE(Must(KnownBadHints(*env, dir.Get(), c.hints_id, here)) == "because");
    REQUIRE_FALSE(Must(KnownBadHints(*env, dir.Get(), Uint256(), here)));
    Must(RememberBadHints(*env, dir.Get(), Uint256(), here, "other"));
    Must(RememberBadHints(*env, dir.Get(), Uint256(), here, "again"));
    REQUIRE(Must(KnownBadHints(*env, dir.Get(), Uint256(), here)) == "other");
    REQUIRE(Must(KnownBadHints(*env, dir.Get(), c.hints_id, here)) == "because");
    // A bitmap may be right on another branch.
    REQUIRE_FALSE(Must(KnownBadHints(*env, dir.Get(), c.hints_id, BlockHash())));
}

TEST_CASE("Suspect hints: the record keeps each field, without its damaged lines")
{
    TempDir dir;
    const auto env = MakePosixEnv();
    const Checkpoint c = SomeCheckpoint();
    REQUIRE(Must(LoadSuspectHints(*env, dir.Get())).empty());
    const std::vector<SuspectEntry> entries = {{c.hints_id, c.terminal_hash, 1234, "the sum: 1"},
                                               {Uint256(), c.terminal_hash, 5, ""}};
    Must(SaveSuspectHints(*env, dir.Get(), entries));
    REQUIRE(Must(LoadSuspectHints(*env, dir.Get())) == entries);
    const Path path = dir.Get() / "suspecthints.txt";
    const Bytes whole = Must(ReadWholeFile(*env, path));
    for (size_t size = 0; size < whole.size(); ++size) {
        std::ofstream(path) << AsChars(ByteSpan(whole).first(size));
        REQUIRE(Must(LoadSuspectHints(*env, dir.Get())).size() <= 2);
    }
    std::ofstream(path) << "x\n" << AsChars(whole);
    REQUIRE(Must(LoadSuspectHints(*env, dir.Get())) == entries);
    Must(SaveSuspectHints(*env, dir.Get(), {}));
    REQUIRE_FALSE(env->Exists(path));
}

TEST_CASE("Checkpoint: clean-up touches no file that is not the booster's")
{
    TempDir dir;
    const auto env = MakePosixEnv();
    const std::vector<std::string> foreign = {"run.dat",       "runtime.dat",   "run12345.dat",
                                              "run00000a.dat", "run000001.txt", "rerun000001.dat"};
    for (const std::string& name : foreign) std::ofstream(dir.Get() / name) << "x";
    for (const uint32_t n : {0u, 1'234'567u}) std::ofstream(RunPath(dir.Get(), n)) << "x";
    Must(RemoveCheckpoint(*env, dir.Get()));
    for (const std::string& name : foreign) REQUIRE(env->Exists(dir.Get() / name));
    REQUIRE(Must(env->List(dir.Get())).size() == foreign.size());
}

TEST_CASE("Checkpoint: only what was published may go")
{
    TempDir dir;
    const auto env = MakePosixEnv();
    Checkpoint c = SomeCheckpoint();
    const auto kept = [&](const Uint256& hints_id, const BlockHash& best) {
        return Must(FindFoldStanding(*env, dir.Get(), hints_id, best));
    };
    REQUIRE(kept(c.hints_id, {}) == FoldStanding::kNone);
    Must(SaveCheckpoint(*env, dir.Get(), c));
    REQUIRE(kept(c.hints_id, {}) == FoldStanding::kUnpublished);
    REQUIRE(kept(c.hints_id, c.terminal_hash) == FoldStanding::kUnpublished); // blocks are missing
    for (uint32_t h = 1; h <= c.terminal_height; ++h) (void)c.folded.Insert(h);
    Must(SaveCheckpoint(*env, dir.Get(), c));
    REQUIRE(kept(c.hints_id, {}) == FoldStanding::kUnpublished);
    REQUIRE(kept(Uint256(), c.terminal_hash) == FoldStanding::kUnpublished); // of other hints
    REQUIRE(kept(c.hints_id, c.terminal_hash) == FoldStanding::kPublished);
    c.published = true;
    Must(SaveCheckpoint(*env, dir.Get(), c));
    REQUIRE(Must(LoadCheckpoint(*env, dir.Get()))->published);
    REQUIRE(kept(Uint256(), {}) == FoldStanding::kPublished);
    std::ofstream(CheckpointPath(dir.Get())) << "damaged";
    REQUIRE(kept(c.hints_id, {}) == FoldStanding::kUnpublished);
}

namespace {

/** Epoch `i` of a sync, added to `state`. */
CheckpointEntry NextEntry(uint32_t i, Checkpoint& state)
{
    CheckpointEntry entry{RandomBytes(32), state.totals, std::nullopt, {}};
    entry.totals.Add({3, 2, 5, 1, 7, 1000});
    if (i % 3) entry.run = RunInfo{100 + i, i, 64 * uint64_t{i}, {1, 2, 3}};
    for (uint32_t n = 0; n < 1 + i % 4; ++n) entry.heights.push_back(10 + 4 * i + n);
    REQUIRE(Apply(entry, state));
    return entry;
}

} // namespace

TEST_CASE("Checkpoint log: each save is durable, and cut off anywhere leaves an earlier one")
{
    TempDir dir;
    const auto env = MakePosixEnv();
    Checkpoint state = SomeCheckpoint();
    CheckpointLog log(*env, dir.Get());
    std::vector<Bytes> saved;
    for (uint32_t i = 0; i < 8; ++i) {
        const CheckpointEntry entry = NextEntry(i, state);
        Must(log.Save(state, entry));
        saved.push_back(state.Encode());
        REQUIRE(Must(LoadCheckpoint(*env, dir.Get()))->Encode() == saved.back());
    }
    const Path path = CheckpointLogPath(dir.Get());
    const Bytes whole = Must(ReadWholeFile(*env, path));
    const auto load = [&](ByteSpan bytes) {
        std::ofstream(path, std::ios::binary | std::ios::trunc)
            .write(AsChars(bytes).data(), static_cast<std::streamsize>(bytes.size()));
        const Bytes found = Must(LoadCheckpoint(*env, dir.Get()))->Encode();
        const auto at = std::find(saved.begin(), saved.end(), found);
        REQUIRE(at != saved.end());
        return at - saved.begin();
    };
    std::ptrdiff_t last = 0;
    for (size_t size = 0; size <= whole.size(); ++size) {
        const std::ptrdiff_t now = load(ByteSpan(whole).first(size));
        REQUIRE(now >= last);
        REQUIRE(now <= last + 1);
        last = now;
    }
    REQUIRE(last == 7);
    Bytes changed = whole;
    for (size_t at = 0; at < whole.size(); at += 7) {
        changed[at] ^= 0x20;
        REQUIRE(load(changed) < 7);
        changed[at] ^= 0x20;
    }
    // One of another checkpoint says nothing.
    REQUIRE(load(whole) == 7);
    ++state.totals.bytes;
    Must(SaveCheckpoint(*env, dir.Get(), state));
    REQUIRE(Must(LoadCheckpoint(*env, dir.Get()))->Encode() == state.Encode());
}

TEST_CASE("Checkpoint: a removal that is cut off leaves a whole sync, or shows that it is none")
{
    const bool published = GENERATE(false, true);
    bool removed = false;
    for (uint64_t operations = 0; !removed; ++operations) {
        CAPTURE(published, operations);
        TempDir dir;
        FaultEnv env;
        Checkpoint state = SomeCheckpoint();
        state.published = published;
        CheckpointLog log(env, dir.Get());
        for (uint32_t i = 0; i < 4; ++i) Must(log.Save(state, NextEntry(i, state)));
        for (const RunInfo& run : state.runs) {
            std::ofstream(RunPath(dir.Get(), run.number)) << "x";
        }
        env.CrashAt(env.Operations() + operations);
        removed = RemoveCheckpoint(env, dir.Get()).Ok();
        const auto after = MakePosixEnv();
        const auto kept = Must(LoadCheckpoint(*after, dir.Get()));
        const bool nothing = Must(after->List(dir.Get())).empty();
        if (removed) REQUIRE(nothing);
        if (published && !nothing) REQUIRE((kept && kept->published));
        if (published || !kept) continue;
        REQUIRE(kept->Encode() == state.Encode());
        for (const RunInfo& run : kept->runs) {
            REQUIRE(after->Exists(RunPath(dir.Get(), run.number)));
        }
    }
}

TEST_CASE("Checkpoint log: what is written grows as the number of runs does, not as its square")
{
    constexpr uint32_t kSaves = 2000;
    TempDir dir;
    const auto env = MakePosixEnv();
    Checkpoint state = SomeCheckpoint();
    state.terminal_height = 20'000;
    state.folded = HeightSet(20'000);
    CheckpointLog log(*env, dir.Get());
    uint64_t written = 0;
    Bytes before;
    for (uint32_t i = 0; i < kSaves; ++i) {
        const CheckpointEntry entry = NextEntry(i, state);
        Must(log.Save(state, entry));
        if (i % 8) continue; // reading is quadratic
        const Bytes now = Must(ReadWholeFile(*env, CheckpointPath(dir.Get())));
        if (now != before) written += now.size();
        before = now;
    }
    REQUIRE(Must(LoadCheckpoint(*env, dir.Get()))->Encode() == state.Encode());
    const size_t largest = state.Encode().size();
    CAPTURE(written, largest);
    REQUIRE(written < 20 * largest); // each save written whole: 1,000 times
}
