// Undo data from blocks alone, on a chain that keeps every rule: it equals the serial engine's,
// byte for byte, for each set of checks. Scripts are run only on request.
#include "setup.h"

#include "script/opcodes.h"
#include "sim/fault_env.h"
#include "support/undo_record.h"

using namespace ibd;
using namespace ibd::test;
using Catch::Contains;

namespace {

/** Holds each record against the serial engine's. */
class Comparing final : public UndoConsumer {
public:
    explicit Comparing(const FullSetup& setup, int first = 1) : m_setup(setup), m_last(first - 1) {}

    Result<> Take(const HeaderNode& node, const UndoRecord& undo) override
    {
        m_equal = m_equal && node.height == ++m_last &&
                  Together(undo) == m_setup.UndoAt(node.height).Encode();
        return {};
    }
    Result<> End() override
    {
        m_ended = true;
        return {};
    }
    bool AllEqual() const { return m_equal && m_ended && m_last == m_setup.Height(); }

private:
    const FullSetup& m_setup;
    int m_last;
    bool m_equal = true;
    bool m_ended = false;
};

/** The rules are checked with the coins that the join itself has; some do not fit into its table.
 */
UndoOptions ValueOptions(const FullSetup& setup)
{
    UndoOptions options = setup.RebuildOptions(UndoChecks::kRules);
    options.records = false;
    options.join.values = true;
    options.join.memory_bytes = 1 << 16;
    return options;
}

} // namespace

TEST_CASE("Undo data from blocks alone is the serial engine's, whatever is checked")
{
    FullSetup setup({.seed = 45, .blocks = 160, .outputs_per_block = 60, .signed_spends = true});
    for (const auto checks : {UndoChecks::kNone, UndoChecks::kRules, UndoChecks::kScripts}) {
        for (const unsigned threads : {1u, 3u}) {
            UndoOptions options = setup.RebuildOptions(checks);
            options.join.threads = threads;
            options.join.background = threads > 1;
            options.oversized_bytes = threads > 1 ? 500 : kOversizedUndoBytes;
            Comparing consumer(setup);
            REQUIRE(Must(setup.Rebuild({}, options, consumer)).kind == VerdictKind::kDone);
            REQUIRE(consumer.AllEqual());
        }
    }
}

TEST_CASE("When blocks are only checked, their consumer gets each block, without a record")
{
    class Counting final : public UndoConsumer {
    public:
        Result<> Take(const HeaderNode& node, const UndoRecord& undo) override
        {
            in_order = in_order && node.height == ++last && undo.Size() == 0;
            return {};
        }
        Result<> End() override { return {}; }
        int last = 0;
        bool in_order = true;
    };
    FullSetup setup({.seed = 45, .blocks = 160, .outputs_per_block = 60, .signed_spends = true});
    for (const auto checks : {UndoChecks::kRules, UndoChecks::kScripts}) {
        UndoOptions options = setup.RebuildOptions(checks);
        options.records = false;
        options.oversized_bytes = 500;
        Counting consumer;
        REQUIRE(Must(setup.Rebuild({}, options, consumer)).kind == VerdictKind::kDone);
        CHECK(consumer.in_order);
        CHECK(consumer.last == setup.Height());
        DraftBlock draft = setup.NextDraft();
        draft.Coinbase().outputs[0].value = 5'000 * kCoin;
        const Bytes block = draft.Seal(setup.TipHash(), setup.Params());
        Counting until;
        const auto refused = Must(setup.Rebuild({block}, options, until));
        CHECK(refused.kind == VerdictKind::kBlockInvalid);
        CHECK_THAT(refused.reason, Contains("bad-cb-amount"));
        CHECK(until.last == setup.Height());
    }
}

TEST_CASE("Undo data of the last blocks is the serial engine's, with pairs that a join kept or not")
{
    FullSetup setup({.seed = 47, .blocks = 160, .outputs_per_block = 60, .signed_spends = true});
    UndoOptions options = setup.RebuildOptions(UndoChecks::kScripts);
    for (const bool kept : {false, true}) {
        if (kept) REQUIRE(Must(setup.KeepPairs(options)).kind == VerdictKind::kDone);
        for (const int first : {1, 101, setup.Height() - 20, setup.Height()}) {
            for (const unsigned threads : {1u, 3u}) {
                CAPTURE(kept, first, threads);
                options.first_height = first;
                options.join.threads = threads;
                options.join.background = threads > 1;
                Comparing last(setup, first);
                REQUIRE(Must(setup.RebuildLast(options, last)).kind == VerdictKind::kDone);
                REQUIRE(last.AllEqual());
            }
        }
    }
    // The pairs are there for the rest.
    options.first_height = 1;
    Comparing all(setup);
    REQUIRE(Must(setup.Rebuild({}, options, all)).kind == VerdictKind::kDone);
    REQUIRE(all.AllEqual());
}

