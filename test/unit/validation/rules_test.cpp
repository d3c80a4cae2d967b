// Breaks every rule of ConnectBlock and of accepting a block once: the reason is Core's, and the
// coins are unchanged.
#include "block_kit.h"
#include "fixture.h"

#include "consensus/limits.h"
#include "crypto/ripemd160.h"
#include "script/standard.h"

namespace ibd::test {

namespace {

using Kind = RuleViolation::Kind;

/** A regtest chain of 110 blocks, of which the first rewards are mature, and a spend of the first
 *  into three coins in block 111. */
class Ground {
public:
    explicit Ground(const NetworkOptions& options = {})
        : params(MakeChainParams(Network::kRegtest, options)), kit(params),
          engine(params, dir.Get() / "data")
    {
        engine.Start();
        blocks = kit.MakeChain(kit.Genesis(), 110);
        for (const KitBlock& block : blocks) Submit(block);
        KitOptions options111;
        options111.txs = {SpendTx({Reward(1)}, {10 * kCoin, 20 * kCoin, 20 * kCoin})};
        parts = options111.txs[0].Id();
        blocks.push_back(kit.Make(blocks.back(), options111));
        Submit(blocks.back());
    }

    const KitBlock& Tip() const { return blocks.back(); }
    OutPoint Reward(int height) const { return blocks[static_cast<size_t>(height - 1)].Reward(); }
    void Submit(const KitBlock& block)
    {
        REQUIRE(!engine.Process(block.raw).violation);
        REQUIRE(engine.chain->Tip()->hash == block.hash);
    }

    /** The block is refused, when given or when connected, and changes nothing. */
    void Refused(const KitOptions& options, const std::string& reason, Kind kind = Kind::kConsensus)
    {
        INFO(reason);
        const KitBlock block = kit.Make(Tip(), options);
        const CoinsDump before = engine.Dump();
        engine.witness.verdicts.clear();
        engine.Process(block.raw);
        REQUIRE(engine.witness.verdicts.contains(block.hash));
        const RuleResult verdict = engine.witness.verdicts[block.hash];
        REQUIRE(verdict);
        CHECK(verdict->reason == reason);
        CHECK(verdict->kind == kind);
        CHECK(engine.chain->Tip()->hash == Tip().hash);
        CHECK((engine.Dump() == before));
        // Permanently invalid, or not known at all.
        const HeaderNode* node = engine.Node(block.hash);
        CHECK((!node || node->Failed() || kind == Kind::kMutated));
    }
    void Refused(const MutableTransaction& tx, const std::string& reason)
    {
        KitOptions options;
        options.txs = {tx};
        Refused(options, reason);
    }
    /** The same block without the error must pass; otherwise the refusals above show nothing. */
    void Passes(const KitOptions& options)
    {
        blocks.push_back(kit.Make(Tip(), options));
        Submit(blocks.back());
    }

