// -txindex and the follower of indexes: its records after blocks were connected and disconnected,
// the database's best block at each moment, and a disk that fails at any step.
#include "failing_disk.h"
#include "fake_chain.h"
#include "index/best_block.h"
#include "index/indexes.h"
#include "sim/fault_env.h"
#include "util/found.h"

#include <fstream>

using namespace ibd;
using namespace ibd::test;

namespace {

/** A TxIndex and its follower. */
struct Followed {
    Followed(const IndexChain& chain, std::unique_ptr<KvStore> db)
        : index(std::move(db)), follower(index, chain, TestEnv(), TestLog(), [](const Error&) {})
    {
    }

    std::optional<BlockHash> Named() const { return Must(ReadBestBlock(index.Db())); }

    TxIndex index;
    IndexFollower follower;
};

class Machine {
public:
    Machine()
        : params(MakeChainParams(Network::kRegtest)), branches(params),
          chain(params, folder / "blocks")
    {
        for (const Bytes& raw : branches.common) fork = chain.Add(raw);
        for (const Bytes& raw : branches.a) tip_a = chain.Add(raw);
        for (const Bytes& raw : branches.b) tip_b = chain.Add(raw);
    }

    Path Db() const { return folder / "indexes" / "txindex"; }
    std::unique_ptr<Followed> Open() { return Open(Db()); }
    std::unique_ptr<Followed> Open(const Path& db)
    {
        auto followed = std::make_unique<Followed>(chain, Must(OpenKv(folder / db)));
        Must(followed->follower.Open());
        return followed;
    }
    /** All transactions of the block are found, in it. */
    void CheckFinds(const TxIndex& index, const Bytes& raw) const
    {
        BlockView block;
        Must(block.Parse(raw));
        for (const TxView& tx : block.Txs()) {
            const auto found = Must(index.Find(chain.Blocks(), tx.txid));
            REQUIRE(found);
            REQUIRE(found->block == block.Hash());
            REQUIRE(std::ranges::equal(found->tx->View().raw, tx.raw));
        }
    }

    /** A block at the fork or below. */
    const Bytes& RawOf(const HeaderNode& node) const
    {
        return branches.common[static_cast<size_t>(node.height) - 1];
    }

    const TempDir folder{MemoryFolder()};
    const ChainParams params;
    const Branches branches;
    FakeChain chain;
    const HeaderNode *fork = nullptr, *tip_a = nullptr, *tip_b = nullptr;
};

} // namespace

TEST_CASE("the index finds every transaction of the active chain", "[txindex]")
{
    Machine machine;
    machine.chain.SetDurableTip(machine.tip_a);
    auto followed = machine.Open();
    CHECK_FALSE(followed->follower.Summary().synced);
    CHECK(followed->follower.Summary().hash == machine.params.consensus.genesis_hash);
    CHECK_FALSE(followed->follower.WaitForTip());
    Must(followed->follower.CatchUp());
    CHECK(followed->follower.Summary().synced);
    CHECK(followed->follower.Summary().height == machine.tip_a->height);
    CHECK(followed->follower.WaitForTip());
    for (const Bytes& raw : machine.branches.common) machine.CheckFinds(followed->index, raw);
    for (const Bytes& raw : machine.branches.a) machine.CheckFinds(followed->index, raw);
    const Txid genesis = machine.params.genesis.header.merkle_root;
    CHECK_FALSE(Must(followed->index.Find(machine.chain.Blocks(), genesis)));

    machine.chain.SetDurableTip(machine.tip_b);
    CHECK_FALSE(followed->follower.HasReached(machine.tip_b));
    CHECK(followed->follower.HasReached(machine.tip_a)); // the chain has left it
    Must(followed->follower.CatchUp());
    for (const Bytes& raw : machine.branches.b) machine.CheckFinds(followed->index, raw);
    CHECK(followed->Named() == machine.tip_b->hash);
}

