// The booster without a hints file: kills at any operation, with stored blocks and with blocks from
// peers, files of earlier starts, runs by default, and the choice of the terminal block.
#include "booster/undo_run.h"
#include "join/join_state.h"
#include "sim_net.h"
#include "validation/verify_chain.h"

#include <set>
#include <thread>

namespace ibd::test {

namespace {

using Mode = OwnHintsOptions::Mode;

OwnHintsOptions Own(Mode mode, uint64_t least = OwnHintsOptions::kLeastBytes)
{
    return {.mode = mode, .least_bytes = least};
}

/** One start of a node. */
struct Start {
    Start(const Path& dir, const OwnHintsOptions& own)
        : machine(TheWorld(), dir),
          booster(env, log, params, {.booster = OneThread(machine), .own = own})
    {
        env.SetSpace(uint64_t{1} << 40);
    }
    Result<VerdictKind> Run()
    {
        Must(machine.Open(env, false));
        Net net(machine.Chain(), sim::Rng(1), true);
        SteppedFetcher fetcher(net);
        hooks.started = [&] { ++begun; };
        hooks.start_fetcher = [&](ChainManager&) -> BlockFetcher* {
            ++asked;
            return network ? &fetcher : nullptr;
        };
        booster.Attach(machine.Chain(), hooks);
        return booster.Run();
    }

