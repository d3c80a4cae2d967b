// Random chains with any spend and repeated coinbases, against a serial walk over a map: a valid
// chain gives its hints, an invalid one the error of the walk, in any order of the blocks.
#include "undo_setup.h"

#include "consensus/block_check.h"
#include "script/coin.h"
#include "sim/block_draft.h"
#include "support/testdata.h"

using namespace ibd;
using namespace ibd::test;

namespace {

struct Made {
    uint32_t height = 0;
    uint32_t index = 0; //!< as hints count
};

/** A chain of few transactions, with all that a walk over it finds out. */
class WildChain {
public:
    WildChain() : m_params(MakeChainParams(Network::kRegtest)), m_tree(m_params)
    {
        m_params.consensus.bip34_height = 1'000'000; // coinbases need no height
    }

    const ChainParams& Params() const { return m_params; }
    const HeaderNode& Tip() const { return *m_tree.BestHeader(); }
    ByteSpan Raw(uint32_t height) const { return m_raw[height - 1]; }
    uint32_t Height() const { return static_cast<uint32_t>(m_raw.size()); }
    /** Whether the walk came to the end. */
    bool Valid() const { return m_wrong.empty(); }
    const std::string& Wrong() const { return m_wrong; } //!< the reason, or empty
    int32_t WrongHeight() const { return m_wrong_height; }
    const std::map<OutPoint, Made>& Unspent() const { return m_unspent; }
    uint32_t Counted(uint32_t height) const { return m_counted[height - 1]; }

    static MutableTransaction Coinbase(uint32_t tag, size_t outputs = 1)
    {
        MutableTransaction tx;
        tx.inputs.emplace_back().script_sig = {4, uint8_t(tag), uint8_t(tag >> 8),
                                               uint8_t(tag >> 16), 0};
        for (size_t i = 0; i < outputs; ++i) tx.outputs.push_back({1, {0x51}});
        return tx;
    }
    static MutableTransaction Spend(const std::vector<OutPoint>& coins, size_t outputs = 1)
    {
        MutableTransaction tx;
        for (const OutPoint& coin : coins) tx.inputs.emplace_back().prevout = coin;
        for (size_t i = 0; i < outputs; ++i) {
            tx.outputs.push_back({1, i % 3 == 1 ? Bytes{0x6a} : Bytes{0x51}}); // some unspendable
        }
        return tx;
    }

    void Add(std::vector<MutableTransaction> txs)
    {
        sim::BlockDraft block;
        block.txs = std::move(txs);
        block.header.version = 0x20000000;
        block.header.prev_hash = Tip().hash;
        block.header.time = Tip().time + 600;
        block.header.bits = m_params.genesis.header.bits;
        block.FixRoot();
        m_raw.push_back(block.ToBytes());
        REQUIRE(m_tree.Insert(block.header, block.header.Hash()));
        Walk(block);
    }

    /** Stores all blocks, as the nodes then say. */
    std::unique_ptr<BlockStore> Store(Env& env, Logger& log, const Path& directory)
    {
        std::filesystem::create_directories(directory);
        BlockStoreOptions options;
        options.blocks_dir = directory;
        options.magic = m_params.magic;
        auto store = Must(BlockStore::Open(env, log, options));
        for (uint32_t h = 1; h <= Height(); ++h) {
            HeaderNode& node = *m_tree.BestHeader()->Ancestor(static_cast<int>(h));
            const FilePos pos = Must(store->WriteBlock(Raw(h), h, node.time));
            node.file = pos.file;
            node.data_pos = pos.offset;
            node.status |= kHaveData;
        }
        return store;
    }