TEST_CASE("damaged blocks are indexed again at their new positions", "[txindex]")
{
    Machine machine;
    machine.chain.SetDurableTip(machine.tip_a);
    auto followed = machine.Open();
    Must(followed->follower.CatchUp());
    const HeaderNode& damaged = *machine.fork->Ancestor(50);
    const HeaderNode& higher = *machine.fork->Ancestor(52);
    const auto check = [&] {
        machine.chain.Restore(higher, machine.RawOf(higher));
        machine.chain.Restore(damaged, machine.RawOf(damaged));
        Must(followed->follower.CatchUp());
        CHECK(followed->follower.Summary().synced);
        for (const Bytes& raw : machine.branches.common) machine.CheckFinds(followed->index, raw);
        for (const Bytes& raw : machine.branches.a) machine.CheckFinds(followed->index, raw);
    };
    machine.chain.Damage(higher);
    machine.chain.Damage(damaged);
    SECTION("restored before it notices") { check(); }
    SECTION("while it waits")
    {
        Must(followed->follower.CatchUp());
        CHECK_FALSE(followed->follower.Summary().synced);
        CHECK(followed->follower.Best() == damaged.prev);
        CHECK(followed->Named() == damaged.prev->hash);
        check();
    }
    SECTION("restored after a crash and a restart")
    {
        Must(followed->follower.CatchUp());
        machine.chain.ForgetDamage();
        followed = nullptr;
        machine.chain.Restore(higher, machine.RawOf(higher));
        machine.chain.Restore(damaged, machine.RawOf(damaged));
        followed = machine.Open();
        check();
    }
    SECTION("found by an earlier run")
    {
        machine.chain.ForgetDamage();
        followed = nullptr;
        followed = machine.Open();
        CHECK(followed->Named() == damaged.prev->hash);
        check();
    }
}

TEST_CASE("damage never makes the database name a block above the coins on disk", "[txindex]")
{
    Machine machine;
    machine.chain.SetDurableTip(machine.fork->Ancestor(40));
    auto followed = machine.Open();
    Must(followed->follower.CatchUp());
    machine.chain.SetTip(machine.fork);
    Must(followed->follower.CatchUp());
    const HeaderNode& damaged = *machine.fork->Ancestor(50);
    machine.chain.Damage(damaged);
    Must(followed->follower.CatchUp());
    CHECK(followed->follower.Best() == damaged.prev);
    CHECK(followed->Named() == machine.fork->Ancestor(40)->hash);
}

TEST_CASE("the database never names a block above the coins on disk", "[txindex]")
{
    Machine machine;
    machine.chain.SetTip(machine.fork);
    auto followed = machine.Open();
    Must(followed->follower.CatchUp());
    CHECK_FALSE(followed->Named());
    machine.chain.SetFlushed(machine.fork->Ancestor(50));
    Must(followed->follower.Save());
    CHECK_FALSE(followed->Named()); // its state at that block is gone
    machine.chain.SetFlushed(machine.fork);
    Must(followed->follower.Save());
    CHECK(followed->Named() == machine.fork->hash);

    // Blocks above the last write of the coins: the name stays.
    machine.chain.SetTip(machine.tip_a);
    Must(followed->follower.CatchUp());
    CHECK(followed->follower.Best() == machine.tip_a);
    CHECK(followed->Named() == machine.fork->hash);

    // A write of the coins is noticed before the next block is taken, and not after it.
    machine.chain.SetFlushed(machine.tip_a);
    machine.chain.SetTip(machine.tip_b);
    Must(followed->follower.CatchUp());
    CHECK(followed->follower.Best() == machine.tip_b);
    CHECK(followed->Named() == machine.fork->hash); // of tip_a, and then its blocks were taken back
    machine.CheckFinds(followed->index, machine.branches.b.back());

    // After a crash the node is at tip_a again.
    followed.reset();
    machine.chain.SetDurableTip(machine.tip_a);
    followed = machine.Open();
    CHECK(followed->follower.Best() == machine.fork);
    Must(followed->follower.CatchUp());
    for (const Bytes& raw : machine.branches.a) machine.CheckFinds(followed->index, raw);
}

