// Rules of single transactions: Core's vectors, and each rule at its edge.
#include "consensus/sigops.h"
#include "consensus/tx_check.h"
#include "consensus/tx_verify.h"
#include "script/script.h"
#include "util/hex.h"
#include "vector_ancestry.h"

using namespace ibd;
using namespace ibd::test;

namespace {

std::string ReasonOf(const MutableTransaction& tx)
{
    const RuleResult bad = CheckTransaction(MakeTx(tx)->View());
    return bad ? bad->reason : "";
}

MutableTransaction Coinbase(size_t script_size)
{
    MutableTransaction tx = SimpleTx();
    tx.inputs[0].prevout = OutPoint{};
    tx.inputs[0].script_sig.assign(script_size, 0x51);
    return tx;
}

} // namespace

TEST_CASE("Core's transaction vectors against the rules without context")
{
    const auto valid = TestData("core/tx_valid.json");
    const auto invalid = TestData("core/tx_invalid.json");
    if (!valid || !invalid) return;
    size_t good = 0;
    const UniValue valid_json = ReadTestJson(*valid);
    for (const UniValue& test : valid_json.getValues()) {
        if (!test[0].isArray()) continue;
        CAPTURE(test[1].get_str());
        const auto tx = Transaction::Parse(*FromHex(test[1].get_str()));
        REQUIRE(tx);
        REQUIRE(!CheckTransaction(tx.Value()->View()));
        ++good;
    }
    CHECK(good > 100);
    size_t bad = 0;
    const UniValue invalid_json = ReadTestJson(*invalid);
    for (const UniValue& test : invalid_json.getValues()) {
        if (!test[0].isArray()) continue;
        CAPTURE(test[1].get_str());
        const bool by_itself = test[2].get_str() == "BADTX";
        const auto tx = Transaction::Parse(*FromHex(test[1].get_str()));
        REQUIRE((tx || by_itself));
        if (!tx) continue;
        REQUIRE(CheckTransaction(tx.Value()->View()).has_value() == by_itself);
        bad += by_itself ? 1 : 0;
    }
    CHECK(bad >= 9);
}

TEST_CASE("a transaction without context, each rule at its edge")
{
    CHECK(ReasonOf(SimpleTx()) == "");
    {
        auto tx = SimpleTx();
        tx.outputs.clear();
        CHECK(ReasonOf(tx) == "bad-txns-vout-empty");
        const TxView nothing;
        CHECK(CheckTransaction(nothing)->reason == "bad-txns-vin-empty");
    }
    {
        auto tx = SimpleTx();
        const size_t rest = tx.Serialize().size() - 1;
        tx.outputs[0].script_pubkey.assign(1'000'000 - rest - 4, 0);
        CHECK(MakeTx(tx)->View().stripped_size == 1'000'000);
        CHECK(ReasonOf(tx) == "");
        tx.outputs[0].script_pubkey.push_back(0);
        CHECK(ReasonOf(tx) == "bad-txns-oversize");
    }
    {
        auto tx = SimpleTx();
        tx.outputs[0].value = -1;
        CHECK(ReasonOf(tx) == "bad-txns-vout-negative");
        tx.outputs[0].value = kMaxMoney + 1;
        CHECK(ReasonOf(tx) == "bad-txns-vout-toolarge");
        tx.outputs[0].value = kMaxMoney;
        CHECK(ReasonOf(tx) == "");
        tx.outputs.push_back({0, {}});
        CHECK(ReasonOf(tx) == "");
        tx.outputs.push_back({1, {}});
        CHECK(ReasonOf(tx) == "bad-txns-txouttotal-toolarge");
    }
    for (const size_t size : {1, 2, 100, 101}) {
        CHECK(ReasonOf(Coinbase(size)) == (size < 2 || size > 100 ? "bad-cb-length" : ""));
    }
    {
        auto tx = SimpleTx();
        tx.inputs.push_back({OutPoint{}, {}, 0, {}});
        CHECK(ReasonOf(tx) == "bad-txns-prevout-null");
    }
}

TEST_CASE("a repeated input is found wherever it is (CVE-2018-17144)")
{
    for (const uint32_t count : {2U, 3U, 16U, 17U, 40U, 200U}) {
        auto tx = SimpleTx();
        tx.inputs.clear();
        for (uint32_t i = 0; i < count; ++i) tx.inputs.push_back({OutPointOf(3, i), {}, 0, {}});
        CHECK(ReasonOf(tx) == "");
        for (int i = 0; i < 20; ++i) {
            auto doubled = tx;
            const size_t a = TestRng()() % count;
            const size_t b = (a + 1 + TestRng()() % (count - 1)) % count;
            doubled.inputs[a].prevout = doubled.inputs[b].prevout;
            REQUIRE(ReasonOf(doubled) == "bad-txns-inputs-duplicate");
        }
    }
}

