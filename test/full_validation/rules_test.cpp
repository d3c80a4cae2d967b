// Each rule about spent coins broken by one block: the booster, and the making of undo data from
// blocks alone, refuse it with its height and the reason that the serial engine gives.
#include "setup.h"

#include "script/opcodes.h"
#include "swiftsync/full_validation.h"

using namespace ibd;
using namespace ibd::test;
using Catch::Contains;

namespace {

/** Both engines refuse the blocks; the serial one for `reason`; `text` gets the full reason. */
Verdict RequireRefused(FullSetup& setup, const std::vector<Bytes>& on_top, const char* reason,
                       const std::function<void(std::vector<BlockUndo>&)>& change = nullptr,
                       std::string* text = nullptr)
{
    const SerialVerdict serial = setup.Serial(on_top);
    INFO("serial: " << serial.reason);
    REQUIRE_FALSE(serial.valid);
    REQUIRE_THAT(serial.reason, Contains(reason));
    if (text) *text = serial.reason;
    Verdict verdict = Must(setup.Full(on_top, change));
    INFO("booster: " << verdict.reason);
    REQUIRE(verdict.kind != VerdictKind::kDone);
    REQUIRE_FALSE(setup.HasPublished());
    return verdict;
}

/** Undo data made from blocks alone. */
JoinVerdict Rebuild(FullSetup& setup, const std::vector<Bytes>& on_top, UndoChecks checks)
{
    NoConsumer consumer;
    return Must(setup.Rebuild(on_top, setup.RebuildOptions(checks), consumer));
}

/** Blocks that are only checked against the rules, with the join's own coins. */
JoinVerdict JoinValues(FullSetup& setup, const std::vector<Bytes>& on_top)
{
    NoConsumer consumer;
    UndoOptions options = setup.RebuildOptions(UndoChecks::kRules);
    options.records = false;
    options.join.values = true;
    options.join.memory_bytes =
        std::array{size_t{1}, size_t{1} << 16, size_t{1} << 24}[TestRng().Below(3)];
    options.join.threads = 1 + static_cast<unsigned>(TestRng().Below(3));
    options.join.background = options.join.threads > 1;
    return Must(setup.Rebuild(on_top, options, consumer));
}

/** Whether UndoChecks::kRules does not check for this error: a script error, or an error that
 *  ContextualCheckBlock() finds when a block is indexed. */
bool IsBesideRules(std::string_view serial)
{
    return serial.starts_with("block-script-verify-flag-failed") ||
           serial.starts_with("bad-cb-height") ||
           serial.find("non-final transaction") != serial.npos;
}

/** A block on top of another, spending an output of its last transaction: the undo data's maker
 *  then reads that block for the coin, and makes its outline. */
Bytes SpendingFrom(FullSetup& setup, ByteSpan below)
{
    DraftBlock next = setup.DraftAfterNext();
    MutableTransaction spend;
    spend.inputs.push_back({{DraftBlock::Of(below).txs.back().Id(), 0}, {}, 0xffffffff, {}});
    spend.outputs.push_back({0, {OP_1}});
    next.txs = {next.Coinbase(), spend};
    for (MutableOutput& output : next.Coinbase().outputs) output.value = 0;
    return next.Seal(BlockHeader::FromBytes(below.data()).Hash(), setup.Params());
}

/** And the booster finds it in the block itself, for the same reason. */
void RequireSameReason(FullSetup& setup, const std::vector<Bytes>& on_top, const char* reason)
{
    std::string serial;
    const Verdict verdict = RequireRefused(setup, on_top, reason, nullptr, &serial);
    REQUIRE(verdict.kind == VerdictKind::kBlockInvalid);
    REQUIRE(verdict.height == setup.Height() + 1);
    REQUIRE_THAT(verdict.reason,
                 Contains(reason) && Contains("height " + std::to_string(verdict.height)));
    for (const auto checks : {UndoChecks::kRules, UndoChecks::kScripts}) {
        std::vector<Bytes> blocks = on_top;
        if (checks == UndoChecks::kRules) {
            if (IsBesideRules(serial)) continue;
            blocks.push_back(SpendingFrom(setup, on_top.back()));
        }
        const JoinVerdict rebuilt = Rebuild(setup, blocks, checks);
        REQUIRE(rebuilt.kind == VerdictKind::kBlockInvalid);
        REQUIRE(rebuilt.height == setup.Height() + 1);
        // The join names an outpoint that is not there, and not only the transaction.
        const bool missing = serial.starts_with("bad-txns-inputs-missingorspent");
        REQUIRE_THAT(rebuilt.reason, Contains(missing ? reason : serial));
        REQUIRE_THAT(rebuilt.reason, Contains("height " + std::to_string(verdict.height)));
        if (checks == UndoChecks::kScripts) continue;
        const JoinVerdict joined = JoinValues(setup, on_top);
        REQUIRE_FALSE(joined.rules_kept);
        REQUIRE(joined.kind == VerdictKind::kBlockInvalid);
        REQUIRE(joined.height == rebuilt.height);
        REQUIRE_THAT(joined.reason, Contains(missing ? reason : serial));
    }
}

void RequireBothAccept(FullSetup& setup, const std::vector<Bytes>& on_top)
{
    const SerialVerdict serial = setup.Serial(on_top);
    INFO("serial: " << serial.reason);
    REQUIRE(serial.valid);
    RequireAccepted(setup.Full(on_top));
    REQUIRE(setup.Published() == setup.Expected());
    setup.Reset();
    for (const auto checks : {UndoChecks::kRules, UndoChecks::kScripts}) {
        REQUIRE(Rebuild(setup, on_top, checks).kind == VerdictKind::kDone);
    }
    const JoinVerdict joined = JoinValues(setup, on_top);
    REQUIRE(joined.kind == VerdictKind::kDone);
    REQUIRE(joined.rules_kept);
}

/** The next block with the coinbase and its first transaction alone, and a modest coinbase. */
DraftBlock SmallDraft(FullSetup& setup)
{
    DraftBlock draft = setup.NextDraft();
    REQUIRE(draft.txs.size() >= 2);
    draft.txs.resize(2);
    for (MutableOutput& output : draft.Coinbase().outputs) output.value = 0;
    return draft;
}

Amount ValueIn(const FullSetup& setup, const MutableTransaction& tx)
{
    Amount sum = 0;
    for (const MutableInput& input : tx.inputs) sum += setup.TipCoins().at(input.prevout).value;
    return sum;
}

/** Spends outputs of `from` that anyone can spend, `count` from the first on. */
MutableTransaction Spend(const MutableTransaction& from, uint32_t count)
{
    MutableTransaction tx;
    Amount value = 0;
    for (uint32_t i = 0; i < count; ++i) {
        tx.inputs.push_back({{from.Id(), i}, {}, 0xffffffff, {}});
        value += from.outputs[i].value;
    }
    tx.outputs.push_back({value, {OP_1}});
    return tx;
}

/** A witness script of 3,980 signature operations that none of them runs. */
Bytes SigOpsScript()
{
    Bytes script = {OP_0, OP_IF};
    script.insert(script.end(), 199, OP_CHECKMULTISIG);
    Append(script, Bytes{OP_ENDIF, OP_1});
    return script;
}

/** A block whose second transaction runs `inputs` such scripts, funded by its first. */
Bytes SigOpsBlock(FullSetup& setup, uint32_t inputs)
{
    DraftBlock draft = SmallDraft(setup);
    const Bytes script = SigOpsScript();
    const Hash32 hash = Sha256Of(script);
    Bytes program = {OP_0, 32};
    Append(program, hash);
    draft.txs[1].outputs.assign(inputs, {10, program});
    draft.txs.push_back(Spend(draft.txs[1], inputs));
    for (MutableInput& input : draft.txs[2].inputs) input.witness = {script};
    return draft.Seal(setup.TipHash(), setup.Params());
}

} // namespace