TEST_CASE("a start writes the name of the best block, if it is no new one too", "[txindex]")
{
    Machine machine;
    machine.chain.SetDurableTip(machine.tip_a);
    auto followed = machine.Open();
    Must(followed->follower.CatchUp());
    followed.reset();
    followed = machine.Open();
    KvBatch batch(followed->index.Db());
    const auto forget = [&] {
        batch.Erase(Bytes{'B'});
        Must(followed->index.Db().Write(batch));
        REQUIRE_FALSE(followed->Named());
    };
    forget();
    Must(followed->follower.CatchUp());
    CHECK(followed->Named() == machine.tip_a->hash);
    forget();
    Must(followed->follower.CatchUp()); // once a start
    CHECK_FALSE(followed->Named());
}

TEST_CASE("an index that was off goes on, also after a reorganisation", "[txindex]")
{
    Machine machine;
    machine.chain.SetDurableTip(machine.tip_a);
    auto followed = machine.Open();
    Must(followed->follower.CatchUp());
    followed.reset();
    machine.chain.SetDurableTip(machine.tip_b);
    followed = machine.Open();
    CHECK(followed->follower.Best() == machine.tip_a);
    Must(followed->follower.CatchUp());
    CHECK(followed->follower.Best() == machine.tip_b);
    for (const Bytes& raw : machine.branches.b) machine.CheckFinds(followed->index, raw);

    // Blocks taken back without others in their place: the index waits for these.
    machine.chain.SetDurableTip(machine.fork);
    Must(followed->follower.CatchUp());
    CHECK(followed->follower.Best() == machine.tip_b);
    CHECK(followed->follower.HasReached(machine.fork));
}

TEST_CASE("the follower's thread takes blocks as they come", "[txindex]")
{
    Machine machine;
    machine.chain.SetDurableTip(machine.fork);
    IndexOptions options;
    options.tx = true;
    options.tx_cache = 1 << 20;
    Indexes indexes({.env = TestEnv(),
                     .log = TestLog(),
                     .consensus = machine.params.consensus,
                     .folder = machine.folder / "indexes",
                     .options = options,
                     .failed = [](const Error& error) { FAIL(error.message); }});
    Must(indexes.Open(machine.chain));
    indexes.Start();
    const IndexFollower& follower = indexes.FollowerOf(*indexes.Tx());
    while (!follower.WaitForTip()) std::this_thread::yield();
    for (const HeaderNode* tip : {machine.tip_a, machine.tip_b}) {
        machine.chain.SetDurableTip(tip);
        indexes.Take(TipChanged{{tip->hash, tip->height}});
        CHECK(follower.WaitForTip());
        CHECK(follower.Best() == tip);
    }
    indexes.Stop();
    CHECK(Must(ReadBestBlock(indexes.Tx()->Db())) == machine.tip_b->hash);
    CHECK(indexes.Summaries().at(0).name == "txindex");
}

