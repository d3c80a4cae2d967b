// Full validation as a way to run the engine: same chainstate as serial validation with any
// threads, aggregate and loader; checkpoints are not shared with the other mode.
#include "setup.h"

#include "join/spent_rules.h"
#include "support/testdata.h"
#include "swiftsync/checkpoint.h"
#include "swiftsync/full_validation.h"

#include <deque>

using namespace ibd;
using namespace ibd::test;

TEST_CASE("Full validation: the chainstate of serial validation, with signatures")
{
    auto& rng = TestRng();
    for (const bool with_signatures : {false, true}) {
        FullSetup setup({.seed = rng(),
                         .blocks = 130,
                         .outputs_per_block = 25,
                         .signed_spends = with_signatures});
        for (const unsigned threads : {1u, 2u, 3u}) {
            for (const auto aggregate : {AggregateKind::kSha256, AggregateKind::kMuHash}) {
                CAPTURE(with_signatures, threads, int(aggregate));
                const auto tune = [&](BoosterOptions& options) {
                    options.threads = threads;
                    options.background = threads > 1;
                    options.aggregate = aggregate;
                    options.memory_bytes = size_t{1} << (13 + rng() % 8);
                    options.checkpoint_bytes = rng() % 2 ? 20'000 : uint64_t{1} << 40;
                    options.loader = rng() % 2 ? LoaderKind::kTable : LoaderKind::kBatch;
                };
                RequireAccepted(setup.Full({}, nullptr, tune));
                const Coins published = setup.Published();
                REQUIRE(published == setup.SerialCoins());
                REQUIRE(published == setup.TipCoins());
                setup.Reset();
            }
        }
    }
}

TEST_CASE("Full validation: above the last known block no signature is verified in a batch")
{
    FullSetup setup({.outputs_per_block = 25, .signed_spends = true});
    constexpr int kKnown = 120;
    FullValidation by_undo(setup.Params(), setup.Store(), LanesMode::kOn, kKnown);
    UndoOptions options = setup.RebuildOptions(UndoChecks::kScripts);
    options.known_height = kKnown;
    SpentRules by_join(setup.Params(), setup.Store(), options);
    size_t in_batches = 0, inputs_above = 0;
    for (int height = 1; height <= setup.Height(); ++height) {
        CAPTURE(height);
        const HeaderNode& node = setup.NodeAt(height);
        const Bytes& raw = setup.Blocks()[static_cast<size_t>(height) - 1];
        BlockView view;
        PlainBlock plain;
        REQUIRE((view.Parse(raw).Ok() && plain.Parse(raw)));
        std::deque<Bytes> coins;
        for (const TxUndo& tx : setup.UndoAt(height).txs) {
            for (const Coin& coin : tx.spent) {
                AppendSpentCoin(coins.emplace_back(), coin.value, coin.script, coin.height,
                                coin.coinbase);
            }
        }
        REQUIRE_FALSE(Must(by_undo.Check(view, node)));
        const std::vector<ByteSpan> spent(coins.begin(), coins.end());
        REQUIRE_FALSE(Must(by_join.Check(node, plain, spent)));
        const size_t proven = by_undo.Scripts().Budget().Proven();
        CHECK(by_join.Scripts().Budget().Proven() == proven);
        (height <= kKnown ? in_batches : inputs_above) += height <= kKnown ? proven : coins.size();
        if (height > kKnown) CHECK(proven == 0);
    }
    CHECK(in_batches > 100);
    CHECK(inputs_above > 20);
}

namespace {

/** Saves a checkpoint that falsely says that all is folded: a run that resumes from it gets wrong
 *  totals. `setup` has run once. */
void SaveFalseCheckpoint(FullSetup& setup, bool full, uint32_t known_height = 0)
{
    setup.Reset();
    Checkpoint kept;
    kept.network_magic = setup.Params().magic;
    kept.full_validation = full;
    kept.known_height = known_height;
    kept.terminal_height = static_cast<uint32_t>(setup.Height());
    kept.terminal_hash = setup.TipHash();
    const auto hints = Must(OpenHints(setup.GetEnv(), setup.Booster().parent_path() / "hints"));
    kept.hints_id = hints->Info().id;
    kept.rules = FoldRulesId({hints->Info().counting, {}}, 0, setup.Params().consensus);
    kept.sum = MakeAggregate(kept.aggregate, kept.salt)->Serialize();
    kept.folded = HeightSet(kept.terminal_height);
    for (uint32_t h = 1; h <= kept.terminal_height; ++h) kept.folded.Insert(h);
    std::filesystem::create_directories(setup.Booster());
    Must(SaveCheckpoint(setup.GetEnv(), setup.Booster(), kept));
}

} // namespace

