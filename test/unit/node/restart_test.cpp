// A start after one that ended before its chainstate was in place: it repeats no complete work, and
// hints that failed do not cost the work done with other hints since.
#include "sim_net.h"

#include "support/catch.h"

namespace ibd::test {

namespace {

using Catch::Contains;
using Mode = OwnHintsOptions::Mode;

/** One start of a node that has all blocks and no chainstate. */
struct Start {
    Start(const Path& dir, const HintsChoice& hints, Mode mode = Mode::kOff,
          bool check_rules = false)
        : machine(TheWorld(), dir),
          booster(env, log, params,
                  {.booster = Options(machine, check_rules), .own = {.mode = mode}, .hints = hints})
    {
        env.SetSpace(uint64_t{1} << 40);
        Must(machine.Open(env));
        Must(machine.StoreAll());
        Must(booster.OpenHints(hints));
        booster.Attach(machine.Chain());
    }
    static BoosterOptions Options(const Machine& machine, bool check_rules)
    {
        BoosterOptions options = OneThread(machine);
        options.check_rules = check_rules;
        return options;
    }
    /** A start that ends when all is folded and checked. */
    void FailToPublish()
    {
        env.SetScript([](const FaultEnv::Operation& op) {
            return op.kind == "rename" &&
                   op.path.parent_path().filename() == "chainstate.ibdbooster";
        });
        const auto end = booster.Build();
        REQUIRE_FALSE(end);
        REQUIRE_THAT(end.Message(), Contains("injected fault"));
        env.SetScript(nullptr);
    }
    /** A start that folds no block any more. */
    void Finish()
    {
        REQUIRE(Must(booster.Build()) == VerdictKind::kDone);
        CHECK_THAT(log.Text(), Contains("resuming from a checkpoint: 200 of 200 blocks"));
        CHECK_THAT(log.Text(), Contains("folding 0 blocks"));
        machine.RequireRight();
    }

    Machine machine;
    ChainParams params = TheWorld().params;
    FaultEnv env;
    KeptLog log;
    BoosterSession booster;
};

/** Hints that name an output that a block does not have, and no terminal block. */
void WriteUnfit(const Path& path)
{
    const World& world = TheWorld();
    const auto env = MakePosixEnv();
    const auto height = static_cast<uint32_t>(world.HintsHeight());
    const auto writer =
        Must(StartHintsFile(*env, path, {HintsFormat::kGaps, world.params.magic, height}));
    constexpr std::array<uint32_t, 1> kUnfit = {999};
    for (uint32_t h = 1; h <= height; ++h) Must(writer->Add(h, 1'000, kUnfit));
    Must(writer->Finish(world.terminal));
}

/** Hints that fit each block, with one output wrong: either they are wrong, or a block is. */
void WriteSuspect(const Path& path)
{
    auto unspent = TheWorld().unspent;
    unspent[15][0] ^= 1;
    WriteHints(path, TheWorld().params, unspent, TheWorld().terminal);
}

/** A folder of hints: wrong ones, which are tried first, and right ones. */
HintsChoice FolderWith(const Path& folder, void (*write_wrong)(const Path&))
{
    std::filesystem::create_directories(folder);
    write_wrong(folder / "0.hints");
    std::filesystem::copy(TheWorld().dir / "hints", folder / "1.hints");
    return {.file = {}, .folder = folder, .hash = {}};
}

} // namespace

TEST_CASE("hints of a folder are resumed though better ones, which failed, are in it")
{
    const TempDir dir{MemoryFolder()};
    const HintsChoice hints = FolderWith(dir / "hints", WriteUnfit);
    Start(dir / "node", hints).FailToPublish();
    Start again(dir / "node", hints);
    again.Finish();
    CHECK_THAT(again.log.Text(), !Contains("failed in an earlier sync"));
}

TEST_CASE("rules that a join has checked are not checked again after a stop in the load")
{
    const TempDir dir{MemoryFolder()};
    const HintsChoice hints{.file = TheWorld().dir / "hints", .folder = {}, .hash = {}};
    Start first(dir / "node", hints, Mode::kOff, true);
    first.FailToPublish();
    CHECK_THAT(first.log.Text(), Contains("Join: reading"));
    CHECK_THAT(first.log.Text(), Contains("all blocks up to height 200 keep every rule but"));
    first.machine.Close();
    Start again(dir / "node", hints, Mode::kOff, true);
    again.Finish();
    CHECK_THAT(again.log.Text(), !Contains("Join: reading"));
    CHECK_THAT(again.log.Text(), !Contains("checking every rule"));
}

TEST_CASE("suspect hints come last at the next start, and are wrong once the blocks are valid")
{
    const TempDir dir{MemoryFolder()};
    HintsChoice hints;
    Mode mode = Mode::kOff;
    SECTION("in a folder") { hints = FolderWith(dir / "hints", WriteSuspect); }
    SECTION("named, while the node makes its own")
    {
        WriteSuspect(dir / "wrong");
        hints.file = dir / "wrong";
        mode = Mode::kAsked;
    }
    const Path record = dir / "node/booster/suspecthints.txt";
    const Path bad = dir / "node/booster/badhints.txt";
    Start(dir / "node", hints, mode).FailToPublish();
    CHECK(std::filesystem::exists(record));
    CHECK_FALSE(std::filesystem::exists(bad));
    Start(dir / "node", hints, mode).Finish();
    CHECK_FALSE(std::filesystem::exists(record));
    CHECK(std::filesystem::exists(bad));
}

TEST_CASE("suspect hints are tried when nothing else is left, and are right if they pass")
{
    const TempDir dir{MemoryFolder()};
    const HintsChoice hints{.file = TheWorld().dir / "hints", .folder = {}, .hash = {}};
    Start start(dir / "node", hints);
    Must(start.env.CreateDirectories(start.machine.Booster()));
    const SuspectEntry entry{.id = start.booster.GivenHints()->Info().id,
                             .terminal = TheWorld().terminal,
                             .height = static_cast<int32_t>(TheWorld().HintsHeight()),
                             .why = "a flipped bit"};
    Must(SaveSuspectHints(start.env, start.machine.Booster(), std::span(&entry, 1)));
    CHECK(Must(start.booster.Build()) == VerdictKind::kDone);
    CHECK_THAT(start.log.Text(), Contains("or a block up to height 200 is invalid: failed in an "
                                          "earlier sync: a flipped bit"));
    CHECK(Must(LoadSuspectHints(start.env, start.machine.Booster())).empty());
    CHECK_FALSE(std::filesystem::exists(start.machine.Booster() / "badhints.txt"));
    start.machine.RequireRight();
}

TEST_CASE("hints that the node made are resumed though named hints failed before")
{
    const TempDir dir{MemoryFolder()};
    WriteUnfit(dir / "wrong");
    const HintsChoice hints{.file = dir / "wrong", .folder = {}, .hash = {}};
    Start(dir / "node", hints, Mode::kAsked).FailToPublish();
    Start again(dir / "node", hints, Mode::kAsked);
    again.Finish();
    CHECK_THAT(again.log.Text(), Contains("the hints are wrong: failed in an earlier sync: "));
}

} // namespace ibd::test