TEST_CASE("Full validation: one broken rule, one refusal")
{
    FullSetup setup({.seed = 41, .outputs_per_block = 30});
    const int height = setup.Height() + 1;
    struct Case {
        const char* name;
        std::function<void(DraftBlock&)> change;
        const char* reason;
    };
    const Case cases[] = {
        {"pays more than it spends",
         [&](auto& b) { b.txs[1].outputs[0].value = ValueIn(setup, b.txs[1]) + 1; },
         "bad-txns-in-belowout"},
        {"coinbase takes one satoshi too many",
         [&](auto& b) {
             Amount fees = ValueIn(setup, b.txs[1]);
             for (const auto& output : b.txs[1].outputs) fees -= output.value;
             b.Coinbase().outputs[0].value = 50 * kCoin + fees + 1;
         },
         "bad-cb-amount"},
        {"coinbase spent at depth 99",
         [&](auto& b) {
             const auto draft = DraftBlock::Of(setup.Blocks()[static_cast<size_t>(height) - 100]);
             b.txs[1].inputs[0].prevout = {draft.txs[0].Id(), 0};
             for (auto& output : b.txs[1].outputs) output.value = 0;
         },
         "bad-txns-premature-spend-of-coinbase"},
        {"relative lock of 1,000 blocks",
         [](auto& b) { b.txs[1].version = 2, b.txs[1].inputs[0].sequence = 1'000; },
         "bad-txns-nonfinal"},
        {"relative lock of a year",
         [](auto& b) { b.txs[1].version = 2, b.txs[1].inputs[0].sequence = (1u << 22) | 61'594; },
         "bad-txns-nonfinal"},
        {"absolute lock",
         [&](auto& b) {
             b.txs[1].lock_time = static_cast<uint32_t>(height);
             b.txs[1].inputs[0].sequence = 0xfffffffe;
         },
         "bad-txns-nonfinal"},
        {"height in the coinbase", [](auto& b) { b.Coinbase().inputs[0].script_sig[1] ^= 1; },
         "bad-cb-height"},
        {"the same input twice", [](auto& b) { b.txs[1].inputs.push_back(b.txs[1].inputs[0]); },
         "bad-txns-inputs-duplicate"},
        {"a script that fails",
         [&](auto& b) {
             b.txs[1].outputs.assign(1, {10, {OP_0}});
             b.txs.push_back(Spend(b.txs[1], 1));
         },
         "block-script-verify-flag-failed"},
        {"spends a transaction that comes later in the block",
         [](auto& b) {
             b.txs[1].outputs.assign(1, {10, {OP_1}});
             b.txs.push_back(Spend(b.txs[1], 1));
             std::swap(b.txs[1], b.txs[2]);
         },
         "bad-txns-inputs-missingorspent"},
    };
    RequireBothAccept(setup, {SmallDraft(setup).Seal(setup.TipHash(), setup.Params())});
    for (const Case& broken : cases) {
        INFO(broken.name);
        DraftBlock draft = SmallDraft(setup);
        broken.change(draft);
        RequireSameReason(setup, {draft.Seal(setup.TipHash(), setup.Params())}, broken.reason);
        setup.Reset();
    }
}

TEST_CASE("Full validation: a witness that the block does not commit to is damage, no verdict")
{
    FullSetup setup({.seed = 41, .outputs_per_block = 30});
    DraftBlock draft = SmallDraft(setup);
    draft.renew_commitment = false;
    draft.Coinbase().inputs[0].witness[0][0] ^= 1;
    const Bytes block = draft.Seal(setup.TipHash(), setup.Params());
    REQUIRE_FALSE(setup.Serial({block}).valid);
    const auto refused = setup.Full({block});
    REQUIRE_FALSE(refused.Ok());
    REQUIRE(refused.GetError().kind == Error::Kind::kBadData);
    REQUIRE_THAT(refused.Message(), Contains("bad-witness-merkle-match") && Contains("-reindex") &&
                                        Contains(fmt::format("height {}", setup.Height() + 1)));
    REQUIRE_FALSE(setup.HasPublished());
}

TEST_CASE("Full validation: what is allowed to the last block, second and satoshi")
{
    FullSetup setup({.seed = 41, .outputs_per_block = 30});
    DraftBlock draft = SmallDraft(setup);
    SECTION("coinbase takes all")
    {
        Amount fees = ValueIn(setup, draft.txs[1]);
        for (const auto& output : draft.txs[1].outputs) fees -= output.value;
        draft.Coinbase().outputs[0].value = 50 * kCoin + fees;
    }
    SECTION("pays all that it spends")
    {
        draft.txs[1].outputs.assign(1, {ValueIn(setup, draft.txs[1]), {OP_1}});
    }
    SECTION("spends an earlier transaction of the block")
    {
        draft.txs[1].outputs.assign(2, {10, {OP_1}});
        draft.txs.push_back(Spend(draft.txs[1], 2));
        draft.txs.push_back(Spend(draft.txs[2], 1));
    }
    RequireBothAccept(setup, {draft.Seal(setup.TipHash(), setup.Params())});
}

TEST_CASE("Full validation: signature operations up to the limit and over it")
{
    FullSetup setup({.seed = 42, .outputs_per_block = 30});
    RequireBothAccept(setup, {SigOpsBlock(setup, 20)});
    RequireSameReason(setup, {SigOpsBlock(setup, 21)}, "bad-blk-sigops");
}

TEST_CASE("Full validation: a signature with one bit turned")
{
    FullSetup setup({.seed = 43, .outputs_per_block = 30, .signed_spends = true});
    int changed = 0;
    const DraftBlock draft = setup.NextDraft();
    RequireBothAccept(setup, {draft.Seal(setup.TipHash(), setup.Params())});
    for (size_t t = 1; t < draft.txs.size(); ++t) {
        DraftBlock bad = draft;
        MutableInput& input = bad.txs[t].inputs[0];
        // Only the witness, so that the id stays and later transactions still find their coins.
        if (input.witness.empty() || input.witness[0].size() < 60) continue;
        input.witness[0][40] ^= 4;
        RequireSameReason(setup, {bad.Seal(setup.TipHash(), setup.Params())},
                          "block-script-verify-flag-failed");
        setup.Reset();
        ++changed;
    }
    REQUIRE(changed > 2);
}

namespace {

/** A block whose second transaction makes three coins that anyone can spend. */
struct MissingCoins {
    MissingCoins() { draft.txs[1].outputs.assign(3, {10, {OP_1}}); }

    FullSetup setup{{.seed = 44, .outputs_per_block = 30}};
    DraftBlock draft = SmallDraft(setup);
};

} // namespace

TEST_CASE_METHOD(MissingCoins,
                 "Full validation, whatever undo data says: a coin spent twice in the block")
{
    draft.txs.push_back(Spend(draft.txs[1], 1));
    draft.txs.push_back(Spend(draft.txs[1], 2));
    const auto claim = [&](std::vector<BlockUndo>& undo) {
        undo[0].txs[2].spent[0] = undo[0].txs[1].spent[0];
    };
    const Verdict verdict = RequireRefused(setup, {draft.Seal(setup.TipHash(), setup.Params())},
                                           "bad-txns-inputs-missingorspent", claim);
    REQUIRE(verdict.kind == VerdictKind::kHintsWrong);
    REQUIRE_THAT(verdict.reason, Contains("undo data are wrong"));
}

TEST_CASE_METHOD(MissingCoins,
                 "Full validation, whatever undo data says: a coin spent twice in two blocks")
{
    DraftBlock second = setup.DraftAfterNext();
    second.txs.resize(1);
    for (MutableOutput& output : second.Coinbase().outputs) output.value = 0;
    draft.txs.push_back(Spend(draft.txs[1], 1));
    second.txs.push_back(Spend(draft.txs[1], 2));
    const Bytes first_raw = draft.Seal(setup.TipHash(), setup.Params());
    const BlockHash first_hash = BlockHeader::FromBytes(first_raw.data()).Hash();
    const auto claim = [&](std::vector<BlockUndo>& undo) {
        undo[1].txs[0].spent[0] = undo[0].txs[1].spent[0];
    };
    const Verdict verdict =
        RequireRefused(setup, {first_raw, second.Seal(first_hash, setup.Params())},
                       "bad-txns-inputs-missingorspent", claim);
    REQUIRE(verdict.kind == VerdictKind::kHintsWrong);
}

TEST_CASE_METHOD(MissingCoins,
                 "Full validation, whatever undo data says: a coin that was never made")
{
    draft.txs.push_back(Spend(draft.txs[1], 1));
    draft.txs[2].inputs[0].prevout.vout = 7;
    const Verdict verdict = RequireRefused(setup, {draft.Seal(setup.TipHash(), setup.Params())},
                                           "bad-txns-inputs-missingorspent");
    REQUIRE(verdict.kind == VerdictKind::kHintsWrong);
}

TEST_CASE_METHOD(MissingCoins, "Full validation, whatever undo data says: a coin of this block, "
                               "claimed to be of a height that no header has")
{
    draft.txs.push_back(Spend(draft.txs[1], 1));
    draft.txs[2].version = 2;
    draft.txs[2].inputs[0].sequence = 1u << 22; // looks the height's time up
    const Bytes raw = draft.Seal(setup.TipHash(), setup.Params());
    const auto verdict = Must(setup.Full(
        {raw}, [](std::vector<BlockUndo>& undo) { undo[0].txs[1].spent[0].height = 0x7fffffff; }));
    REQUIRE(verdict.kind == VerdictKind::kBlockInvalid);
    REQUIRE_THAT(verdict.reason, Contains("bad-txns-inputs-missingorspent"));
}

TEST_CASE_METHOD(MissingCoins,
                 "Full validation, whatever undo data says: a coin made by a later block")
{
    // The second block makes the coin; the first one spends it.
    DraftBlock second = setup.DraftAfterNext();
    second.txs = {second.Coinbase(), draft.txs[1]};
    for (MutableOutput& output : second.Coinbase().outputs) output.value = 0;
    draft.txs[1] = Spend(draft.txs[1], 1);
    const int height = setup.Height() + 1;
    for (const int claimed : {height + 1, height, height - 1, 1}) {
        CAPTURE(claimed);
        ++draft.header.time; // each block is new
        const Bytes first_raw = draft.Seal(setup.TipHash(), setup.Params());
        const BlockHash first_hash = BlockHeader::FromBytes(first_raw.data()).Hash();
        const std::vector<Bytes> blocks = {first_raw, second.Seal(first_hash, setup.Params())};
        const auto claim = [&](std::vector<BlockUndo>& undo) {
            undo[0].txs[0].spent[0] = {10, ScriptBytes(Bytes{OP_1}), static_cast<uint32_t>(claimed),
                                       false};
        };
        const Verdict verdict =
            RequireRefused(setup, blocks, "bad-txns-inputs-missingorspent", claim);
        const bool in_block = claimed >= height;
        REQUIRE(verdict.kind == (in_block ? VerdictKind::kBlockInvalid : VerdictKind::kHintsWrong));
        if (in_block) {
            REQUIRE(verdict.height == height);
            REQUIRE_THAT(verdict.reason, Contains("bad-txns-inputs-missingorspent"));
        }
        setup.Reset();
    }
}

namespace {

/** A script of ten signature checks that are not run. */
Bytes IdleChecksScript()
{
    Bytes script = {OP_0, OP_IF};
    script.insert(script.end(), 10, OP_CHECKSIG);
    Append(script, Bytes{OP_ENDIF, OP_1});
    return script;
}

/** A block whose second transaction spends `inputs` coins of the script, made by its first. It has
 *  one output more, of `padding` bytes. */
DraftBlock ManyInputs(FullSetup& setup, const Bytes& script, uint32_t inputs, size_t padding)
{
    DraftBlock draft = SmallDraft(setup);
    draft.txs[1].outputs.assign(inputs, {10, script});
    draft.txs.push_back(Spend(draft.txs[1], inputs));
    draft.txs[2].outputs.push_back({0, Bytes(padding, OP_RETURN)});
    return draft;
}

Result<Verdict> FullWithClaims(FullSetup& setup, const DraftBlock& draft,
                               const std::function<void(std::vector<BlockUndo>&)>& change = nullptr)
{
    const auto supplied = [](BoosterOptions& options) { options.coins_supplied = true; };
    setup.Reset();
    return setup.Full({draft.Seal(setup.TipHash(), setup.Params())}, change, supplied);
}

} // namespace

TEST_CASE("Full validation: claimed coins whose scripts could hash too much are refused")
{
    FullSetup setup({.seed = 52});
    const Bytes script = IdleChecksScript();
    constexpr uint32_t kInputs = 2'000; // as many checks as a block may create
    constexpr uint64_t kMost = FullValidation::kMaxClaimedHashBytes / (10 * kInputs);
    const size_t padding = 700'000;
    const size_t bytes = ManyInputs(setup, script, kInputs, padding).txs[2].Serialize().size();
    const size_t most_padding = padding + (kMost - script.size() - bytes);
    const DraftBlock dearest = ManyInputs(setup, script, kInputs, most_padding);
    RequireAccepted(FullWithClaims(setup, dearest));
    REQUIRE(setup.Published() == setup.Expected());

    const DraftBlock too_dear = ManyInputs(setup, script, kInputs, most_padding + 1);
    const Verdict verdict = Must(FullWithClaims(setup, too_dear));
    REQUIRE(verdict.kind == VerdictKind::kBlockInvalid);
    REQUIRE(verdict.height == setup.Height() + 1);
    REQUIRE_THAT(verdict.reason, Contains("bad-spent-coins, their scripts cost too much"));
    REQUIRE_FALSE(setup.HasPublished());
    RequireBothAccept(setup, {too_dear.Seal(setup.TipHash(), setup.Params())});
}

TEST_CASE("Full validation: claimed coins whose scripts could check too many signatures")
{
    FullSetup setup({.seed = 53});
    const ScriptBytes costly(Bytes(300, OP_CHECKSIG)); // of which 201 could run
    const auto claim = [&](std::vector<BlockUndo>& undo) {
        for (Coin& coin : undo[0].txs[1].spent) coin.script = costly;
    };
    constexpr auto kMost = static_cast<uint32_t>(FullValidation::kMaxClaimedChecks / 201);
    for (const uint32_t inputs : {kMost, kMost + 1}) {
        const Verdict verdict =
            Must(FullWithClaims(setup, ManyInputs(setup, {OP_1}, inputs, 1), claim));
        REQUIRE(verdict.kind == VerdictKind::kBlockInvalid);
        REQUIRE_THAT(verdict.reason, Contains(inputs == kMost ? "block-script-verify-flag-failed"
                                                              : "their scripts cost too much"));
    }
}