    sim::LyingSupply Supply() const
    {
        return {Tip(),
                [this](uint32_t height) { return Raw(height); },
                {.seed = TestRng()(), .lies = 0}};
    }

private:
    void Walk(const sim::BlockDraft& block)
    {
        const uint32_t height = Height();
        for (const MutableTransaction& tx : block.txs) {
            ForEachOutput(tx, [&](const OutPoint& out) {
                if (m_unspent.contains(out)) Fail("bad-txns-BIP30", out, height);
            });
        }
        uint32_t index = 0;
        for (const MutableTransaction& tx : block.txs) {
            const bool coinbase = &tx == block.txs.data();
            for (const auto& input : tx.inputs) {
                if (coinbase || m_unspent.erase(input.prevout) == 1) continue;
                Fail("bad-txns-inputs-missingorspent", input.prevout, height);
            }
            ForEachOutput(tx, [&](const OutPoint& out) { m_unspent[out] = {height, index++}; });
        }
        m_counted.push_back(index);
    }
    /** That can be spent. */
    static void ForEachOutput(const MutableTransaction& tx,
                              const std::function<void(const OutPoint&)>& take)
    {
        for (uint32_t i = 0; i < tx.outputs.size(); ++i) {
            if (!IsUnspendable(tx.outputs[i].script_pubkey)) take({tx.Id(), i});
        }
    }
    void Fail(const std::string& reason, const OutPoint& outpoint, uint32_t height)
    {
        if (!Valid()) return;
        m_wrong = reason;
        m_wrong_outpoint = fmt::format("{}:{}", outpoint.txid.ToHex(), outpoint.vout);
        m_wrong_height = static_cast<int32_t>(height);
    }

public:
    std::string m_wrong_outpoint;

private:
    ChainParams m_params;
    HeaderTree m_tree;
    std::vector<Bytes> m_raw;
    std::map<OutPoint, Made> m_unspent;
    std::vector<uint32_t> m_counted;
    std::string m_wrong;
    int32_t m_wrong_height = -1;
};

/** Likewise that of some of the last blocks alone, without a join unless it takes one. */
void RequireLastUndo(WildChain& chain, UndoOptions options, BlockStore& store,
                     const std::vector<Bytes>& right)
{
    FaultEnv env;
    const auto log = MakeNullLogger();
    const std::atomic<bool> stop = false;
    const uint64_t first = 1 + TestRng().Below(chain.Height());
    CAPTURE(first);
    FileBlockSupply supply(env, store, chain.Tip(), AnyOrder());
    KeptUndo undo;
    undo.first = options.first_height = static_cast<int32_t>(first);
    UndoRebuild rebuild(env, *log, chain.Params(), chain.Tip(), store, supply, options, stop);
    RequireDone(rebuild.RunLast(undo));
    REQUIRE(undo.Ordered());
    const auto begin = right.begin() + static_cast<std::ptrdiff_t>(first - 1);
    REQUIRE(undo.Records() == std::vector<Bytes>(begin, right.end()));
}

/** Makes the undo data of a valid chain, as strangers bring it, and holds it against a walk. */
void RequireUndo(WildChain& chain, unsigned threads, size_t memory)
{
    TempDir dir(MemoryFolder());
    FaultEnv env;
    const auto log = MakeNullLogger();
    const std::atomic<bool> stop = false;
    const auto store = chain.Store(env, *log, dir.Get() / "blocks");
    sim::LyingSupply supply = chain.Supply();
    UndoOptions options;
    options.join = MakeJoinOptions(dir.Get() / "join", threads, memory);
    options.checks = UndoChecks::kNone;
    options.outlines = TestRng().Below(2) == 0;
    KeptUndo undo;
    UndoRebuild rebuild(env, *log, chain.Params(), chain.Tip(), *store, supply, options, stop);
    const auto verdict = Must(rebuild.Run(undo));
    REQUIRE(verdict.kind == VerdictKind::kDone);
    REQUIRE(undo.Ordered());
    REQUIRE(undo.Records() ==
            WalkUndo(chain.Height(), [&](uint32_t height) { return chain.Raw(height); }));
    RequireClean(dir.Get() / "join");
    RequireLastUndo(chain, options, *store, undo.Records());
}

/** In `dir`. */
GeneratedHints Join(WildChain& chain, Env& env, BlockSupply& supply, const Path& dir,
                    const JoinOptions& options)
{
    const auto log = MakeNullLogger();
    const std::atomic<bool> stop = false;
    return Must(GenerateHints(env, *log, chain.Params(), chain.Tip(), supply, options, stop,
                              dir / "hints", HintsFormat::kContainer1));
}

/** Joins the chain, with blocks from a supply that may lie, and compares the outcome with the
 *  walk's; with `exactly` also the reason, which may differ otherwise because a block may break
 *  several rules. */
void RequireJoined(WildChain& chain, unsigned threads, size_t memory, bool exactly)
{
    TempDir dir(MemoryFolder());
    FaultEnv env;
    sim::LyingSupply supply = chain.Supply();
    const Path out = dir.Get() / "hints";
    const auto made =
        Join(chain, env, supply, dir.Get(), MakeJoinOptions(dir.Get() / "join", threads, memory));
    RequireClean(dir.Get() / "join");
    INFO(made.verdict.reason);
    CAPTURE(chain.Wrong(), chain.m_wrong_outpoint, chain.WrongHeight());
    if (!chain.Valid()) {
        REQUIRE(made.verdict.kind == VerdictKind::kBlockInvalid);
        REQUIRE(made.verdict.height == chain.WrongHeight());
        REQUIRE(made.verdict.reason.find("bad-txns-") != std::string::npos);
        REQUIRE_FALSE(std::filesystem::exists(out));
        if (!exactly) return;
        REQUIRE(made.verdict.reason.find(chain.Wrong()) != std::string::npos);
        REQUIRE(made.verdict.reason.find(chain.m_wrong_outpoint) != std::string::npos);
        return;
    }
    REQUIRE(made.verdict.kind == VerdictKind::kDone);
    REQUIRE(made.verdict.totals.unspent == chain.Unspent().size());
    const auto hints = Must(OpenHints(env, out));
    std::map<uint32_t, std::set<uint32_t>> right;
    for (const auto& [outpoint, coin] : chain.Unspent()) right[coin.height].insert(coin.index);
    BlockHints found;
    for (uint32_t h = 1; h <= chain.Height(); ++h) {
        Must(hints->Read(h, found));
        REQUIRE(found.outputs == chain.Counted(h));
        REQUIRE(found.unspent == std::vector<uint32_t>(right[h].begin(), right[h].end()));
    }
    RequireUndo(chain, threads, memory);
}

/** Blocks whose transactions spend what is there and now and then, `wild` times in a thousand, an
 *  impossible event; every few blocks a repeated coinbase, if allowed or `wild`. */
std::unique_ptr<WildChain> RandomChain(uint64_t wild)
{
    auto& rng = TestRng();
    auto made = std::make_unique<WildChain>();
    WildChain& chain = *made;
    std::vector<OutPoint> live, dead;
    std::vector<uint32_t> tags;
    const auto blocks = static_cast<uint32_t>(5 + rng.Below(60));
    for (uint32_t b = 1; b <= blocks && chain.Valid(); ++b) {
        uint32_t tag = b;
        if (b > 2 && rng.Chance(1, 4)) {
            const uint32_t old = tags[rng.Below(tags.size())];
            const OutPoint repeated{WildChain::Coinbase(old).Id(), 0};
            if (!chain.Unspent().contains(repeated) || rng.Chance(wild, 1'000)) tag = old;
        }
        tags.push_back(tag);
        std::vector<MutableTransaction> txs = {WildChain::Coinbase(tag)};
        std::vector<OutPoint> fresh;
        for (uint64_t n = rng.Below(6); n > 0; --n) {
            std::vector<OutPoint> coins;
            for (uint64_t i = 1 + rng.Below(3); i > 0; --i) {
                auto& from = !dead.empty() && rng.Chance(wild, 1'000) ? dead : live;
                if (from.empty()) continue;
                const size_t at = rng.Below(from.size());
                if (&from == &live) dead.push_back(from[at]);
                coins.push_back(from[at]);
                if (&from == &live) live.erase(live.begin() + static_cast<std::ptrdiff_t>(at));
            }
            std::sort(coins.begin(), coins.end());
            coins.erase(std::unique(coins.begin(), coins.end()), coins.end());
            if (rng.Chance(wild, 5'000)) {
                coins.push_back({Txid::FromBytes(RandomBytes(32).data()), 0});
            }
            if (coins.empty()) continue;
            txs.push_back(WildChain::Spend(coins, 1 + rng.Below(4)));
            // Two that are alike would be a mutated block, not one that spends twice.
            txs.back().lock_time = static_cast<uint32_t>(txs.size());
            const Txid id = txs.back().Id();
            for (uint32_t i = 0; i < txs.back().outputs.size(); ++i) {
                if (i % 3 != 1) live.push_back({id, i});
            }
        }
        chain.Add(txs);
        live.push_back({txs[0].Id(), 0});
    }
    return made;
}

} // namespace

TEST_CASE("What is spent twice or not there is named, and what is valid is joined", "[join]")
{
    int valid = 0, invalid = 0;
    for (int round = 0; round < 300; ++round) {
        const uint64_t wild = TestRng().Below(3) * 15;
        const auto chain = RandomChain(wild);
        CAPTURE(round, wild, chain->Height());
        ++(chain->Valid() ? valid : invalid);
        const auto threads = 1 + static_cast<unsigned>(TestRng().Below(2));
        RequireJoined(*chain, threads, TestRng().Chance(1, 2) ? 1 : 1 << 20, false);
    }
    CHECK(valid > 80);
    CHECK(invalid > 80);
}

TEST_CASE("A coinbase that comes again after it was spent has two lives", "[join]")
{
    for (const bool spent_again : {false, true}) {
        WildChain chain;
        const auto coinbase = WildChain::Coinbase(7);
        const OutPoint coin{coinbase.Id(), 0};
        chain.Add({coinbase});
        chain.Add({WildChain::Coinbase(2), WildChain::Spend({coin})});
        chain.Add({coinbase});
        if (spent_again) chain.Add({WildChain::Coinbase(4), WildChain::Spend({coin}, 2)});
        chain.Add({WildChain::Coinbase(5)});
        REQUIRE(chain.Valid());
        REQUIRE(chain.Unspent().contains(coin) == !spent_again);
        for (int i = 0; i < 20; ++i) RequireJoined(chain, 1 + i % 2, i % 3 ? 1 << 20 : 1, true);
    }
}

TEST_CASE("An output is not spent in a block below its own", "[join]")
{
    WildChain chain;
    const auto later = WildChain::Coinbase(3);
    chain.Add({WildChain::Coinbase(1)});
    chain.Add({WildChain::Coinbase(2), WildChain::Spend({{later.Id(), 0}})});
    chain.Add({later});
    REQUIRE(chain.Wrong() == "bad-txns-inputs-missingorspent");
    REQUIRE(chain.WrongHeight() == 2);
    for (int i = 0; i < 10; ++i) RequireJoined(chain, 1 + i % 2, i % 3 ? 1 << 20 : 1, true);
}

TEST_CASE("A spend of what was spent, or never was, is named by outpoint and height", "[join]")
{
    for (const bool was : {true, false}) {
        WildChain chain;
        const auto first = WildChain::Coinbase(1, 3);
        const OutPoint coin{first.Id(), was ? 1u : 3u};
        chain.Add({first});
        chain.Add({WildChain::Coinbase(2), WildChain::Spend({{first.Id(), 1}})});
        chain.Add({WildChain::Coinbase(3)});
        chain.Add({WildChain::Coinbase(4), WildChain::Spend({{first.Id(), 0}, coin}, 2)});
        chain.Add({WildChain::Coinbase(5), WildChain::Spend({{first.Id(), 2}, coin}, 3)});
        REQUIRE(chain.Wrong() == "bad-txns-inputs-missingorspent");
        REQUIRE(chain.WrongHeight() == 4);
        for (int i = 0; i < 20; ++i) RequireJoined(chain, 1 + i % 2, i % 3 ? 1 << 20 : 1, true);
    }
}

TEST_CASE("A coinbase made again while its first coin is there is named", "[join]")
{
    WildChain chain;
    const auto coinbase = WildChain::Coinbase(9, 2);
    chain.Add({coinbase});
    chain.Add({WildChain::Coinbase(2), WildChain::Spend({{coinbase.Id(), 0}})});
    chain.Add({coinbase});
    REQUIRE(chain.Wrong() == "bad-txns-BIP30");
    REQUIRE(chain.WrongHeight() == 3);
    for (int i = 0; i < 10; ++i) RequireJoined(chain, 1 + i % 2, i % 3 ? 1 << 20 : 1, true);
}

TEST_CASE("Where the order of the chain has no room, nothing is said of any block", "[join]")
{
    for (const bool comes_back : {false, true}) {
        WildChain chain;
        const auto coinbase = WildChain::Coinbase(7, 2);
        const OutPoint coin{coinbase.Id(), 0};
        chain.Add({coinbase});
        chain.Add({WildChain::Coinbase(2), WildChain::Spend({coin, {coinbase.Id(), 1}})});
        if (comes_back)
            chain.Add({coinbase});
        else
            chain.Add({WildChain::Coinbase(3), WildChain::Spend({coin}, 2)});
        REQUIRE(chain.Valid() == comes_back);
        TempDir dir(MemoryFolder());
        FaultEnv env;
        sim::LyingSupply supply = chain.Supply();
        Must(supply.Begin([](int32_t) { return false; }));
        const uint64_t once = ExpectedSpillBytes(supply.EstimatedBytes(), false);
        JoinOptions options = MakeJoinOptions(dir.Get() / "join", 1, 1);
        options.values = false; // which would take more
        const auto join = [&](uint64_t room) {
            env.SetSpace(room);
            return Join(chain, env, supply, dir.Get(), options);
        };
        const auto cramped = join(once);
        REQUIRE(cramped.verdict.kind == VerdictKind::kUndecided);
        CHECK(cramped.verdict.reason.find("but the join needs about") != std::string::npos);
        RequireClean(dir.Get() / "join");
        CHECK_FALSE(std::filesystem::exists(dir.Get() / "hints.incomplete"));
        const auto roomy = join(ExpectedSpillBytes(supply.EstimatedBytes(), true));
        CHECK(roomy.verdict.kind == (comes_back ? VerdictKind::kDone : VerdictKind::kBlockInvalid));
    }
}

TEST_CASE("An outpoint spent more often than there is memory is no matter for the join", "[join]")
{
    WildChain chain;
    const auto coinbase = WildChain::Coinbase(1);
    chain.Add({coinbase});
    std::vector<MutableTransaction> txs = {WildChain::Coinbase(2)};
    constexpr size_t kSpends =
        2 * PartitionJoin<ValuedRecord>::kMostCrowded * PartitionJoin<ValuedRecord>::kMinRecords;
    for (size_t i = 0; i < kSpends; ++i) {
        txs.push_back(WildChain::Spend({{coinbase.Id(), 0}}));
        txs.back().lock_time = static_cast<uint32_t>(i);
    }
    chain.Add(txs);
    REQUIRE_FALSE(chain.Valid());
    for (const bool values : {false, true}) {
        for (const bool pairs : {false, true}) {
            TempDir dir(MemoryFolder());
            FaultEnv env;
            sim::LyingSupply supply = chain.Supply();
            JoinOptions options = MakeJoinOptions(dir.Get() / "join", 2, 1);
            options.values = values;
            options.pairs = pairs;
            const auto cramped = Join(chain, env, supply, dir.Get(), options);
            REQUIRE(cramped.verdict.kind == VerdictKind::kUndecided);
            CHECK(cramped.verdict.reason.find("there is memory") != std::string::npos);
            RequireClean(dir.Get() / "join");
            options.least_thread_bytes = 1 << 20;
            const auto roomy = Join(chain, env, supply, dir.Get(), options);
            CHECK(roomy.verdict.kind == VerdictKind::kBlockInvalid);
            CHECK(roomy.verdict.height == 2);
        }
    }
}