TEST_CASE("lock times count blocks below 500,000,000 and seconds from there")
{
    const auto final = [](uint32_t lock_time, uint32_t sequence, int height, int64_t time) {
        auto tx = SimpleTx();
        tx.lock_time = lock_time;
        tx.inputs[0].sequence = sequence;
        return IsFinalTx(MakeTx(tx)->View(), height, time);
    };
    CHECK(final(0, 0, 0, 0));
    CHECK(!final(100, 0, 100, 2'000'000'000));
    CHECK(final(100, 0, 101, 0));
    CHECK(final(100, 0xffffffff, 0, 0));
    CHECK(!final(499'999'999, 0, 499'999'999, 2'000'000'000));
    CHECK(!final(500'000'000, 0, 2'000'000'000, 500'000'000));
    CHECK(final(500'000'000, 0, 0, 500'000'001));
}

TEST_CASE("relative locks (BIP68)")
{
    VectorAncestry chain;
    for (uint32_t i = 0; i < 200; ++i) chain.blocks.push_back({4, 1'000'000 + i * 600, 0});
    const auto locks = [&](uint32_t sequence, int prev_height, uint32_t version = 2) {
        auto tx = SimpleTx();
        tx.version = version;
        tx.inputs[0].sequence = sequence;
        const int heights[] = {prev_height};
        return CalculateSequenceLocks(MakeTx(tx)->View(), true, heights, chain);
    };
    CHECK(locks(10, 50).min_height == 59);
    CHECK(locks(10, 50).min_time == -1);
    CHECK(locks(0, 50).min_height == 49);
    CHECK(locks(10, 50, 1).min_height == -1);
    CHECK(locks(10, 50, 0xffffffff).min_height == 59); // the version is unsigned
    CHECK(locks(kSequenceDisableFlag | 10, 50).min_height == -1);
    const SequenceLocks time = locks(kSequenceTypeFlag | 3, 50);
    CHECK(time.min_height == -1);
    CHECK(time.min_time == chain.MedianTimePast(49) + 3 * 512 - 1);
    CHECK(locks(kSequenceTypeFlag, 0).min_time == chain.MedianTimePast(0) - 1);

    auto tx = SimpleTx();
    tx.inputs[0].sequence = 5;
    tx.inputs.push_back({OutPointOf(1, 1), {}, 7, {}});
    tx.inputs.push_back({OutPointOf(1, 2), {}, kSequenceTypeFlag | 1, {}});
    const int heights[] = {100, 90, 20};
    const auto parsed = MakeTx(tx);
    const auto most = CalculateSequenceLocks(parsed->View(), true, heights, chain);
    CHECK(most.min_height == 104);
    CHECK(most.min_time == chain.MedianTimePast(19) + 511);
    CHECK(CalculateSequenceLocks(parsed->View(), false, heights, chain).min_height == -1);

    CHECK(!EvaluateSequenceLocks({104, -1}, 104, 0));
    CHECK(EvaluateSequenceLocks({104, -1}, 105, 0));
    CHECK(!EvaluateSequenceLocks({-1, 500}, 0, 500));
    CHECK(EvaluateSequenceLocks({-1, 500}, 0, 501));
}

TEST_CASE("coins must be mature and cover the outputs")
{
    const auto tx = MakeTx(SimpleTx());
    Amount fee = -1;
    const auto check = [&](SpentCoin coin, int height) {
        const auto bad = CheckTxInputs(tx->View(), {&coin, 1}, height, fee);
        return bad ? *bad : RuleViolation{};
    };
    CHECK(check({kCoin, {}, 1, false}, 2).reason == "");
    CHECK(fee == 0);
    CHECK(check({kCoin + 5, {}, 1, true}, 101).reason == "");
    CHECK(fee == 5);
    const auto young = check({kCoin, {}, 1, true}, 100);
    CHECK(young.reason == "bad-txns-premature-spend-of-coinbase");
    CHECK(young.detail == "tried to spend coinbase at depth 99");
    CHECK(young.kind == RuleViolation::Kind::kPrematureSpend);
    const auto poor = check({kCoin - 1, {}, 1, false}, 2);
    CHECK(poor.ToString() == "bad-txns-in-belowout, value in (0.99999999) < value out (1.00)");
    CHECK(check({kMaxMoney + 1, {}, 1, false}, 2).reason == "bad-txns-inputvalues-outofrange");
    CHECK(check({-1, {}, 1, false}, 2).reason == "bad-txns-inputvalues-outofrange");
    CHECK(MissingInputs(tx->View()).reason == "bad-txns-inputs-missingorspent");

    auto two = SimpleTx();
    two.inputs.push_back({OutPointOf(1, 1), {}, 0, {}});
    const SpentCoin rich[] = {{kMaxMoney, {}, 1, false}, {1, {}, 1, false}};
    const auto parsed = MakeTx(two);
    CHECK(CheckTxInputs(parsed->View(), rich, 2, fee)->reason == "bad-txns-inputvalues-outofrange");
}

TEST_CASE("signature operations of every kind of spend")
{
    const Bytes p2sh = *FromHex("a914" + std::string(40, '1') + "87");
    const Bytes p2wpkh = *FromHex("0014" + std::string(40, '1'));
    const Bytes p2wsh = *FromHex("0020" + std::string(64, '1'));
    const Bytes p2tr = *FromHex("5120" + std::string(64, '1'));
    Bytes multisig = {OP_2, OP_3, OP_CHECKMULTISIG, OP_CHECKSIG}; // 3 keys and 1 more
    const auto cost = [](const MutableInput& spend, const Bytes& script, ScriptFlags flags) {
        auto tx = SimpleTx();
        tx.inputs = {spend};
        const SpentCoin coin{kCoin, script, 1, false};
        return TransactionSigOpCost(MakeTx(tx)->View(), {&coin, 1}, flags);
    };
    const ScriptFlags all = kVerifyP2sh | kVerifyWitness | kVerifyTaproot;
    MutableInput in{OutPointOf(1, 0), {}, 0, {}};
    CHECK(cost(in, p2wpkh, all) == 1);
    CHECK(cost(in, p2wpkh, kVerifyP2sh) == 0);
    CHECK(cost(in, p2wsh, all) == 0); // no witness
    in.witness = {{1}, multisig};
    CHECK(cost(in, p2wsh, all) == 4);
    CHECK(cost(in, p2tr, all) == 0);
    CHECK(cost(in, p2sh, all) == 0); // pushes nothing: no redeem script

    AppendPush(in.script_sig, multisig);
    CHECK(cost(in, p2sh, all) == 16);
    CHECK(cost(in, p2sh, kVerifyNone) == 0);
    in.script_sig.clear();
    AppendPush(in.script_sig, p2wsh);
    CHECK(cost(in, p2sh, all) == 4);                     // nested witness
    in.script_sig.insert(in.script_sig.begin(), OP_NOP); // not push-only
    CHECK(cost(in, p2sh, all) == 0);
    in.script_sig = {OP_CHECKSIG, OP_1, OP_CHECKMULTISIG};
    CHECK(cost(in, {}, all) == 4 * 21); // legacy counting knows no number of keys

    auto coinbase = SimpleTx();
    coinbase.inputs[0].prevout = OutPoint{};
    coinbase.inputs[0].script_sig = {OP_CHECKSIG, OP_CHECKSIG};
    coinbase.outputs[0].script_pubkey = multisig;
    const auto parsed = MakeTx(coinbase);
    CHECK(LegacySigOpCount(parsed->View().inputs, parsed->View().outputs) == 2 + 21);
    CHECK(TransactionSigOpCost(parsed->View(), {}, all) == 4 * 23);
    CHECK(P2shSigOpCount(parsed->View(), {}) == 0);
}

TEST_CASE("Signature operations are counted in output scripts of every size")
{
    const uint8_t ops[] = {
        OP_0,           OP_1,        OP_NOP,           OP_DUP,       OP_HASH160, OP_EQUAL,
        OP_EQUALVERIFY, OP_CHECKSIG, OP_CHECKMULTISIG, OP_PUSHDATA1, 20,         32};
    for (size_t size = 0; size <= 40; ++size) {
        const auto count = [](const Bytes& script) {
            const OutputView output{0, script};
            return LegacySigOpCount({}, {&output, 1});
        };
        REQUIRE(count(Bytes(size, OP_CHECKSIG)) == size);
        for (int i = 0; i < 2000; ++i) {
            Bytes script(size);
            for (uint8_t& byte : script) byte = ops[test::TestRng()() % std::size(ops)];
            REQUIRE(count(script) == CountSigOpsSimple(script, false));
        }
    }
}

TEST_CASE("Signature operations of a transaction equal a plain count over all its scripts")
{
    auto& rng = test::TestRng();
    const Bytes shapes[] = {
        {0x00, 0x14}, {0xa9, 0x14}, {0x76, 0xa9, 0x14}, {0x00, 0x20}, {0x51, 0x20}, {0xac}, {}};
    const size_t sizes[] = {22, 23, 25, 34, 34, 1, 0};
    for (int i = 0; i < 4000; ++i) {
        MutableTransaction tx;
        tx.inputs.emplace_back();
        tx.inputs[0].script_sig = rng() % 2 ? Bytes{0xac, 0xae} : Bytes{};
        for (int j = 0; j < 4; ++j) {
            const size_t kind = rng() % 7;
            Bytes script = test::RandomBytes(sizes[kind]);
            std::copy(shapes[kind].begin(), shapes[kind].end(), script.begin());
            for (uint8_t& byte : script) {
                if (rng() % 12 == 0) byte = static_cast<uint8_t>(0xac + rng() % 4);
            }
            if (kind == 1 && rng() % 2) script[22] = 0x87;
            if (kind == 2 && rng() % 2) script[23] = 0x88, script[24] = 0xac;
            tx.outputs.push_back({1, script});
        }
        const auto parsed = Transaction::Parse(tx.Serialize());
        REQUIRE(parsed.Ok());
        unsigned plain = 0;
        for (const MutableInput& in : tx.inputs) plain += CountSigOpsSimple(in.script_sig, false);
        for (const MutableOutput& out : tx.outputs) {
            plain += CountSigOpsSimple(out.script_pubkey, false);
        }
        REQUIRE(LegacySigOpCount((*parsed)->View().inputs, (*parsed)->View().outputs) == plain);
    }
}