TEST_CASE("Full validation: a checkpoint of one mode is not continued in the other")
{
    FullSetup setup({.seed = 31});
    const auto run = [&](bool full) {
        return setup.Full({}, nullptr,
                          [&](BoosterOptions& options) { options.full_validation = full; });
    };
    for (const bool first : {true, false}) {
        RequireAccepted(run(first));
        SaveFalseCheckpoint(setup, first);
        const auto other = run(!first);
        RequireAccepted(other);
        REQUIRE(setup.Published() == setup.TipCoins());
        SaveFalseCheckpoint(setup, first);
        const auto same = Must(run(first));
        REQUIRE(same.kind == VerdictKind::kHintsWrong);
        setup.Reset();
    }
}

TEST_CASE("Full validation: batches above the known block are not continued from")
{
    FullSetup setup({.seed = 32});
    constexpr int kBefore = 50;
    RequireAccepted(setup.Full({}));
    for (const int now : {0, kBefore - 1, kBefore, setup.Height()}) {
        CAPTURE(now);
        SaveFalseCheckpoint(setup, true, kBefore);
        const Verdict verdict = Must(setup.Full(
            {}, nullptr, [now](BoosterOptions& options) { options.known_height = now; }));
        const bool again = now < kBefore;
        REQUIRE(verdict.kind == (again ? VerdictKind::kDone : VerdictKind::kHintsWrong));
    }
}

TEST_CASE("A checkpoint remembers its mode, and up to where there were batches")
{
    for (const bool full : {false, true}) {
        Checkpoint c;
        c.full_validation = full;
        c.known_height = full ? 4 : 0;
        c.terminal_height = 9;
        c.folded = HeightSet(9);
        c.sum = MakeAggregate(c.aggregate, c.salt)->Serialize();
        Bytes bytes = c.Encode();
        REQUIRE(Must(Checkpoint::Decode(bytes)).full_validation == full);
        REQUIRE(Must(Checkpoint::Decode(bytes)).known_height == c.known_height);
        if (!full) continue;
        // As an older program wrote it, which verified all signatures in batches.
        constexpr size_t kFlags = 81, kField = 4, kChecksum = 8;
        bytes.resize(bytes.size() - kField - kChecksum);
        bytes[kFlags] &= 7;
        const Hash32 digest = Sha256Of(bytes);
        bytes.insert(bytes.end(), digest.begin(), digest.begin() + kChecksum);
        REQUIRE(Must(Checkpoint::Decode(bytes)).full_validation);
        REQUIRE(Must(Checkpoint::Decode(bytes)).known_height == c.terminal_height);
    }
}

TEST_CASE("Aggregates of whole coins agree with the definition")
{
    AggregateSalt salt;
    for (uint8_t& byte : salt) byte = static_cast<uint8_t>(TestRng()());
    const auto fast = MakeAggregate(AggregateKind::kSha256, salt);
    const auto slow = MakeSlowSha256Aggregate(salt);
    const auto muhash = MakeAggregate(AggregateKind::kMuHash, salt);
    std::vector<Bytes> coins;
    for (size_t size = 48; size < 48 + 200; ++size) coins.push_back(RandomBytes(size));
    for (const Bytes& coin : coins) {
        for (Aggregate* sum : {fast.get(), slow.get(), muhash.get()}) sum->AddCreatedCoin(coin);
    }
    REQUIRE(fast->Serialize() == slow->Serialize());
    std::shuffle(coins.begin(), coins.end(), TestRng());
    for (const Bytes& coin : coins) {
        REQUIRE_FALSE(fast->IsZero());
        for (Aggregate* sum : {fast.get(), slow.get(), muhash.get()}) sum->AddSpentCoin(coin);
        REQUIRE(fast->Serialize() == slow->Serialize());
    }
    REQUIRE(fast->IsZero());
    REQUIRE(muhash->IsZero());
    // One coin with a byte more is another coin.
    Bytes longer = coins[0];
    fast->AddCreatedCoin(longer);
    longer.push_back(0);
    fast->AddSpentCoin(longer);
    REQUIRE_FALSE(fast->IsZero());
}