TEST_CASE("Undo data of coins that were found while blocks were folded is the serial engine's")
{
    FullSetup setup({.seed = 48, .blocks = 160, .outputs_per_block = 60, .signed_spends = true});
    UndoOptions options = setup.RebuildOptions(UndoChecks::kScripts);
    for (const int first : {1, 101, setup.Height() - 20, setup.Height()}) {
        for (const unsigned threads : {1u, 3u}) {
            CAPTURE(first, threads);
            options.first_height = first;
            options.join.threads = threads;
            options.join.background = threads > 1;
            auto found = setup.FindWhileFolding(options);
            REQUIRE(found);
            Comparing last(setup, first);
            const auto verdict = setup.RebuildLast(options, last, std::move(found));
            REQUIRE(Must(verdict).kind == VerdictKind::kDone);
            REQUIRE(last.AllEqual());
        }
    }
}

TEST_CASE("A failing script is found if scripts are asked for, after all blocks below it")
{
    FullSetup setup({.seed = 46, .outputs_per_block = 30});
    DraftBlock draft = setup.NextDraft();
    draft.txs.resize(2);
    for (MutableOutput& output : draft.Coinbase().outputs) output.value = 0;
    draft.txs[1].outputs.assign(1, {10, {OP_0}});
    MutableTransaction bad;
    bad.inputs.push_back({{draft.txs[1].Id(), 0}, {}, 0xffffffff, {}});
    bad.outputs.push_back({1, {OP_1}});
    draft.txs.push_back(bad);
    const Bytes block = draft.Seal(setup.TipHash(), setup.Params());
    Comparing consumer(setup);
    const auto refused =
        Must(setup.Rebuild({block}, setup.RebuildOptions(UndoChecks::kScripts), consumer));
    CHECK(refused.kind == VerdictKind::kBlockInvalid);
    CHECK(refused.height == setup.Height() + 1);
    CHECK_THAT(refused.reason, Contains("block-script-verify-flag-failed") &&
                                   Contains("input 0 of " + bad.Id().ToHex()));
    CHECK(consumer.AllEqual());
    NoConsumer nobody;
    const auto assumed =
        Must(setup.Rebuild({block}, setup.RebuildOptions(UndoChecks::kRules), nobody));
    CHECK(assumed.kind == VerdictKind::kDone);
}

TEST_CASE("Whether blocks keep the rules comes out the same after any crash or failing operation",
          "[keystone]")
{
    FullSetup setup({.seed = 49, .blocks = 130, .outputs_per_block = 20});
    UndoOptions options = ValueOptions(setup);
    options.join.checkpoint_bytes = 4'000;
    DraftBlock draft = setup.NextDraft();
    draft.Coinbase().outputs[0].value = 5'000 * kCoin;
    const std::vector<Bytes> bad = {draft.Seal(setup.TipHash(), setup.Params())};
    for (const bool broken : {false, true}) {
        const auto run = [&](Env& env) {
            NoConsumer nobody;
            return setup.RebuildIn(env, broken ? bad : std::vector<Bytes>(), options, nobody);
        };
        const auto require_right = [&](const Result<JoinVerdict>& verdict) {
            REQUIRE(Must(verdict).rules_kept == !broken);
            REQUIRE((verdict->kind == VerdictKind::kDone) == !broken);
        };
        FaultEnv counting(1);
        require_right(run(counting));
        int resumed = 0;
        for (int round = 0; round < 60; ++round) {
            const uint64_t point = TestRng().Below(counting.Operations());
            const bool dies = TestRng().Below(2) == 0;
            CAPTURE(broken, round, point, dies);
            FaultEnv env(point);
            if (dies) {
                env.CrashAt(point);
            } else {
                env.SetScript([&](const auto& op) { return op.number == point; });
            }
            const auto outcome = run(env);
            if (outcome) require_right(outcome); // its salt made for fewer spills
            if (!outcome) REQUIRE(outcome.GetError().kind == Error::Kind::kSystem);
            if (dies) env.LoseUnsynced();
            resumed += std::filesystem::exists(options.join.directory / "join.dat");
            FaultEnv after(point + 1);
            require_right(run(after));
        }
        CHECK(resumed > 20);
    }
}

TEST_CASE("Bit rot in what the rules are held against is noticed, and the join starts over",
          "[keystone]")
{
    FullSetup setup({.seed = 50, .blocks = 130, .outputs_per_block = 20});
    UndoOptions options = ValueOptions(setup);
    const auto is_spill = [](const Path& path) {
        return path.filename().string().starts_with("spill");
    };
    NoConsumer nobody;
    FaultEnv counting;
    uint64_t reads = 0;
    counting.CorruptReads([&](const Path& path) {
        reads += is_spill(path);
        return false;
    });
    REQUIRE(Must(setup.RebuildIn(counting, {}, options, nobody)).rules_kept);
    REQUIRE(reads > 0);
    for (uint64_t at = 1; at <= reads; at += 1 + reads / 60) {
        CAPTURE(at, reads);
        FaultEnv env;
        uint64_t read = 0;
        env.CorruptReads([&](const Path& path) { return is_spill(path) && ++read == at; });
        REQUIRE(Must(setup.RebuildIn(env, {}, options, nobody)).rules_kept);
    }
}