TEST_CASE("how much an index has left, and whether the disk has room for it", "[txindex]")
{
    Machine machine;
    machine.chain.SetDurableTip(machine.fork);
    machine.chain.CountTxs(*machine.fork, 1'000'000'000);
    FaultEnv env;
    IndexOptions options;
    options.tx = options.coin_stats = true;
    options.tx_cache = 1 << 20;
    Indexes indexes({.env = env,
                     .log = TestLog(),
                     .consensus = machine.params.consensus,
                     .folder = machine.folder / "indexes",
                     .options = options,
                     .failed = {}});
    Must(indexes.Open(machine.chain));
    env.SetSpace(uint64_t{60} << 30);
    CHECK(indexes.LackOfSpace().empty());
    env.SetSpace(uint64_t{40} << 30);
    const std::vector<std::string> lacks = indexes.LackOfSpace();
    REQUIRE(lacks.size() == 2); // there is no room for the second one after the first either
    CHECK(lacks[0].find("may not accommodate txindex. Approximately 50 GB") != std::string::npos);
    CHECK(lacks[1].find("may not accommodate coinstatsindex. Approximately 1 GB") !=
          std::string::npos);
    IndexSummary summary = indexes.Summaries().at(0);
    CHECK(summary.blocks_left == machine.fork->height + 1);
    CHECK_FALSE(summary.seconds_left);

    auto followed = machine.Open("own");
    Must(followed->follower.CatchUp());
    CHECK(followed->follower.DiskNeeded() == 0);
    CHECK(followed->follower.Summary().blocks_left == 0);
    machine.chain.SetDurableTip(machine.tip_a);
    summary = followed->follower.Summary();
    CHECK(summary.blocks_left == machine.tip_a->height - machine.fork->height);
    CHECK(summary.seconds_left);
}

TEST_CASE("an index that cannot be used is one error", "[txindex]")
{
    Machine machine;
    machine.chain.SetDurableTip(machine.fork);
    auto followed = machine.Open();
    Must(followed->follower.CatchUp());

    SECTION("of another chain")
    {
        KvBatch batch(followed->index.Db());
        HeaderNode other = *machine.fork;
        other.hash = BlockHash(Sha256d(other.hash.Span()));
        PutBestBlock(batch, other);
        Must(followed->index.Db().Write(batch));
        followed.reset();
        Followed again(machine.chain, Must(OpenKv(machine.Db())));
        CHECK(again.follower.Open().Message() ==
              "best block of txindex not found. Please rebuild the index.");
    }
    SECTION("damaged")
    {
        followed.reset();
        for (const auto& entry : std::filesystem::directory_iterator(machine.Db())) {
            if (entry.path().filename().string().starts_with("MANIFEST")) {
                std::ofstream(entry.path(), std::ios::trunc) << "no database";
            }
        }
        IndexOptions options;
        options.tx = true;
        Indexes indexes({TestEnv(),
                         TestLog(),
                         machine.params.consensus,
                         machine.folder / "indexes",
                         options,
                         {}});
        const Result<> opened = indexes.Open(machine.chain);
        REQUIRE(IsBadData(opened));
        CHECK(opened.Message().find("Delete the folder '" + machine.Db().string() + "'") !=
              std::string::npos);
        CHECK(opened.Message().find("without -txindex") != std::string::npos);
        Indexes wiped({TestEnv(),
                       TestLog(),
                       machine.params.consensus,
                       machine.folder / "indexes",
                       options,
                       {}});
        Must(wiped.Destroy()); // as -reindex does
        Must(wiped.Open(machine.chain));
    }
    SECTION("a position that leads nowhere")
    {
        BlockView block;
        Must(block.Parse(machine.branches.common.back()));
        const Txid txid = block.Txs()[0].txid;
        Bytes key = {'t'};
        Append(key, txid.Span());
        KvBatch batch(followed->index.Db());
        batch.Put(key, Bytes{0x00, 0x08, 0x7f}); // inside genesis
        Must(followed->index.Db().Write(batch));
        CHECK(IsBadData(followed->index.Find(machine.chain.Blocks(), txid)));
        KvBatch cut(followed->index.Db());
        cut.Put(key, Bytes{0x00});
        Must(followed->index.Db().Write(cut));
        CHECK(IsBadData(followed->index.Find(machine.chain.Blocks(), txid)));
    }
}

TEST_CASE("any step of the index's disk fails once", "[txindex]")
{
    Machine machine;
    std::map<Bytes, Bytes> expected;
    FailEachStep(
        machine.chain, machine.tip_a, machine.tip_b,
        [](std::unique_ptr<KvStore> db) { return std::make_unique<TxIndex>(std::move(db)); },
        [&](const TxIndex& index) {
            const std::map<Bytes, Bytes> records = RecordsOf(index.Db());
            if (expected.empty()) expected = records;
            REQUIRE(records == expected);
        });
    CHECK(expected.size() > 10);
}