    const TempDir dir;
    const ChainParams params;
    const BlockKit kit;
    Engine engine;
    std::vector<KitBlock> blocks;
    Txid parts;
};

} // namespace

TEST_CASE("amounts, coins and maturity: every rule has its reason and leaves the coins alone")
{
    Ground g;
    const OutPoint ten{g.parts, 0}, twenty{g.parts, 1};

    g.Refused(SpendTx({OutPoint{g.parts, 3}}, {kCoin}), "bad-txns-inputs-missingorspent");
    g.Refused(SpendTx({g.Reward(1)}, {kCoin}), "bad-txns-inputs-missingorspent");
    g.Refused(SpendTx({ten, g.Reward(1)}, {kCoin}), "bad-txns-inputs-missingorspent");
    g.Refused(SpendTx({ten, twenty}, {31 * kCoin}), "bad-txns-in-belowout");
    g.Refused(SpendTx({ten, ten}, {kCoin}), "bad-txns-inputs-duplicate");
    // The reward of block 13 is 99 deep in block 112, that of block 12 exactly 100.
    g.Refused(SpendTx({g.Reward(13)}, {kCoin}), "bad-txns-premature-spend-of-coinbase");
    g.Refused(SpendTx({ten, g.Reward(13)}, {kCoin}), "bad-txns-premature-spend-of-coinbase");

    KitOptions options;
    options.reward = 50 * kCoin + 1;
    g.Refused(options, "bad-cb-amount");
    options.txs = {SpendTx({ten, g.Reward(12)}, {55 * kCoin})};
    options.reward = 55 * kCoin + 1;
    g.Refused(options, "bad-cb-amount");
    // Twice the same coin in two transactions, and a spend before the coin is made.
    options.reward = 0;
    options.txs = {SpendTx({ten}, {kCoin}), SpendTx({ten}, {2 * kCoin})};
    g.Refused(options, "bad-txns-inputs-missingorspent");
    const MutableTransaction first = SpendTx({ten}, {kCoin});
    const MutableTransaction second = SpendTx({OutPoint{first.Id(), 0}}, {kCoin});
    options.txs = {second, first};
    g.Refused(options, "bad-txns-inputs-missingorspent");
    // Several good transactions, of which one makes a coin for the next, then a bad one.
    options.txs = {first, second, SpendTx({twenty}, {21 * kCoin})};
    g.Refused(options, "bad-txns-in-belowout");

    options.txs = {first, second, SpendTx({twenty, g.Reward(12)}, {60 * kCoin})};
    options.reward = 50 * kCoin + 9 * kCoin + 10 * kCoin;
    g.Passes(options);
}

TEST_CASE("sequence locks hold a transaction back from its block")
{
    Ground g;
    const OutPoint coin{g.parts, 0}; // made in block 111
    MutableTransaction tx = SpendTx({coin}, {kCoin});
    tx.inputs[0].sequence = 2;
    g.Refused(tx, "bad-txns-nonfinal"); // block 112 is one block later
    tx.inputs[0].sequence = kSequenceTypeFlag | 2;
    g.Refused(tx, "bad-txns-nonfinal"); // 600 seconds a block, 1,024 wanted
    // An absolute lock is checked before the coins are read.
    MutableTransaction locked = SpendTx({coin}, {kCoin});
    locked.lock_time = 112;
    locked.inputs[0].sequence = 0;
    g.Refused(locked, "bad-txns-nonfinal");

    KitOptions options;
    tx.inputs[0].sequence = 1;
    options.txs = {tx};
    SECTION("by height") {}
    SECTION("by time, after one block more")
    {
        g.Passes({});
        options.txs[0].inputs[0].sequence = kSequenceTypeFlag | 2;
    }
    SECTION("version 1 has no relative locks")
    {
        options.txs[0].version = 1;
        options.txs[0].inputs[0].sequence = 50;
    }
    SECTION("the flag turns a lock off")
    {
        options.txs[0].inputs[0].sequence = kSequenceDisableFlag | 50;
    }
    SECTION("an absolute lock that was reached")
    {
        locked.lock_time = 111;
        options.txs = {locked};
    }
    g.Passes(options);
}

TEST_CASE("signature operations of the whole block are counted with those in redeem scripts")
{
    Ground g;
    KitOptions options;
    MutableTransaction tx = SpendTx({OutPoint{g.parts, 0}}, {kCoin, 0});
    // 20,000 legacy operations are allowed.
    tx.outputs[1].script_pubkey = Bytes(20'000, OP_CHECKSIG);
    options.txs = {tx};
    options.change_coinbase = [](MutableTransaction& coinbase) {
        coinbase.outputs.push_back({0, {OP_CHECKSIG}});
    };
    g.Refused(options, "bad-blk-sigops"); // CheckBlock
    tx.outputs[1].script_pubkey.pop_back();
    options.txs = {tx};
    g.Passes(options);

    // Pay to script hash: the redeem script counts only if the coin is known.
    Bytes redeem(500, OP_CHECKSIG);
    redeem.push_back(OP_1);
    MutableTransaction fund = SpendTx({OutPoint{g.parts, 1}}, {});
    const Bytes script = ScriptHashScript(Hash160(redeem));
    for (int i = 0; i < 41; ++i) fund.outputs.push_back({kCoin / 10, script});
    options = {};
    options.txs = {fund};
    g.Passes(options);
    const auto spend = [&](uint32_t coins) {
        MutableTransaction out = SpendTx({}, {kCoin / 100});
        for (uint32_t i = 0; i < coins; ++i) {
            MutableInput input;
            input.prevout = {fund.Id(), i};
            AppendPush(input.script_sig, redeem);
            out.inputs.push_back(input);
        }
        return out;
    };
    g.Refused(spend(41), "bad-blk-sigops");
    options.txs = {spend(40)};
    g.Passes(options);
}

TEST_CASE("fees and values out of range are refused")
{
    // No chain has coins of this value: the rules are tested on coins inserted directly.
    const ChainParams params = MakeChainParams(Network::kRegtest);
    const BlockKit kit(params);
    HeaderTree tree(params);
    const TempDir dir;
    const auto env = MakePosixEnv();
    const auto log = MakeNullLogger();
    CoinsDbOptions db_options;
    db_options.directory = dir.Get();
    const auto db = Must(CoinsDb::Open(*env, *log, db_options));
    const CoinsDbReader base(*db);
    CoinsCache coins(base, OutPointHasher({1, 2}));
    const auto put = [&](uint8_t name, Amount value) {
        OutPoint outpoint;
        outpoint.txid.data()[0] = name;
        outpoint.vout = 0;
        coins.Add(outpoint, {value, ScriptBytes(kAnyone), 0, false}, true);
        return outpoint;
    };
    const auto verdict = [&](const std::vector<MutableTransaction>& txs) {
        KitOptions options;
        options.txs = txs;
        const KitBlock block = kit.Make(kit.Genesis(), options);
        BlockView view;
        Must(view.Parse(block.raw));
        HeaderNode* node = nullptr;
        REQUIRE(!tree.Accept(view.Header(), env->UnixTime(), &node));
        BlockUndo undo;
        const RuleResult result =
            Must(ConnectBlock(view, *node, params, coins, nullptr, undo, nullptr));
        return result ? result->reason : "";
    };
    const OutPoint a = put(1, kMaxMoney), b = put(2, 1), c = put(3, kMaxMoney + 1), d = put(4, -1);
    CHECK(verdict({SpendTx({a, b}, {kCoin})}) == "bad-txns-inputvalues-outofrange");
    CHECK(verdict({SpendTx({c}, {kCoin})}) == "bad-txns-inputvalues-outofrange");
    CHECK(verdict({SpendTx({d}, {kCoin})}) == "bad-txns-inputvalues-outofrange");
    CHECK(verdict({SpendTx({a}, {0}), SpendTx({b}, {0})}) == "bad-txns-accumulated-fee-outofrange");
    CHECK(Must(coins.Get(a)));
    CHECK(Must(coins.Get(b)));
    CHECK(verdict({SpendTx({a}, {0})}).empty());
}

TEST_CASE("blocks that are wrong without looking at coins")
{
    Ground g;
    KitOptions options;
    const MutableTransaction tx = SpendTx({OutPoint{g.parts, 0}}, {kCoin});
    const auto refused_header = [&](const std::string& reason,
                                    std::function<void(BlockHeader&)> change) {
        KitOptions bad;
        bad.change_header = std::move(change);
        g.Refused(bad, reason, Kind::kInvalidHeader);
    };
    refused_header("bad-diffbits", [](BlockHeader& h) { h.bits = 0x207ffffe; });
    refused_header("time-too-old", [&](BlockHeader& h) { h.time = g.Tip().time - 3000; });
    refused_header("bad-version(0x00000003)", [](BlockHeader& h) { h.version = 3; });

    options.change_coinbase = [](MutableTransaction& coinbase) {
        coinbase.inputs[0].script_sig[1] ^= 1;
    };
    g.Refused(options, "bad-cb-height");
    options.change_coinbase = [](MutableTransaction& coinbase) {
        coinbase.inputs[0].prevout.vout = 0;
    };
    g.Refused(options, "bad-cb-missing");
    options.change_coinbase = [](MutableTransaction& coinbase) {
        coinbase.inputs[0].script_sig.resize(101);
    };
    g.Refused(options, "bad-cb-length");
    options = {};
    options.txs = {g.Tip().coinbase};
    g.Refused(options, "bad-cb-multiple");
    const MutableTransaction other = SpendTx({OutPoint{g.parts, 1}}, {kCoin});
    options.txs = {tx, other, other}; // the root is that of the block without the repeat
    g.Refused(options, "bad-txns-duplicate", Kind::kMutated);
    options.txs = {tx};
    options.txs[0].outputs[0].value = -1;
    g.Refused(options, "bad-txns-vout-negative");
    options.txs[0] = tx;
    options.txs[0].inputs[0].witness = {{1}};
    g.Refused(options, "unexpected-witness", Kind::kMutated);
    options.txs = {tx};
    options.change_header = [](BlockHeader& h) { h.merkle_root.data()[3] ^= 1; };
    g.Refused(options, "bad-txnmrklroot", Kind::kMutated);

    options.change_header = nullptr;
    g.Passes(options);
}

TEST_CASE("the effect of a refused block depends on its source")
{
    Ground g;
    KitOptions options;
    options.txs = {SpendTx({OutPoint{g.parts, 0}}, {-1})};
    const KitBlock bad = g.kit.Make(g.Tip(), options);
    // From a stranger: no header, so that the true block of that hash could still come.
    CHECK(g.engine.Process(bad.raw).violation->reason == "bad-txns-vout-negative");
    CHECK(g.engine.Node(bad.hash) == nullptr);
    // From our own files: the header stays and is marked.
    CHECK(Must(g.engine.chain->AcceptBlock(bad.raw)).violation->reason == "bad-txns-vout-negative");
    REQUIRE(g.engine.Node(bad.hash));
    CHECK(g.engine.Node(bad.hash)->Failed());

    // Fails only in its place in the chain: it and its descendants are marked invalid.
    options.txs.clear();
    options.change_coinbase = [](MutableTransaction& tx) { tx.inputs[0].script_sig[1] ^= 1; };
    const KitBlock misplaced = g.kit.Make(g.Tip(), options);
    CHECK(g.engine.Process(misplaced.raw).violation->reason == "bad-cb-height");
    CHECK(g.engine.Process(misplaced.raw).violation->reason == "duplicate-invalid");
    const KitBlock child = g.kit.Make(misplaced);
    CHECK(g.engine.Process(child.raw).violation->reason == "bad-prevblk");
    CHECK(g.engine.Process(g.kit.Make(child).raw).violation->reason == "prev-blk-not-found");
    CHECK(!g.engine.Process(g.Tip().raw).is_new);
}

TEST_CASE("a repeated transaction id is refused where BIP30 is checked")
{
    NetworkOptions options;
    options.activation_heights[BuriedDeployment::kHeightInCoinbase] = 500;
    Ground g(options);
    // The first reward is spent by now: its coinbase may be repeated. The second is not.
    KitOptions repeat;
    repeat.change_coinbase = [&](MutableTransaction& tx) { tx = g.blocks[1].coinbase; };
    g.Refused(repeat, "bad-txns-BIP30");
    repeat.change_coinbase = [&](MutableTransaction& tx) { tx = g.blocks[0].coinbase; };
    g.Passes(repeat);
    CHECK(Must(g.engine.chain->Coins().Read(g.Reward(1)))->height == 112);
    // And now it is unspent again.
    g.Refused(repeat, "bad-txns-BIP30");
}

TEST_CASE("a repeated transaction is named as such where BIP34 rules it out anyway")
{
    Ground g;
    KitOptions repeat;
    repeat.txs = {SpendTx({g.Reward(1)}, {10 * kCoin, 20 * kCoin, 20 * kCoin})};
    REQUIRE(repeat.txs[0].Id() == g.parts);
    g.Refused(repeat, "bad-txns-BIP30");
    // Also after another fault, because it is checked first.
    const MutableTransaction greedy = SpendTx({g.Reward(2)}, {60 * kCoin});
    g.Refused(greedy, "bad-txns-in-belowout");
    repeat.txs.insert(repeat.txs.begin(), greedy);
    g.Refused(repeat, "bad-txns-BIP30");
    // It may be repeated once all of its coins are spent.
    const MutableTransaction all =
        SpendTx({OutPoint{g.parts, 0}, OutPoint{g.parts, 1}, OutPoint{g.parts, 2}}, {50 * kCoin});
    KitOptions spent;
    spent.txs = {all};
    g.Passes(spent);
    repeat.txs.erase(repeat.txs.begin());
    g.Refused(repeat, "bad-txns-inputs-missingorspent");
}

TEST_CASE("the known BIP30 repeats overwrite the coin, and taking them back leaves none")
{
    NetworkOptions options;
    options.activation_heights[BuriedDeployment::kHeightInCoinbase] = 500;
    ChainParams params = MakeChainParams(Network::kRegtest, options);
    const BlockKit kit(params);
    std::vector<KitBlock> blocks = kit.MakeChain(kit.Genesis(), 4);
    KitOptions repeat;
    repeat.change_coinbase = [&](MutableTransaction& tx) { tx = blocks[1].coinbase; };
    blocks.push_back(kit.Make(blocks.back(), repeat));
    const KitBlock& overwritten = blocks[1];
    const OutPoint name = overwritten.Reward();

    // In a block that fails for another reason the old coin is restored.
    KitOptions greedy = repeat;
    greedy.txs = {SpendTx({OutPoint{Txid(), 1}}, {kCoin})};
    const KitBlock failing = kit.Make(blocks[3], greedy);
    params.consensus.bip30_exceptions = {{2, overwritten.hash, 5, blocks[4].hash},
                                         {2, overwritten.hash, 5, failing.hash}};

    const TempDir dir;
    Engine engine(params, dir.Get() / "data");
    engine.Start();
    for (int i = 0; i < 4; ++i) engine.Process(blocks[static_cast<size_t>(i)].raw);
    const CoinsDump before = engine.Dump();
    engine.Process(failing.raw);
    CHECK(engine.witness.verdicts[failing.hash]->reason == "bad-txns-inputs-missingorspent");
    CHECK((engine.Dump() == before));

    engine.Process(blocks[4].raw);
    REQUIRE(engine.chain->Tip()->hash == blocks[4].hash);
    CHECK(Must(engine.chain->Coins().Read(name))->height == 5);
    CHECK(engine.Dump().size() == 4);
    // The overwritten coin is lost permanently; disconnecting its block must tolerate that.
    Must(engine.chain->InvalidateBlock(*engine.Node(overwritten.hash)));
    CHECK(engine.chain->Tip()->height == 1);
    CHECK(engine.Dump().size() == 1);
    Must(engine.chain->ReconsiderBlock(*engine.Node(overwritten.hash)));
    CHECK(engine.chain->Tip()->hash == blocks[4].hash);
    CHECK(engine.Dump().size() == 4);
    REQUIRE(Must(VerifyChain(*engine.chain, 4, 3)));
}

} // namespace ibd::test