    Machine machine;
    ChainParams params = TheWorld().params;
    FaultEnv env;
    KeptLog log;
    BoosterSession booster;
    SessionHooks hooks;
    bool network = true;
    int asked = 0; //!< for the network
    int begun = 0;
};

/** As a start does: it also removes what an earlier death left. */
Result<> MakeUndo(Machine& machine, Env& env, Logger& log)
{
    OwnHintsOptions own = Own(Mode::kAsked);
    own.undo = UndoWanted::kYes;
    own.undo_first = true;
    BoosterSession booster(env, log, TheWorld().params,
                           {.booster = OneThread(machine), .own = own});
    booster.Attach(machine.Chain());
    return booster.MakeUndo();
}

bool LeavesNothing(Machine& machine)
{
    for (const auto& entry : std::filesystem::recursive_directory_iterator(machine.Booster())) {
        if (entry.path().filename() == ".lock") continue;
        UNSCOPED_INFO("left: " << entry.path());
        return false;
    }
    return true;
}

/** One start, killed at an operation unless that is 0. */
bool Builds(const Path& dir, const OwnHintsOptions& own, uint64_t crash_at = 0)
{
    Start start(dir, own);
    if (crash_at) start.env.CrashAt(crash_at);
    const auto outcome = start.Run();
    start.machine.Close();
    return outcome.Ok() && *outcome == VerdictKind::kDone;
}

/** Starts that die, the last somewhere between the join's end and that of the fold. */
void DieBehindJoin(const Path& dir, const Path& hints)
{
    for (uint64_t at = 6'000; !std::filesystem::exists(hints); at += 50) {
        REQUIRE_FALSE(Builds(dir, Own(Mode::kAsked), at));
    }
}

} // namespace

TEST_CASE("own hints: stored and missing blocks in any mixture, and a death at any operation")
{
    const TempDir dir{MemoryFolder()};
    SyncDespiteDeaths(
        dir.Get(), Own(Mode::kAsked), [](BoosterSession&) { return Result<>(); },
        [](Machine& machine) { CHECK(LeavesNothing(machine)); });
}

TEST_CASE("full validation from blocks alone: a death at any operation, and blocks that are lost")
{
    const TempDir dir{MemoryFolder()};
    const uint64_t seed = TestRng()();
    CAPTURE(seed);
    sim::Rng rng(seed);
    const auto log = MakeNullLogger();
    Deaths deaths(rng);
    for (int round = 0; round < 12; ++round) {
        CAPTURE(round);
        Machine machine(TheWorld(), dir / fmt::format("{}", round));
        OwnHintsOptions own = Own(Mode::kAsked);
        own.undo = round % 4 < 3 ? UndoWanted::kYes : UndoWanted::kNo;
        deaths.DieUntilDone(machine, [&](FaultEnv& env, int start) -> Result<> {
            BoosterOptions options = OneThread(machine);
            options.full_validation = true;
            BoosterSession booster(env, *log, TheWorld().params, {.booster = options, .own = own});
            const bool loses = start > 0 && rng.Chance(1, 3);
            if (loses) machine.LoseBlocks();
            IBD_RETURN_IF_ERROR(machine.Open(env));
            if (loses) IBD_RETURN_IF_ERROR(machine.StoreSome(rng));
            if (round % 2 && !loses) IBD_RETURN_IF_ERROR(machine.StoreAll());
            return SyncWithPeers(machine, booster, rng);
        });
        FaultEnv env;
        Must(machine.Open(env));
        Must(machine.Attach());
        CHECK(machine.Chain().Tip()->height > 0);
        CHECK(UndoRun::IsNeeded(machine.Chain()) == (own.undo == UndoWanted::kNo));
        CHECK(Must(VerifyChain(machine.Chain(), own.undo == UndoWanted::kNo ? 1 : 4, 0)).sound);
        CHECK(LeavesNothing(machine));
        machine.Close();
    }
    CHECK(deaths.Count() > 0);
}

TEST_CASE("own hints: each operation on their files fails once, and the next start makes good")
{
    const TempDir dir{MemoryFolder()};
    const auto run = [&](Machine& machine, FaultEnv& env) -> Result<VerdictKind> {
        const auto log = MakeNullLogger();
        BoosterSession booster(env, *log, TheWorld().params,
                               {.booster = OneThread(machine), .own = Own(Mode::kAsked)});
        IBD_RETURN_IF_ERROR(machine.Open(env));
        IBD_RETURN_IF_ERROR(machine.StoreAll());
        booster.Attach(machine.Chain());
        return booster.Run();
    };
    const auto is_ours = [](const FaultEnv::Operation& operation) {
        return operation.path.string().find("own.hints") != std::string::npos;
    };
    size_t failures = 0;
    for (size_t fail_at = 0;; ++fail_at) {
        Machine machine(TheWorld(), dir / fmt::format("{}", fail_at));
        FaultEnv env;
        size_t count = 0;
        bool failed = false;
        env.SetScript([&](const FaultEnv::Operation& operation) {
            return is_ours(operation) && count++ == fail_at && (failed = true);
        });
        const auto outcome = run(machine, env);
        machine.Close();
        if (!failed) break;
        CAPTURE(fail_at);
        if (!outcome) {
            ++failures;
            CHECK(outcome.GetError().kind == Error::Kind::kSystem);
            FaultEnv sound;
            CHECK(Must(run(machine, sound)) == VerdictKind::kDone);
            machine.Close();
        }
        machine.RequireRight();
        CHECK(LeavesNothing(machine));
    }
    CHECK(failures > 10);
}

TEST_CASE("undo data: after a death at any operation the next start ends with the right files")
{
    const TempDir dir{MemoryFolder()};
    const uint64_t seed = TestRng()();
    CAPTURE(seed);
    sim::Rng rng(seed);
    Deaths deaths(rng);
    for (int round = 0; round < 10; ++round) {
        CAPTURE(round);
        Machine machine(TheWorld(), dir / fmt::format("{}", round));
        const auto log = MakeNullLogger();
        {
            FaultEnv env;
            Must(machine.Open(env));
            Must(machine.StoreAll());
            BoosterSession booster(env, *log, TheWorld().params,
                                   {.booster = OneThread(machine), .own = Own(Mode::kAsked)});
            booster.Attach(machine.Chain());
            Must(booster.Run());
            machine.Close();
        }
        deaths.DieUntilDone(machine, [&](FaultEnv& env, int) -> Result<> {
            IBD_RETURN_IF_ERROR(machine.Open(env));
            IBD_RETURN_IF_ERROR(machine.Attach());
            return MakeUndo(machine, env, *log);
        });
        FaultEnv env;
        Must(machine.Open(env));
        Must(machine.Attach());
        CHECK_FALSE(UndoRun::IsNeeded(machine.Chain()));
        CHECK(Must(VerifyChain(machine.Chain(), 4, 0)).sound);
        CHECK(LeavesNothing(machine));
        machine.RequireCoins();
    }
    CHECK(deaths.Count() > 0);
}

// The steps that are planned at first are all that come, and the last one is reached.
TEST_CASE("progress: steps for undo data are planned with the sync")
{
    using Undo = UndoWanted;
    const struct {
        Undo undo;
        bool first;
        bool full;
    } cases[] = {{Undo::kNo, false, false},
                 {Undo::kIfRoom, false, false},
                 {Undo::kYes, true, false},
                 {Undo::kIfRoom, false, true}};
    for (const auto& [undo, first, full] : cases) {
        for (const bool given : {false, true}) {
            CAPTURE(undo, first, full, given);
            const TempDir dir{MemoryFolder()};
            Machine machine(TheWorld(), dir / "node");
            FaultEnv env;
            env.SetSpace(uint64_t{1} << 40);
            const auto log = MakeNullLogger();
            OverallProgress overall(env);
            OwnHintsOptions own = Own(Mode::kAsked);
            own.undo = undo;
            own.undo_first = first;
            BoosterOptions options = machine.Options();
            options.full_validation = full;
            options.progress.overall = &overall;
            BoosterSession booster(env, *log, TheWorld().params, {.booster = options, .own = own});
            Must(machine.Open(env));
            Must(machine.StoreAll());
            if (given) Must(GiveHints(booster));
            booster.Attach(machine.Chain());
            REQUIRE(Must(booster.Run()) == VerdictKind::kDone);
            const size_t planned = overall.Now()->steps;
            Must(machine.Attach());
            Must(booster.MakeUndo());
            CHECK(overall.Now()->steps == planned);
            CHECK(overall.Now()->step == planned);
            const bool writes = first || undo == Undo::kIfRoom;
            const bool before_load = full || (first && !given);
            CHECK((overall.Now()->kind == WorkStep::kWriteUndo) == (writes && !before_load));
        }
    }
}

// A call may come at any moment: never between the first step and the others.
TEST_CASE("progress: a survey appears with all its steps at once")
{
    const TempDir dir{MemoryFolder()};
    Machine machine(TheWorld(), dir / "node");
    FaultEnv env;
    const auto log = MakeNullLogger();
    OverallProgress overall(env);
    BoosterOptions options = machine.Options();
    options.progress.overall = &overall;
    BoosterSession booster(env, *log, TheWorld().params,
                           {.booster = options, .own = Own(Mode::kAsked)});
    Must(machine.Open(env));
    booster.Attach(machine.Chain());
    std::set<size_t> seen;
    std::jthread caller([&](const std::stop_token& stop) {
        while (!stop.stop_requested()) {
            if (const auto now = overall.Now()) seen.insert(now->steps);
        }
    });
    for (int i = 0; i < 20'000; ++i) {
        booster.PlanSurvey(1'000'000);
        overall.End();
    }
    booster.PlanSurvey(1'000'000);
    const size_t planned = overall.Now()->steps;
    caller.request_stop();
    caller.join();
    seen.insert(planned);
    CHECK(planned > 1);
    CHECK(seen == std::set{planned});
}

TEST_CASE("own hints: unasked only where it is worth it, and there is a network")
{
    const TempDir dir{MemoryFolder()};
    SECTION("a chain that is known to be large is fetched")
    {
        Start start(dir / "node", Own(Mode::kDefault));
        start.params.assumed_blockchain_size_gb = 20;
        CHECK(Must(start.Run()) == VerdictKind::kDone);
        CHECK(start.begun == 1);
        start.machine.RequireRight();
    }
    SECTION("not a small one")
    {
        Start start(dir / "node", Own(Mode::kDefault));
        start.params.assumed_blockchain_size_gb = 1;
        CHECK(Must(start.Run()) == VerdictKind::kSerial);
        CHECK(start.asked == 0);
    }
    SECTION("not when the part below the assumed-valid block is small")
    {
        Start start(dir / "node", Own(Mode::kDefault));
        start.params.assumed_blockchain_size_gb = 2; // 200 blocks of 2,300
        CHECK(Must(start.Run()) == VerdictKind::kSerial);
        CHECK(start.asked == 1);
        CHECK(start.begun == 0);
    }
    SECTION("not without a network")
    {
        Start start(dir / "node", Own(Mode::kDefault));
        start.params.assumed_blockchain_size_gb = 20;
        start.network = false;
        CHECK(Must(start.Run()) == VerdictKind::kSerial);
        CHECK(start.begun == 0);
    }
    SECTION("never, if that was said")
    {
        Start start(dir / "node", Own(Mode::kOff));
        start.params.assumed_blockchain_size_gb = 20;
        CHECK(Must(start.Run()) == VerdictKind::kSerial);
        CHECK(start.asked == 0);
    }
    SECTION("asked for in vain, it says why")
    {
        Start start(dir / "node", Own(Mode::kAsked));
        start.network = false;
        const auto outcome = start.Run();
        REQUIRE_FALSE(outcome);
        CHECK_THAT(outcome.Message(), Catch::Contains("assumevalid hash not in headers"));
    }
}

TEST_CASE("own hints: unasked only where there is room for what comes of them")
{
    const TempDir dir{MemoryFolder()};
    SECTION("for the blocks alone")
    {
        Start start(dir / "node", Own(Mode::kDefault));
        start.params.assumed_blockchain_size_gb = 20;
        start.env.SetSpace(uint64_t{20} << 30); // for the blocks, but not for more
        CHECK(Must(start.Run()) == VerdictKind::kSerial);
        CHECK(start.asked == 0);
    }
    for (const UndoWanted undo : {UndoWanted::kNo, UndoWanted::kIfRoom, UndoWanted::kYes}) {
        DYNAMIC_SECTION("with room, if not for undo data, wanted: " << static_cast<int>(undo))
        {
            OwnHintsOptions own = Own(Mode::kDefault);
            own.undo = undo;
            Start start(dir / "node", own);
            start.params.assumed_blockchain_size_gb = 20;
            start.env.SetSpace(uint64_t{24} << 30);
            const bool serial = undo == UndoWanted::kYes;
            CHECK(Must(start.Run()) == (serial ? VerdictKind::kSerial : VerdictKind::kDone));
        }
    }
    for (const bool checks : {true, false}) {
        DYNAMIC_SECTION("with room, if not for checks, wanted: " << checks)
        {
            OwnHintsOptions own = Own(Mode::kDefault);
            own.checks = checks;
            Start start(dir / "node", own);
            start.params.assumed_blockchain_size_gb = 20;
            start.env.SetSpace(uint64_t{22} << 30);
            CHECK(Must(start.Run()) == (checks ? VerdictKind::kSerial : VerdictKind::kDone));
        }
    }
}

TEST_CASE("own hints: pairs are kept by default where there is room for undo data as well")
{
    const TempDir dir{MemoryFolder()};
    // With 200 blocks of 8.7 MB, 2,000 MiB would suffice only for the pairs.
    for (const uint64_t room : {1'700, 2'000, 3'000}) {
        OwnHintsOptions own = Own(Mode::kAsked);
        own.undo = UndoWanted::kIfRoom;
        Start start(dir / fmt::format("{}", room), own);
        start.params.assumed_blockchain_size_gb = 20;
        start.env.SetSpace(room << 20);
        CHECK(Must(start.Run()) == VerdictKind::kDone);
        const Path state = UndoFolder(start.machine.Booster()) / "join.dat";
        CHECK(std::filesystem::exists(state) == (room == 3'000));
    }
}

TEST_CASE("own hints: the memory of failed hints does not count against new ones")
{
    const TempDir dir{MemoryFolder()};
    Uint256 id;
    BlockHash terminal;
    {
        Start start(dir / "first", Own(Mode::kAsked));
        start.hooks.own_hints_proven = [&](const Hints& hints, const BlockHash& hash) {
            id = hints.Info().id;
            terminal = hash;
        };
        REQUIRE(Must(start.Run()) == VerdictKind::kDone);
    }
    Start start(dir / "second", Own(Mode::kAsked));
    const Path folder = start.machine.Booster();
    Must(start.env.CreateDirectories(folder));
    Must(RememberBadHints(start.env, folder, id, terminal, "once"));
    CHECK(Must(start.Run()) == VerdictKind::kDone);
    CHECK(Must(KnownBadHints(start.env, folder, id, terminal)));
    start.machine.RequireRight();
}

TEST_CASE("own hints: work that was begun is gone on with unasked, whatever the room")
{
    const TempDir dir{MemoryFolder()};
    {
        Start start(dir / "node", Own(Mode::kAsked));
        start.env.CrashAt(6'000);
        CHECK_FALSE(start.Run());
        start.machine.Close();
        REQUIRE(std::filesystem::exists(start.machine.Booster() / "join.dat"));
    }
    OwnHintsOptions own = Own(Mode::kDefault);
    own.undo = UndoWanted::kIfRoom; // the join was begun without pairs
    Start start(dir / "node", own);
    CHECK(Must(start.Run()) == VerdictKind::kDone);
    CHECK_FALSE(std::filesystem::exists(UndoFolder(start.machine.Booster())));
    start.machine.RequireRight();
}

TEST_CASE("own hints: a start without a network leaves a sync that began with one")
{
    const TempDir dir{MemoryFolder()};
    OwnHintsOptions own = Own(Mode::kAsked);
    Path state;
    uint32_t read = 0;
    {
        Start start(dir / "node", own);
        state = start.machine.Booster() / "join.dat";
        int saved = 0;
        start.env.SetScript([&](const FaultEnv::Operation& operation) {
            return operation.path == state.string() + ".new" && ++saved == 40;
        });
        CHECK_FALSE(start.Run());
        start.machine.Close();
        read = Must(LoadJoinState(start.env, state.parent_path()))->BlocksRead();
        REQUIRE(read > 1);
    }
    {
        const bool asked = GENERATE(false, true);
        own.mode = asked ? Mode::kAsked : Mode::kDefault;
        Start start(dir / "node", own);
        start.network = false;
        const auto outcome = start.Run();
        start.machine.Close();
        if (asked) {
            REQUIRE_FALSE(outcome);
            CHECK(outcome.Message().find("Start with a network") != std::string::npos);
        } else {
            CHECK(Must(outcome) == VerdictKind::kSerial);
            CHECK(start.log.Text().find("hints up to height") != std::string::npos);
        }
        CHECK(Must(LoadJoinState(start.env, state.parent_path()))->BlocksRead() == read);
    }
    own.mode = Mode::kAsked;
    Start start(dir / "node", own);
    CHECK(Must(start.Run()) == VerdictKind::kDone);
    CHECK_FALSE(start.log.Line("Join: resuming").empty());
    start.machine.RequireRight();
}

TEST_CASE("own hints: work that was stopped is gone on with unasked, whatever undo data is wanted")
{
    const TempDir dir{MemoryFolder()};
    const bool pairs = GENERATE(false, true);
    const auto later = GENERATE(UndoWanted::kNo, UndoWanted::kIfRoom, UndoWanted::kYes);
    const bool first = later == UndoWanted::kYes && GENERATE(false, true);
    CAPTURE(pairs, later, first);
    OwnHintsOptions own = Own(Mode::kAsked);
    own.undo = pairs ? UndoWanted::kYes : UndoWanted::kNo;
    Path state;
    {
        Start start(dir / "node", own);
        const Path folder = start.machine.Booster();
        state = (pairs ? UndoFolder(folder) : folder) / "join.dat";
        int saved = 0;
        start.env.SetScript([&](const FaultEnv::Operation& operation) {
            // With some blocks read.
            if (operation.path == state.string() + ".new" && ++saved == 8) {
                start.booster.Interrupt();
            }
            return false;
        });
        CHECK(Must(start.Run()) == VerdictKind::kInterrupted);
        start.machine.Close();
        REQUIRE(std::filesystem::exists(state));
    }
    const auto left = Must(LoadJoinState(*MakePosixEnv(), state.parent_path()));
    REQUIRE(left);
    REQUIRE(left->stage == JoinStage::kReading);
    own.mode = Mode::kDefault;
    own.undo = later;
    own.undo_first = first;
    Start start(dir / "node", own);
    CHECK(Must(start.Run()) == VerdictKind::kDone);
    // Undo data that is to be there first is made of pairs.
    const bool lost = first && !pairs;
    const std::string log = start.log.Text();
    CHECK(log.substr(log.find("Join:")).starts_with("Join: resuming") == !lost);
    CHECK((log.find("an unfinished join, with") != std::string::npos) == lost);
    const bool kept = std::filesystem::exists(UndoFolder(start.machine.Booster()));
    if (!first) CHECK(kept == (pairs && later != UndoWanted::kNo));
    start.machine.RequireRight();
}

TEST_CASE("own hints: what the join found spares the fold its checks, if it is whole")
{
    const TempDir dir{MemoryFolder()};
    const Path node = dir / "node";
    Machine machine(TheWorld(), node);
    const Path state = machine.Booster() / "join.dat";
    const Path hints = machine.Booster() / "own.hints";
    FaultEnv env;
    DieBehindJoin(node, hints);
    const auto kept = Must(LoadJoinState(env, machine.Booster()));
    REQUIRE(kept);
    REQUIRE(FirstPassOf(*kept));
    SECTION("it is used") {}
    SECTION("the state is damaged")
    {
        Bytes bytes = Must(ReadWholeFile(env, state));
        bytes[bytes.size() / 2] ^= 1;
        Must(WriteFileAtomically(env, state, bytes));
    }
    SECTION("it is gone") { std::filesystem::remove(state); }
    SECTION("it died before the spills were removed")
    {
        JoinState early = *kept;
        early.stage = JoinStage::kReading;
        Must(SaveJoinState(env, machine.Booster(), early));
    }
    SECTION("the hints are gone") { std::filesystem::remove(hints); }
    CHECK(Builds(node, Own(Mode::kAsked)));
    machine.RequireRight();
    CHECK(LeavesNothing(machine));
}

TEST_CASE("own hints: a death between hints and noted pairs leaves the pairs to undo data")
{
    const TempDir dir{MemoryFolder()};
    OwnHintsOptions own = Own(Mode::kAsked);
    own.undo = UndoWanted::kYes;
    {
        Start start(dir / "node", own);
        const Path booster = start.machine.Booster();
        start.env.SetScript([&](const FaultEnv::Operation& operation) {
            return operation.path == UndoFolder(booster) / "join.dat.new" &&
                   std::filesystem::exists(booster / "own.hints");
        });
        CHECK_FALSE(start.Run());
        start.machine.Close();
        const auto left = Must(LoadJoinState(start.env, UndoFolder(booster)));
        REQUIRE(left);
        REQUIRE(left->stage == JoinStage::kReading);
    }
    Start start(dir / "node", own);
    CHECK(Must(start.Run()) == VerdictKind::kDone);
    Must(start.machine.Attach());
    Must(MakeUndo(start.machine, start.env, start.log));
    CHECK(start.log.Line("Join: resuming").starts_with("Join: resuming: 201 of 201 blocks"));
    CHECK_FALSE(UndoRun::IsNeeded(start.machine.Chain()));
    CHECK(LeavesNothing(start.machine));
}

TEST_CASE("own hints: a join that found a rule broken is followed, whether checks are asked or not")
{
    const TempDir dir{MemoryFolder()};
    const Path node = dir / "node";
    Machine machine(TheWorld(), node);
    FaultEnv env;
    DieBehindJoin(node, machine.Booster() / "own.hints");
    auto kept = Must(LoadJoinState(env, machine.Booster()));
    REQUIRE(kept);
    REQUIRE(kept->rules_kept == true);
    const std::string followed = "checking every rule but scripts of blocks 1 to ";
    OwnHintsOptions own = Own(Mode::kAsked);
    own.checks = GENERATE(true, false);
    const bool broken = GENERATE(true, false);
    CAPTURE(own.checks, broken);
    kept->rules_kept = !broken; // its word is no more than that: another look may clear the chain
    Must(SaveJoinState(env, machine.Booster(), *kept));

    Start start(node, own);
    CHECK(Must(start.Run()) == VerdictKind::kDone);
    CHECK((start.log.Text().find(followed) != std::string::npos) == broken);
    start.machine.Close();
    machine.RequireRight();
}

TEST_CASE("the gate for own hints: the highest block that is there, assumed valid and buried")
{
    const ChainParams params = MakeChainParams(Network::kRegtest);
    HeaderTree tree(params);
    const auto extend = [&](HeaderNode* node, int count, uint32_t version = 1) {
        for (int i = 0; i < count; ++i) {
            BlockHeader header;
            header.version = static_cast<int32_t>(version);
            header.prev_hash = node->hash;
            header.bits = node->bits;
            header.time = node->time + 600;
            node = tree.Insert(header, header.Hash());
        }
        return node;
    };
    const int64_t later = 2'000'000'000;
    HeaderNode* const assumed = extend(tree.Genesis(), 100);
    ChainManagerOptions trust;
    trust.assume_valid = assumed->hash;
    const auto find = [&](int missing = 0, int64_t now = 2'000'000'000, bool full = false) {
        return FindOwnTerminal(tree, trust, full, now, [=](const HeaderNode& node) {
            return missing == 0 || node.height != missing;
        });
    };
    const auto reach = [&](int64_t now) {
        return FindOwnTerminal(tree, trust, false, now, nullptr);
    };
    // Nothing is buried yet.
    CHECK(find().terminal == nullptr);
    CHECK(find().may_change);
    CHECK_THAT(find().refusal, Catch::Contains("too recent"));
    HeaderNode* best = extend(assumed, 1'950);
    CHECK(find().terminal == best->Ancestor(best->height - 2'017));
    CHECK(reach(later).may_change);
    CHECK_FALSE(reach(best->time).may_change);
    best = extend(best, 100);
    CHECK(find().terminal == assumed);
    CHECK_FALSE(reach(later).may_change);
    // A block is missing.
    CHECK(find(60).terminal == assumed->Ancestor(59));
    CHECK(find(101).terminal == assumed);
    CHECK(find(1).terminal == nullptr);
    CHECK_THAT(find(1).refusal, Catch::Contains("nothing for -ibdbooster to do"));
    // With full validation, or with no assumed-valid block, any stored one will do.
    CHECK(find(0, later, true).terminal == best);
    CHECK(find(2'010, later, true).terminal == best->Ancestor(2'009));
    trust.assume_valid = BlockHash{};
    CHECK(find().terminal == best);
    CHECK_FALSE(find().may_change);
    // On another branch than the best: up to where they part.
    HeaderNode* const other = extend(assumed->Ancestor(50), 20, 2);
    trust.assume_valid = other->hash;
    CHECK(find().terminal == assumed->Ancestor(50));
    // Too little work, or not known.
    trust.minimum_work = best->chain_work + Arith256(1);
    CHECK(find().terminal == nullptr);
    CHECK(find().may_change);
    trust.minimum_work = Arith256();
    trust.assume_valid = BlockHash(Uint256::FromHex(std::string(64, '7')).value());
    CHECK(find().terminal == nullptr);
    CHECK_THAT(find().refusal, Catch::Contains("assumevalid hash not in headers"));
}

} // namespace ibd::test
