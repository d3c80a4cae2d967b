// Verdicts of the pool, with a transaction for each reject reason.
#include "crypto/ripemd160.h"
#include "desk.h"
#include "mempool/reorganise.h"
#include "mempool/replacement.h"
#include "mempool/upkeep.h"
#include "script/standard.h"

namespace ibd::test {

namespace {

Bytes Repeat(uint8_t byte, size_t count) { return Bytes(count, byte); }

/** OP_RETURN and a push, together of `size` bytes. */
Bytes DataScript(size_t size)
{
    Bytes script = {OP_RETURN};
    constexpr size_t kHead = 6; // with OP_PUSHDATA4
    const auto length = static_cast<uint32_t>(size - kHead);
    script.push_back(OP_PUSHDATA4);
    for (int shift = 0; shift < 32; shift += 8) {
        script.push_back(static_cast<uint8_t>(length >> shift));
    }
    script.resize(size);
    return script;
}

/** One of one. */
Bytes MultisigScript()
{
    Bytes script = {OP_1, 33, 0x02};
    script.resize(35, 0x11);
    script.insert(script.end(), {OP_1, OP_CHECKMULTISIG});
    return script;
}

} // namespace

TEST_CASE("a transaction that keeps all rules is taken, once", "[mempool]")
{
    Desk desk;
    const MutableTransaction tx = desk.Good();
    CHECK(desk.Test(tx).empty());
    CHECK(desk.Size() == 0);
    CHECK(desk.Accept(tx).empty());
    CHECK(desk.Size() == 1);
    CHECK(desk.Test(tx) == "txn-already-in-mempool");
    MutableTransaction same = tx;
    same.inputs[0].witness = {{0x01}};
    CHECK(desk.Test(same) == "txn-same-nonwitness-data-in-mempool");
    MutableTransaction other = tx;
    other.outputs[0].value -= kFee;
    CHECK(desk.Test(other).empty()); // it pays twice as much
    CHECK(desk.TestPackage({other, desk.Good()}) == "bip125-replacement-disallowed");
    const MutableTransaction child = Spending({{tx.Id(), 0}}, {kValue - 3 * kFee});
    CHECK(desk.Test(child).empty());
    CHECK(desk.Test(Spending({{tx.Id(), 1}}, {1000})) == "bad-txns-inputs-missingorspent");
}

TEST_CASE("errors of a transaction on its own", "[mempool]")
{
    Desk desk;
    MutableTransaction tx = desk.Good();
    tx.outputs.clear();
    CHECK(desk.Test(tx) == "bad-txns-vout-empty");
    tx = desk.Good();
    tx.inputs[0].prevout = {Txid{}, 0xffffffff};
    CHECK(desk.Test(tx) == "coinbase");
    for (const uint32_t version : {0U, 4U, 0xffffffffU}) {
        tx = desk.Good();
        tx.version = version;
        CHECK(desk.Test(tx) == "version");
    }
    tx = desk.Good();
    tx.outputs.push_back({0, DataScript(100'000)});
    CHECK(desk.Test(tx) == "tx-size");
    tx = desk.Good();
    tx.inputs[0].script_sig = Repeat(OP_0, 1651);
    CHECK(desk.Test(tx) == "scriptsig-size");
    tx = desk.Good();
    tx.inputs[0].script_sig = {OP_NOP, 0x01, 0x51};
    CHECK(desk.Test(tx) == "scriptsig-not-pushonly");
    tx = desk.Good();
    tx.outputs[0].script_pubkey = kTrue;
    CHECK(desk.Test(tx) == "scriptpubkey");
    tx = desk.Good();
    tx.outputs.assign(2, {1, kTrueHash});
    CHECK(desk.Test(tx) == "dust");
    tx = desk.Good();
    tx.outputs[0] = {0, {OP_RETURN}};
    tx.inputs[0].script_sig.clear();
    CHECK(desk.Test(tx) == "tx-size-small");
}

TEST_CASE("limits that options set", "[mempool]")
{
    PolicyOptions policy;
    policy.max_datacarrier = 83;
    policy.permit_bare_multisig = false;
    Desk desk(policy);
    MutableTransaction tx = desk.Good();
    tx.outputs.push_back({0, DataScript(83)});
    CHECK(desk.Test(tx).empty());
    tx.outputs.push_back({0, {OP_RETURN}});
    CHECK(desk.Test(tx) == "datacarrier");
    tx = desk.Good();
    tx.outputs[0].script_pubkey = MultisigScript();
    CHECK(desk.Test(tx) == "bare-multisig");

    policy.require_standard = false;
    Desk open(policy);
    tx.inputs[0].prevout = open.AddCoin();
    CHECK(open.Test(tx).empty());
}

TEST_CASE("locks of time", "[mempool]")
{
    Desk desk;
    MutableTransaction tx = desk.Good();
    tx.inputs[0].sequence = 0xfffffffe;
    tx.lock_time = kTipHeight;
    CHECK(desk.Test(tx).empty());
    tx.lock_time = kTipHeight + 1;
    CHECK(desk.Test(tx) == "non-final");
    // BIP68: the next block is one above the tip.
    tx = Spending({desk.AddCoin(kTrueHash, kValue, kTipHeight - 3)}, {kValue - kFee});
    tx.inputs[0].sequence = 4;
    CHECK(desk.Test(tx).empty());
    tx.inputs[0].sequence = 5;
    CHECK(desk.Test(tx) == "non-BIP68-final");
    // Unconfirmed coins count as made in the next block.
    const MutableTransaction parent = desk.Good();
    REQUIRE(desk.Accept(parent).empty());
    tx = Spending({{parent.Id(), 0}}, {kValue - 3 * kFee});
    tx.inputs[0].sequence = 1;
    CHECK(desk.Test(tx) == "non-BIP68-final");
    tx.inputs[0].sequence = 0;
    CHECK(desk.Test(tx).empty());
}

TEST_CASE("coins that are not there, not ripe, or too few", "[mempool]")
{
    Desk desk;
    CHECK(desk.Test(Spending({Name(9999)}, {1000})) == "bad-txns-inputs-missingorspent");
    MutableTransaction known = Spending({Name(9999)}, {1000});
    desk.coins.coins[{known.Id(), 0}] = Coin();
    CHECK(desk.Test(known) == "txn-already-known");
    const auto spend_coinbase = [&](uint32_t height) {
        return Spending({desk.AddCoin(kTrueHash, kValue, height, true)}, {kValue - kFee});
    };
    CHECK(desk.Test(spend_coinbase(kTipHeight + 1 - 100)).empty());
    CHECK(desk.Test(spend_coinbase(kTipHeight + 2 - 100)) ==
          "bad-txns-premature-spend-of-coinbase");
    CHECK(desk.Test(Spending({desk.AddCoin()}, {kValue + 1})) == "bad-txns-in-belowout");
}

TEST_CASE("a missing coin ends the reads for a transaction", "[mempool]")
{
    Desk desk;
    const MutableTransaction orphan =
        Spending({desk.AddCoin(), Name(9999), desk.AddCoin()}, std::vector<Amount>(2'000, 1'000));
    CHECK(desk.Test(orphan) == "bad-txns-inputs-missingorspent");
    CHECK(desk.coins.reads == 2); // none for its outputs, which may be thousands
}

TEST_CASE("the least fee is that of virtual bytes, rounded up", "[mempool]")
{
    Desk desk;
    const int64_t size = static_cast<int64_t>(desk.Good().Serialize().size());
    const Amount least = (size * 100 + 999) / 1000;
    CHECK(desk.Test(Spending({desk.AddCoin()}, {kValue - least})).empty());
    CHECK(desk.Test(Spending({desk.AddCoin()}, {kValue - least + 1})) == "min relay fee not met");
    CHECK(VirtualSize(400) == 100);
    CHECK(VirtualSize(401) == 101);
    CHECK(AdjustedWeight(401, 20, 20) == 401);
    CHECK(AdjustedWeight(401, 21, 20) == 420);
}

TEST_CASE("a missing witness is not the fault of the transaction's id", "[mempool]")
{
    Desk desk;
    const auto kind = [&](const MutableTransaction& tx) {
        const auto violation = Must(desk.door.Test(tx.Freeze(), Desk::kFirstTime)).violation;
        REQUIRE(violation);
        CHECK_THAT(violation->reason, Catch::StartsWith("mempool-script-verify-flag-failed"));
        return violation->kind;
    };
    using Kind = RuleViolation::Kind;
    Bytes program{OP_0, 32};
    Append(program, Sha256Of(Bytes{0x51, 0x51}));
    Bytes nested{OP_HASH160, 20}, redeem;
    Append(nested, Hash160(program));
    nested.push_back(OP_EQUAL);
    AppendPush(redeem, program);
    CHECK(kind(desk.Spend(program, {})) == Kind::kWitnessStripped);
    CHECK(kind(desk.Spend(nested, redeem)) == Kind::kWitnessStripped);
    CHECK(kind(desk.Spend(program, {}, {{0x51}})) == Kind::kNotStandard);
    CHECK(kind(desk.Spend(kTrueHash, {OP_1, 1, 0x51})) == Kind::kNotStandard);
}

TEST_CASE("scripts and witnesses that are not standard", "[mempool]")
{
    Desk desk;
    CHECK(desk.Test(desk.Spend(kTrue, {})) == "bad-txns-nonstandard-inputs");
    CHECK(desk.Test(desk.Spend({OP_2, 2, 1, 1}, {})) == "bad-txns-nonstandard-inputs");
    CHECK(desk.Test(desk.Spend({OP_1, 2, 0x4e, 0x73}, {})).empty());
    CHECK(desk.Test(desk.Spend({OP_1, 2, 0x4e, 0x73}, {}, {{1}})) == "bad-witness-nonstandard");
    CHECK(desk.Test(desk.Spend(kTrueHash, kSpendTrue, {{1}})) == "bad-witness-nonstandard");
    CHECK(desk.Test(desk.Spend(kTrueHash, {OP_1, 1, 0x51})) ==
          "mempool-script-verify-flag-failed (Stack size must be exactly one after execution)");
    CHECK(desk.Test(desk.Spend(kTrueHash, {1, 0x52})) ==
          "mempool-script-verify-flag-failed (Script evaluated without error but finished with a "
          "false/empty top stack element)");
    // CHECKMULTISIG that is not executed counts 20, times four.
    MutableTransaction tx = Spending({desk.AddCoin(kTrueHash, 100 * kValue)}, {});
    tx.outputs.assign(200, {1000, MultisigScript()});
    CHECK(desk.Test(tx).empty());
    tx.outputs.push_back({1000, MultisigScript()});
    CHECK(desk.Test(tx) == "bad-txns-too-many-sigops");
}

TEST_CASE("signature operations have limits of their own", "[mempool]")
{
    Desk desk;
    const auto redeem = [](size_t count) {
        Bytes script = {OP_0, OP_IF};
        script.resize(2 + count, OP_CHECKSIG);
        script.insert(script.end(), {OP_ENDIF, OP_1});
        return script;
    };
    const auto spend = [&](size_t count, size_t inputs) {
        const Bytes script = redeem(count);
        Bytes script_sig;
        AppendPush(script_sig, script);
        MutableTransaction tx;
        for (size_t i = 0; i < inputs; ++i) {
            const OutPoint coin = desk.AddCoin(ScriptHashScript(Hash160(script)));
            tx.inputs.push_back({coin, script_sig, 0xffffffff, {}});
        }
        tx.outputs.push_back({1000, kTrueHash});
        return tx;
    };
    CHECK(desk.Test(spend(15, 1)).empty());
    CHECK(desk.Test(spend(16, 1)) == "bad-txns-nonstandard-inputs");
    // BIP54: 166 * 15 = 2,490; 167 * 15 = 2,505.
    CHECK(desk.Test(spend(15, 166)).empty());
    CHECK(desk.Test(spend(15, 167)) == "bad-txns-nonstandard-inputs");
}

TEST_CASE("a cluster has its limits", "[mempool]")
{
    PoolLimits limits;
    limits.cluster_count = 3;
    Desk desk({}, limits);
    MutableTransaction last = desk.Good();
    for (int i = 0; i < 3; ++i) {
        CHECK(desk.Accept(last).empty());
        last = Spending({{last.Id(), 0}}, {last.outputs[0].value - kFee});
    }
    CHECK(desk.Test(last) == "too-large-cluster");
    limits = {};
    limits.cluster_vsize = 200;
    Desk narrow({}, limits);
    const MutableTransaction parent = narrow.Good();
    const MutableTransaction child = Spending({{parent.Id(), 0}}, {kValue - 2 * kFee});
    CHECK(narrow.Accept(parent).empty());
    CHECK(narrow.Accept(child).empty());
    CHECK(narrow.Test(Spending({{child.Id(), 0}}, {kValue - 3 * kFee})) == "too-large-cluster");
}

TEST_CASE("TRUC transactions keep their family small", "[mempool]")
{
    Desk desk;
    const auto truc = [](MutableTransaction tx) {
        tx.version = 3;
        return tx;
    };
    const auto spend = [](const MutableTransaction& parent) {
        return Spending({{parent.Id(), 0}}, {parent.outputs[0].value - kFee});
    };
    const MutableTransaction parent = truc(Spending({desk.AddCoin()}, {kValue / 4, kValue / 4}));
    REQUIRE(desk.Accept(parent).empty());
    CHECK(desk.Test(spend(parent)) == "TRUC-violation");
    MutableTransaction large = truc(spend(parent));
    large.outputs.push_back({0, DataScript(1000)});
    CHECK(desk.Test(large) == "TRUC-violation");
    const MutableTransaction child = truc(spend(parent));
    REQUIRE(desk.Accept(child).empty());
    CHECK(desk.Test(truc(spend(child))) == "TRUC-violation");
    MutableTransaction huge = truc(desk.Good());
    huge.outputs.push_back({0, DataScript(10'000)});
    CHECK(desk.Test(huge) == "TRUC-violation");
    const MutableTransaction plain = desk.Good();
    REQUIRE(desk.Accept(plain).empty());
    CHECK(desk.Test(truc(spend(plain))) == "TRUC-violation");
}

TEST_CASE("packages", "[mempool]")
{
    Desk desk;
    const MutableTransaction parent = desk.Good();
    const MutableTransaction child = Spending({{parent.Id(), 0}}, {kValue - 2 * kFee});
    CHECK(desk.TestPackage({parent, child}).empty());
    CHECK(desk.TestPackage({child, parent}) == "package-not-sorted");
    CHECK(desk.TestPackage({parent, parent}) == "package-contains-duplicates");
    MutableTransaction other = parent;
    other.outputs[0].value -= 1;
    CHECK(desk.TestPackage({parent, other}) == "conflict-in-package");
    CHECK(desk.TestPackage(std::vector<MutableTransaction>(26, parent)) ==
          "package-too-many-transactions");
    std::vector<MutableTransaction> large(2);
    for (MutableTransaction& tx : large) {
        tx = desk.Good();
        tx.outputs.push_back({0, DataScript(50'600)});
    }
    CHECK(desk.TestPackage(large) == "package-too-large");

    // Dust is allowed where it pays nothing, and its child takes it; together they pay too little.
    PolicyOptions free;
    free.min_relay_fee = 0;
    Desk poor(free);
    const MutableTransaction dusty = Spending({poor.AddCoin()}, {kValue, 0});
    CHECK(poor.Test(dusty).empty());
    CHECK(poor.Test(Spending({poor.AddCoin()}, {kValue - 1, 0})) == "dust");
    CHECK(poor.TestPackage({dusty, Spending({{dusty.Id(), 0}}, {kValue})}) ==
          "missing-ephemeral-spends");
    CHECK(
        poor.TestPackage({dusty, Spending({{dusty.Id(), 0}, {dusty.Id(), 1}}, {kValue})}).empty());
}

TEST_CASE("a full pool takes what pays more than its worst", "[mempool]")
{
    PoolLimits limits;
    limits.max_bytes = 5'000;
    Desk desk({}, limits);
    size_t taken = 0;
    Amount fee = kFee;
    std::string reason;
    while ((reason = desk.Accept(Spending({desk.AddCoin()}, {kValue - fee}))).empty()) {
        REQUIRE(++taken < 100);
        fee -= 100;
    }
    CHECK(reason == "mempool full");
    CHECK(desk.Size() == taken);
    CHECK(desk.Accept(Spending({desk.AddCoin()}, {kValue - 2 * kFee})).empty());
    CHECK(desk.Size() == taken);
    CHECK(desk.Accept(Spending({desk.AddCoin()}, {kValue - 500})) == "mempool min fee not met");
    // All that is older than -mempoolexpiry goes with the next that comes.
    CHECK(desk.Accept(desk.Good(), Desk::kFirstTime + limits.expiry + 1).empty());
    CHECK(desk.Size() == 1);
}

TEST_CASE("transactions of disconnected blocks come back without a minimum fee", "[mempool]")
{
    Desk desk;
    const MutableTransaction cheap = Spending({desk.AddCoin()}, {kValue});
    CHECK(desk.Test(cheap) == "min relay fee not met");
    const MutableTransaction unknown = Spending({Name(9999)}, {1});
    const MutableTransaction child = Spending({{unknown.Id(), 0}}, {1});
    DisconnectedTxs disconnected;
    disconnected.txs = {cheap.Freeze(), unknown.Freeze()};
    disconnected.fork_height = kTipHeight;
    {
        const Lock lock(desk.pool.mutex);
        AddTx(desk.pool, {.tx = child.Freeze(), .vsize = 100, .weight = 400});
    }
    desk.Reorganise(disconnected);
    const Lock lock(desk.pool.mutex);
    CHECK(desk.pool.Find(cheap.Id()));
    CHECK(desk.pool.Size() == 1); // the child of a transaction that did not return left
}

TEST_CASE("of two returned transactions that conflict the earlier one stays", "[mempool]")
{
    Desk desk;
    const OutPoint coin = desk.AddCoin();
    const MutableTransaction first = Spending({coin}, {kValue - kFee});
    const MutableTransaction second = Spending({coin}, {kValue - 2 * kFee});
    const MutableTransaction child = Spending({{second.Id(), 0}}, {kValue - 3 * kFee});
    DisconnectedTxs disconnected;
    disconnected.txs = {first.Freeze(), second.Freeze(), child.Freeze()}; // of two branches
    disconnected.fork_height = kTipHeight;
    desk.Reorganise(disconnected);
    const Lock lock(desk.pool.mutex);
    CHECK(desk.pool.Size() == 1);
    CHECK(desk.pool.Find(first.Id()));
}

TEST_CASE("a returned transaction that policy refuses takes its children along", "[mempool]")
{
    Desk desk;
    const MutableTransaction bad = desk.Spend(kTrueHash, {0x01, 0x52}); // another redeem script
    const MutableTransaction child = Spending({{bad.Id(), 0}}, {kValue - 3 * kFee});
    const MutableTransaction kept = Spending({{bad.Id(), 0}}, {kValue - 4 * kFee});
    DisconnectedTxs disconnected;
    disconnected.txs = {bad.Freeze(), child.Freeze(), desk.Good().Freeze()};
    disconnected.fork_height = kTipHeight;
    {
        const Lock lock(desk.pool.mutex);
        AddTx(desk.pool, {.tx = kept.Freeze(), .vsize = 100, .weight = 400});
    }
    desk.Reorganise(disconnected);
    const Lock lock(desk.pool.mutex);
    CHECK(desk.pool.Size() == 1);
    CHECK(desk.pool.Find(disconnected.txs.back()->Id()));
}

TEST_CASE("after a reorganisation invalid transactions leave", "[mempool]")
{
    Desk desk;
    MutableTransaction late = desk.Good();
    late.inputs[0].sequence = 0;
    late.lock_time = kTipHeight; // in the next block, not in one at this height
    const MutableTransaction ripe =
        Spending({desk.AddCoin(kTrueHash, kValue, kTipHeight + 1 - 100, true)}, {kValue - kFee});
    MutableTransaction locked =
        Spending({desk.AddCoin(kTrueHash, kValue, kTipHeight - 3)}, {kValue - kFee});
    locked.inputs[0].sequence = 4;
    const MutableTransaction spends_lost =
        Spending({desk.AddCoin(kTrueHash, kValue, kTipHeight)}, {kValue - kFee});
    const MutableTransaction good = desk.Good();
    for (const MutableTransaction& tx : {late, ripe, locked, spends_lost, good}) {
        REQUIRE(desk.Accept(tx).empty());
    }
    const MutableTransaction child = Spending({{late.Id(), 0}}, {kValue - 3 * kFee});
    REQUIRE(desk.Accept(child).empty());
    desk.coins.coins.erase(spends_lost.inputs[0].prevout);
    DisconnectedTxs disconnected;
    disconnected.fork_height = kTipHeight - 1;
    desk.is_below = true;
    desk.Reorganise(disconnected);
    const Lock lock(desk.pool.mutex);
    CHECK(desk.pool.Size() == 1);
    CHECK(desk.pool.Find(good.Id()));
}

TEST_CASE("a transaction replaces what pays less", "[mempool]")
{
    Desk desk;
    const MutableTransaction first = desk.Good();
    REQUIRE(desk.Accept(first).empty());
    const auto paying = [&](Amount fee) {
        return Spending({first.inputs[0].prevout}, {kValue - fee});
    };
    CHECK(desk.Test(paying(kFee - 1)) == "insufficient fee");
    CHECK(desk.Test(paying(kFee + 1)) == "insufficient fee"); // not for its own bytes
    CHECK(desk.Accept(paying(kFee + 100)).empty());
    CHECK(desk.Size() == 1);
    // More fee, but at a lower rate.
    MutableTransaction large = paying(kFee + 2'000);
    large.outputs.push_back({0, DataScript(2'000)});
    CHECK(desk.Test(large) == "replacement-failed");
    // With descendants, which count.
    const MutableTransaction now = paying(kFee + 100);
    REQUIRE(desk.Accept(Spending({{now.Id(), 0}}, {kValue - 3 * kFee})).empty());
    CHECK(desk.Test(paying(2 * kFee)) == "insufficient fee");
    CHECK(desk.Accept(paying(4 * kFee)).empty());
    CHECK(desk.Size() == 1);
    // It must not depend on a transaction that it replaces.
    const MutableTransaction last = paying(4 * kFee);
    CHECK(desk.Test(Spending({first.inputs[0].prevout, {last.Id(), 0}}, {kValue})) ==
          "bad-txns-spends-conflicting-tx");
}

TEST_CASE("a replacement touches at most 100 clusters", "[mempool]")
{
    Desk desk;
    std::vector<OutPoint> coins;
    for (size_t i = 0; i <= kMaxReplacedClusters; ++i) {
        coins.push_back(desk.AddCoin());
        REQUIRE(desk.Accept(Spending({coins.back()}, {kValue - kFee})).empty());
    }
    CHECK(desk.Test(Spending(coins, {kValue})) == "too many potential replacements");
    coins.pop_back();
    CHECK(desk.Accept(Spending(coins, {kValue})).empty());
    CHECK(desk.Size() == 2);
}

TEST_CASE("a TRUC child takes the place of its sibling", "[mempool]")
{
    Desk desk;
    MutableTransaction parent = Spending({desk.AddCoin()}, {kValue / 4, kValue / 4});
    parent.version = 3;
    REQUIRE(desk.Accept(parent).empty());
    const auto child = [&](uint32_t output, Amount fee) {
        MutableTransaction tx = Spending({{parent.Id(), output}}, {kValue / 4 - fee});
        tx.version = 3;
        return tx;
    };
    REQUIRE(desk.Accept(child(0, kFee)).empty());
    CHECK(desk.Test(child(1, kFee)) == "insufficient fee (including sibling eviction)");
    CHECK(desk.Accept(child(1, 2 * kFee)).empty());
    CHECK(desk.Size() == 2);
    const Lock lock(desk.pool.mutex);
    CHECK(desk.pool.Find(child(1, 2 * kFee).Id()));
}

TEST_CASE("a wish of the user counts as fee", "[mempool]")
{
    Desk desk;
    const MutableTransaction cheap = Spending({desk.AddCoin()}, {kValue});
    CHECK(desk.Test(cheap) == "min relay fee not met");
    {
        const Lock lock(desk.pool.mutex);
        Prioritise(desk.pool, cheap.Id(), kFee);
    }
    CHECK(desk.Accept(cheap).empty());
    const Lock lock(desk.pool.mutex);
    CHECK(desk.pool.Fees() == 0);
    CHECK(desk.pool.Find(cheap.Id())->ModifiedFee() == kFee);
}

TEST_CASE("wishes near the limits of their type overflow nothing", "[mempool]")
{
    Desk desk;
    constexpr Amount kMost = std::numeric_limits<Amount>::max();
    constexpr Amount kLeast = std::numeric_limits<Amount>::min();
    const auto wish = [&](const MutableTransaction& tx, Amount delta) {
        const Lock lock(desk.pool.mutex);
        Prioritise(desk.pool, tx.Id(), delta);
    };
    const MutableTransaction first = desk.Good();
    wish(first, kLeast);
    CHECK(desk.Test(first) == "min relay fee not met");
    wish(first, kMost);
    wish(first, kMost);
    REQUIRE(desk.Accept(first).empty());
    const auto other = [&](Amount fee) {
        return Spending({first.inputs[0].prevout}, {kValue - fee});
    };
    CHECK(desk.Test(other(2 * kFee)) == "insufficient fee");
    // A transaction with a negative modified fee can be replaced by any.
    wish(first, kLeast);
    wish(first, kLeast);
    const MutableTransaction last = other(2 * kFee);
    wish(last, kMost);
    REQUIRE(desk.Accept(last).empty());
    const Lock lock(desk.pool.mutex);
    CHECK(desk.pool.Size() == 1);
    CHECK(desk.pool.Find(last.Id())->ModifiedFee() == kMaxModifiedFee);
    // A rate may be above what 64 bits hold on the way to it.
    CHECK(RateOf({kMaxModifiedFee, 1'000}) == kMaxModifiedFee);
    CHECK(RateOf({-kMaxModifiedFee, 2'000}) == -kMaxModifiedFee / 2);
    // So may the fees of many clusters.
    const std::vector<FeeSize> many(1'000, {kMaxModifiedFee, 100}), fewer(999, many[0]);
    CHECK(std::is_gt(CompareDiagrams(many, fewer)));
    CHECK(std::is_lt(CompareDiagrams(fewer, many)));
}

TEST_CASE("fees are learnt from what came alone, at a current tip, without parents", "[mempool]")
{
    Desk desk;
    const auto estimates = [&](const MutableTransaction& tx) {
        const Lock lock(desk.pool.mutex);
        return desk.pool.Find(tx.Id())->estimates;
    };
    const MutableTransaction early = desk.Good();
    CHECK(desk.Accept(early).empty());
    CHECK_FALSE(estimates(early));
    desk.is_current = true;
    const MutableTransaction alone = desk.Good();
    CHECK(desk.Accept(alone).empty());
    CHECK(estimates(alone));
    const MutableTransaction child = Spending({{alone.Id(), 0}}, {kValue - 2 * kFee});
    CHECK(desk.Accept(child).empty());
    CHECK_FALSE(estimates(child));
    // Each pays enough, so that they are taken one by one.
    const MutableTransaction parent = desk.Good();
    const MutableTransaction other = Spending({{parent.Id(), 0}}, {kValue - 2 * kFee});
    const std::vector<TransactionRef> package = {parent.Freeze(), other.Freeze()};
    const Arrival arrival{.now = Desk::kFirstTime, .time = Desk::kFirstTime};
    CHECK_FALSE(Must(desk.door.SubmitPackage(package, arrival)).violation);
    CHECK_FALSE(estimates(parent));
    CHECK_FALSE(estimates(other));
}

} // namespace ibd::test
