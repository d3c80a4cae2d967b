// Checkpoints: round trip, refusal of damage, clean-up, and the memory of bad hints.
#include "swiftsync/checkpoint.h"

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

TEST_CASE("Checkpoint: fields lie where the format page says")
{
    const Checkpoint c = SomeCheckpoint();
    const Bytes bytes = c.Encode();
    REQUIRE(ByteSpan(bytes).first(8)[7] == 1);
    REQUIRE(ReadLE32(bytes.data() + 44) == 1234);
    REQUIRE(Uint256::FromBytes(bytes.data() + 48) == c.terminal_hash);
    REQUIRE(ReadLE16(bytes.data() + 82) == 32);
    REQUIRE(std::equal(c.salt.begin(), c.salt.end(), bytes.begin() + 84));
    REQUIRE(std::equal(c.sum.begin(), c.sum.end(), bytes.begin() + 148));
    REQUIRE(ReadLE64(bytes.data() + 180) == 10);
    REQUIRE(bytes[228] == 0x82); // heights 1 and 7
    const size_t runs_at = 228 + 1234 / 8 + 1;
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
    Must(RememberBadHints(*env, dir.Get(), c.hints_id, "because"));
    Must(RemoveOtherRuns(*env, dir.Get(), c));
    REQUIRE(env->Exists(RunPath(dir.Get(), 5)));
    REQUIRE_FALSE(env->Exists(RunPath(dir.Get(), 6)));
    REQUIRE(Must(LoadCheckpoint(*env, dir.Get()))->Encode() == c.Encode());
    Must(RemoveCheckpoint(*env, dir.Get()));
    REQUIRE_FALSE(env->Exists(RunPath(dir.Get(), 5)));
    REQUIRE_FALSE(Must(LoadCheckpoint(*env, dir.Get())));
    REQUIRE(Must(KnownBadHints(*env, dir.Get(), c.hints_id)) == "because");
    REQUIRE_FALSE(Must(KnownBadHints(*env, dir.Get(), Uint256())));
    Must(RememberBadHints(*env, dir.Get(), Uint256(), "other"));
    Must(RememberBadHints(*env, dir.Get(), Uint256(), "again"));
    REQUIRE(Must(KnownBadHints(*env, dir.Get(), Uint256())) == "other");
    REQUIRE(Must(KnownBadHints(*env, dir.Get(), c.hints_id)) == "because");
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

TEST_CASE("Checkpoint: a run is unfinished while blocks are missing, and of its own hints only")
{
    TempDir dir;
    const auto env = MakePosixEnv();
    Checkpoint c = SomeCheckpoint();
    REQUIRE_FALSE(Must(HasUnfinishedRun(*env, dir.Get(), c.hints_id)));
    Must(SaveCheckpoint(*env, dir.Get(), c));
    REQUIRE(Must(HasUnfinishedRun(*env, dir.Get(), c.hints_id)));
    REQUIRE_FALSE(Must(HasUnfinishedRun(*env, dir.Get(), Uint256())));
    for (uint32_t h = 1; h <= c.terminal_height; ++h) (void)c.folded.Insert(h);
    Must(SaveCheckpoint(*env, dir.Get(), c));
    REQUIRE_FALSE(Must(HasUnfinishedRun(*env, dir.Get(), c.hints_id)));
    std::ofstream(CheckpointPath(dir.Get())) << "damaged";
    REQUIRE_FALSE(Must(HasUnfinishedRun(*env, dir.Get(), c.hints_id)));
}
