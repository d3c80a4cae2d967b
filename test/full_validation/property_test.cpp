// Random changes of a block: the booster accepts it exactly when the serial engine does, and then
// with the same coins.
#include "setup.h"

#include "script/opcodes.h"
#include "support/testdata.h"

using namespace ibd;
using namespace ibd::test;

namespace {

size_t Below(size_t n) { return TestRng()() % n; }

MutableTransaction& AnyTx(DraftBlock& draft) { return draft.txs[Below(draft.txs.size())]; }

void FlipBit(Bytes& bytes)
{
    if (!bytes.empty()) bytes[Below(bytes.size())] ^= static_cast<uint8_t>(1 << Below(8));
}

void ChangeOutput(DraftBlock& draft)
{
    MutableTransaction& tx = AnyTx(draft);
    MutableOutput& output = tx.outputs[Below(tx.outputs.size())];
    switch (Below(5)) {
    case 0: output.value += static_cast<Amount>(Below(200)) - 100; break;
    case 1: output.value = static_cast<Amount>(Below(1'000)); break;
    case 2: output.value *= 2; break;
    case 3: FlipBit(output.script_pubkey); break;
    default: output.script_pubkey = Below(2) ? Bytes{OP_RETURN, 1, 2} : Bytes{OP_1};
    }
}

void ChangeInput(DraftBlock& draft, const FullSetup& setup)
{
    MutableTransaction& tx = AnyTx(draft);
    MutableInput& input = tx.inputs[Below(tx.inputs.size())];
    switch (Below(6)) {
    case 0: input.sequence = static_cast<uint32_t>(Below(3) ? Below(20) : TestRng()()); break;
    case 1: FlipBit(input.script_sig); break;
    case 2:
        if (!input.witness.empty()) FlipBit(input.witness[Below(input.witness.size())]);
        break;
    case 3: input.prevout.vout = static_cast<uint32_t>(Below(3)); break;
    case 4: {
        auto coin = setup.TipCoins().begin();
        std::advance(coin, static_cast<long>(Below(setup.TipCoins().size())));
        input.prevout = coin->first;
        break;
    }
    default: {
        MutableTransaction& other = AnyTx(draft);
        input.prevout = Below(2) ? OutPoint{other.Id(), 0} : other.inputs[0].prevout;
    }
    }
}

void ChangeShape(DraftBlock& draft)
{
    const size_t n = draft.txs.size();
    switch (Below(5)) {
    case 0: std::swap(draft.txs[Below(n)], draft.txs[Below(n)]); break;
    case 1: draft.txs.erase(draft.txs.begin() + static_cast<long>(Below(n))); break;
    case 2: draft.txs.push_back(draft.txs[Below(n)]); break;
    case 3: draft.txs.resize(1 + Below(n)); break;
    default: draft.renew_commitment = false;
    }
    if (draft.txs.empty()) draft.txs.emplace_back(); // refused by its emptiness below
}

void ChangeFields(DraftBlock& draft, int height)
{
    MutableTransaction& tx = AnyTx(draft);
    switch (Below(4)) {
    case 0: tx.lock_time = static_cast<uint32_t>(height - 2 + static_cast<int>(Below(4))); break;
    case 1: tx.version = static_cast<uint32_t>(Below(4)); break;
    case 2: FlipBit(draft.Coinbase().inputs[0].script_sig); break;
    default: draft.Coinbase().outputs[0].value += static_cast<Amount>(Below(3)) - 1;
    }
}

bool CanBeSealed(const DraftBlock& draft)
{
    if (draft.txs.empty() || draft.txs[0].inputs.empty()) return false;
    const MutableTransaction& coinbase = draft.txs[0];
    return !draft.renew_commitment || !coinbase.inputs[0].witness.empty();
}

/** Making undo data with all checks but scripts refuses no block that the serial engine accepts,
 * and every block that breaks a rule about its spent coins. */
void RequireRulesAgree(FullSetup& setup, const Bytes& raw, const SerialVerdict& serial)
{
    NoConsumer nobody;
    const auto rebuilt = setup.Rebuild({raw}, setup.RebuildOptions(UndoChecks::kRules), nobody);
    if (serial.valid) REQUIRE(Must(rebuilt).kind == VerdictKind::kDone);
    const char* const about_coins[] = {
        "bad-txns-inputs-missingorspent",
        "bad-txns-in-belowout",
        "bad-txns-inputvalues-outofrange",
        "bad-txns-premature-spend-of-coinbase",
        "bad-cb-amount",
        "bad-blk-sigops",
        "contains a non-BIP68-final",
    };
    for (const std::string_view rule : about_coins) {
        if (serial.reason.find(rule) == serial.reason.npos) continue;
        REQUIRE(rebuilt);
        REQUIRE(rebuilt->kind == VerdictKind::kBlockInvalid);
    }
}

} // namespace

TEST_CASE("Full validation and serial validation agree on randomly changed blocks")
{
    auto& rng = TestRng();
    int valid = 0;
    int invalid = 0;
    for (const bool with_signatures : {false, true}) {
        const uint64_t seed = rng();
        FullSetup setup({.seed = seed, .outputs_per_block = 14, .signed_spends = with_signatures});
        for (int round = 0; round < 120; ++round) {
            DraftBlock draft = setup.NextDraft();
            for (size_t changes = Below(4); changes > 0; --changes) {
                switch (Below(4)) {
                case 0: ChangeOutput(draft); break;
                case 1: ChangeInput(draft, setup); break;
                case 2: ChangeShape(draft); break;
                default: ChangeFields(draft, setup.Height() + 1);
                }
                if (!CanBeSealed(draft)) break;
            }
            if (!CanBeSealed(draft)) continue;
            draft.header.time += static_cast<uint32_t>(round); // each block is new
            const Bytes raw = draft.Seal(setup.TipHash(), setup.Params());
            const SerialVerdict serial = setup.Serial({raw});
            const auto verdict = setup.Full({raw});
            const std::string reason = verdict ? verdict->reason : verdict.Message();
            CAPTURE(seed, round, with_signatures, serial.reason, reason);
            // An error means that the block does not commit to these bytes.
            REQUIRE((verdict || verdict.GetError().kind == Error::Kind::kBadData));
            REQUIRE((verdict && verdict->kind == VerdictKind::kDone) == serial.valid);
            if (serial.valid) {
                REQUIRE(setup.Published() == setup.Expected());
            } else {
                REQUIRE_FALSE(setup.HasPublished());
                REQUIRE_FALSE(reason.empty());
            }
            RequireRulesAgree(setup, raw, serial);
            ++(serial.valid ? valid : invalid);
            setup.Reset();
        }
    }
    REQUIRE(valid > 20);
    REQUIRE(invalid > 60);
}
