// The state after a crash, and the result of the next start: the coins at the block that the index
// knows, exactly.
#include "block_kit.h"
#include "crypto/sha256.h"
#include "fixture.h"
#include "sim/chain.h"

#include <iostream>
#include <set>

namespace ibd::test {

namespace {

struct Branches {
    std::vector<Bytes> common, a, b; //!< b is one longer than a
    BlockHash tip_a, tip_b;
};

Branches MakeBranches(const ChainParams& params, uint64_t seed)
{
    sim::ChainOptions options;
    options.seed = seed;
    options.blocks = 170;
    options.outputs_per_block = 25;
    sim::Chain chain(params, options);
    Branches out;
    for (int i = 0; i < 130; ++i) out.common.push_back(chain.Next().bytes);
    sim::Chain other = chain;
    other.Reseed(seed + 1);
    for (int i = 0; i < 20; ++i) out.a.push_back(chain.Next().bytes);
    for (int i = 0; i < 21; ++i) out.b.push_back(other.Next().bytes);
    out.tip_a = chain.TipHash();
    out.tip_b = other.TipHash();
    return out;
}

void Feed(Engine& engine, const std::vector<Bytes>& blocks)
{
    for (const Bytes& raw : blocks) REQUIRE(!engine.Process(raw).violation);
}

using Dumps = std::map<BlockHash, CoinsDump>;

/** Connects the blocks and notes the coins at each. */
void FeedAndNote(Engine& engine, const std::vector<Bytes>& blocks, Dumps& dumps)
{
    for (const Bytes& raw : blocks) {
        REQUIRE(!engine.Process(raw).violation);
        dumps[engine.chain->Tip()->hash] = engine.Dump();
    }
}

/** Begins to move the coins from one state to the other and stops before the end, as a crash
 *  between two batches does. */
void WriteHalf(CoinsDb& db, const CoinsDump& from, const CoinsDump& to, const BlockHash& best)
{
    CoinsWriter writer = Must(db.StartWrite(best));
    for (const auto& [outpoint, value] : to) {
        const auto old = from.find(outpoint);
        if (old == from.end() || old->second != value) writer.PutRaw(outpoint, value);
        if (TestRng()() % 100 == 0) return;
    }
    for (const auto& [outpoint, value] : from) {
        if (!to.contains(outpoint)) writer.Erase(outpoint);
        if (TestRng()() % 100 == 0) return;
    }
}

} // namespace

TEST_CASE("a write of the coins that was cut off is completed from the blocks")
{
    const ChainParams params = MakeChainParams(Network::kRegtest);
    for (int round = 0; round < 4; ++round) {
        const uint64_t seed = TestRng()();
        INFO("seed " << seed);
        const Branches branches = MakeBranches(params, seed);
        const TempDir dir;
        Dumps dumps;
        BlockHash from, to;
        {
            Engine engine(params, dir.Get() / "data", {}, 200);
            engine.Attach();
            Must(engine.chain->ActivateBestChain());
            Feed(engine, branches.common);
            FeedAndNote(engine, branches.a, dumps);
            const HeaderNode* split =
                engine.chain->Read().Active()[static_cast<int>(branches.common.size()) + 1];
            Must(engine.chain->InvalidateBlock(*split));
            FeedAndNote(engine, branches.b, dumps);
            Must(engine.chain->ReconsiderBlock(*engine.Node(branches.tip_a)));
            Must(engine.chain->FlushIndex());
            // From somewhere on one branch to somewhere on either.
            auto any = [&] {
                auto it = dumps.begin();
                std::advance(it, TestRng()() % dumps.size());
                return it->first;
            };
            from = any();
            to = any();
            if (from == to) to = branches.tip_b;
            if (from == to) from = branches.tip_a;
            // Put the database at `from`, then write towards `to` without an end.
            CoinsDb& db = engine.chain->CoinsDatabase();
            CoinsWriter writer = Must(db.StartWrite(from));
            for (const auto& [outpoint, value] : dumps[branches.tip_b]) writer.Erase(outpoint);
            for (const auto& [outpoint, value] : dumps[from]) writer.PutRaw(outpoint, value);
            Must(writer.Commit());
            WriteHalf(db, dumps[from], dumps[to], to);
            // It may have stopped before its first batch.
            if (Must(db.HeadBlocks()).empty()) to = from;
        }
        Engine engine(params, dir.Get() / "data");
        engine.Attach();
        CHECK(engine.chain->Tip()->hash == to);
        CHECK((engine.Dump() == dumps[to]));
        Must(engine.chain->ActivateBestChain());
        CHECK(engine.chain->Tip()->hash == branches.tip_b);
        CHECK((engine.Dump() == dumps[branches.tip_b]));
        REQUIRE(Must(VerifyChain(*engine.chain, 4, 0)));
    }
}

TEST_CASE("a node that dies without writing starts where it last wrote")
{
    const ChainParams params = MakeChainParams(Network::kRegtest);
    const Branches branches = MakeBranches(params, TestRng()());
    const TempDir dir;
    CoinsDump at_common;
    {
        Engine engine(params, dir.Get() / "data");
        engine.Start();
        Feed(engine, branches.common);
        at_common = engine.Dump();
        Feed(engine, branches.a);
        // The index was written, the coins were not.
        Must(engine.chain->FlushIndex());
    }
    {
        Engine engine(params, dir.Get() / "data");
        engine.Attach();
        CHECK(engine.chain->Tip()->height == static_cast<int>(branches.common.size()));
        CHECK((engine.Dump() == at_common));
        Must(engine.chain->ActivateBestChain());
        CHECK(engine.chain->Tip()->hash == branches.tip_a);
        // Dies in the middle of a reorganisation: the way down was written.
        for (const Bytes& raw : branches.b) Must(engine.chain->AcceptBlock(raw));
        Must(engine.chain->FlushIndex());
    }
    Engine engine(params, dir.Get() / "data");
    engine.Start();
    CHECK(engine.chain->Tip()->hash == branches.tip_b);
    CHECK(engine.Dump().size() > at_common.size());
    REQUIRE(Must(VerifyChain(*engine.chain, 4, 0)));
}

TEST_CASE("an interrupt during a reorganisation stops it at a block, and it is finished later")
{
    const ChainParams params = MakeChainParams(Network::kRegtest);
    const Branches branches = MakeBranches(params, TestRng()());
    const TempDir dir;
    class StopAfter final : public ChainObserver {
    public:
        StopAfter(std::atomic<bool>& interrupt, int left) : m_interrupt(interrupt), m_left(left) {}
        void BlockConnected(const HeaderNode&, const BlockView&) override
        {
            if (--m_left == 0) m_interrupt = true;
        }

    private:
        std::atomic<bool>& m_interrupt;
        int m_left;
    };
    {
        Engine engine(params, dir.Get() / "data");
        engine.Start();
        Feed(engine, branches.common);
        Feed(engine, branches.a);
        for (const Bytes& raw : branches.b) Must(engine.chain->AcceptBlock(raw));
        StopAfter stop(engine.interrupt, 5);
        engine.chain->SetObserver(&stop);
        Must(engine.chain->ActivateBestChain());
        CHECK(engine.chain->Tip()->height == static_cast<int>(branches.common.size()) + 5);
        Must(engine.chain->Flush(FlushMode::kAlways));
    }
    Engine engine(params, dir.Get() / "data");
    engine.Start();
    CHECK(engine.chain->Tip()->hash == branches.tip_b);
    REQUIRE(Must(VerifyChain(*engine.chain, 4, 0)));
}

TEST_CASE(
    "what a crash at any step of a reorganisation leaves ends at the best tip, with its coins")
{
    const ChainParams params = MakeChainParams(Network::kRegtest);
    const Branches branches = MakeBranches(params, TestRng()());
    const TempDir dir;
    /** Copies the directory as it stands on disk after each step that the dice choose. */
    class CopyAt final : public ChainObserver {
    public:
        explicit CopyAt(const Path& base) : m_base(base) {}
        void BlockConnected(const HeaderNode&, const BlockView&) override { Step(); }
        void BlockDisconnected(const HeaderNode&, const BlockView&) override { Step(); }
        size_t Copies() const { return m_copies; }
        size_t Steps() const { return m_steps; }
        Path Copy(size_t n) const { return m_base / std::to_string(n); }

    private:
        void Step()
        {
            ++m_steps;
            if (TestRng()() % 5 != 0) return;
            std::filesystem::copy(m_base / "data", Copy(m_copies++),
                                  std::filesystem::copy_options::recursive);
        }
        const Path m_base;
        size_t m_copies = 0, m_steps = 0;
    };
    CopyAt copies(dir.Get());
    CoinsDump at_end;
    {
        ChainManagerOptions options;
        options.cache_bytes = 1; // every step is written
        Engine engine(params, dir.Get() / "data", options);
        engine.Start();
        Feed(engine, branches.common);
        Feed(engine, branches.a);
        for (const Bytes& raw : branches.b) Must(engine.chain->AcceptBlock(raw));
        engine.chain->SetObserver(&copies);
        Must(engine.chain->ActivateBestChain());
        CHECK(copies.Steps() == branches.a.size() + branches.b.size());
        CHECK(engine.chain->Tip()->hash == branches.tip_b);
        at_end = engine.Dump();
    }
    std::set<int> heights;
    for (size_t i = 0; i < copies.Copies(); ++i) {
        Engine engine(params, copies.Copy(i));
        engine.Attach();
        heights.insert(engine.chain->Tip()->height);
        // Blocks of the better branch may not have been in the index yet.
        for (const Bytes& raw : branches.b) REQUIRE(!engine.Process(raw).violation);
        CHECK(engine.chain->Tip()->hash == branches.tip_b);
        CHECK((engine.Dump() == at_end));
        REQUIRE(Must(VerifyChain(*engine.chain, 4, 0)));
    }
    std::cerr << "crash in a reorganisation: " << copies.Copies() << " states of the disk, at "
              << heights.size() << " heights\n";
    CHECK(copies.Copies() > 0);
}

TEST_CASE("an invalidated block is left at the start when the coins were not written any more")
{
    const ChainParams params = MakeChainParams(Network::kRegtest);
    const Branches branches = MakeBranches(params, TestRng()());
    const TempDir dir;
    const auto second = branches.common.size() + 2;
    {
        Engine engine(params, dir.Get() / "data");
        engine.Start();
        Feed(engine, branches.common);
        Feed(engine, branches.a);
        Must(engine.chain->Flush(FlushMode::kAlways));
        const HeaderNode* left = engine.chain->Read().Active()[static_cast<int>(second)];
        Must(engine.chain->InvalidateBlock(*left));
        Must(engine.chain->FlushIndex());
    }
    Engine engine(params, dir.Get() / "data");
    engine.Start();
    CHECK(engine.chain->Tip()->height == static_cast<int>(second) - 1);
    CHECK(engine.Node(branches.tip_a)->Failed());
    REQUIRE(Must(VerifyChain(*engine.chain, 4, 0)));
}

TEST_CASE("an interrupt stops invalidateblock at a block, and the next start goes on")
{
    const ChainParams params = MakeChainParams(Network::kRegtest);
    const Branches branches = MakeBranches(params, TestRng()());
    const TempDir dir;
    class StopAtOnce final : public ChainObserver {
    public:
        explicit StopAtOnce(std::atomic<bool>& interrupt) : m_interrupt(interrupt) {}
        void BlockDisconnected(const HeaderNode&, const BlockView&) override { m_interrupt = true; }

    private:
        std::atomic<bool>& m_interrupt;
    };
    const auto left = static_cast<int>(branches.common.size()) - 3;
    {
        Engine engine(params, dir.Get() / "data");
        engine.Start();
        Feed(engine, branches.common);
        StopAtOnce stop(engine.interrupt);
        engine.chain->SetObserver(&stop);
        const HeaderNode* const from = engine.chain->Read().Active()[left + 1];
        Must(engine.chain->InvalidateBlock(*from));
        CHECK(engine.chain->Tip()->height == left + 2); // of four
        Must(engine.chain->Flush(FlushMode::kAlways));
    }
    {
        Engine engine(params, dir.Get() / "data");
        engine.Start();
        CHECK(engine.chain->Tip()->height == left);
        REQUIRE(Must(VerifyChain(*engine.chain, 4, 0)));
    }
    // The same in a reorganisation, which stops above the fork.
    {
        Engine engine(params, dir.Get() / "other");
        engine.Start();
        Feed(engine, branches.common);
        Feed(engine, branches.a);
        for (const Bytes& raw : branches.b) Must(engine.chain->AcceptBlock(raw));
        StopAtOnce stop(engine.interrupt);
        engine.chain->SetObserver(&stop);
        const int before = engine.chain->Tip()->height;
        Must(engine.chain->ActivateBestChain());
        CHECK(engine.chain->Tip()->height == before - 1);
        Must(engine.chain->Flush(FlushMode::kAlways));
    }
    Engine engine(params, dir.Get() / "other");
    engine.Start();
    CHECK(engine.chain->Tip()->hash == branches.tip_b);
    REQUIRE(Must(VerifyChain(*engine.chain, 4, 0)));
}

TEST_CASE("coins at a block that the index does not have are refused with advice")
{
    const ChainParams params = MakeChainParams(Network::kRegtest);
    const BlockKit kit(params);
    const TempDir dir;
    {
        Engine engine(params, dir.Get() / "data");
        engine.Start();
        engine.Process(kit.Make(kit.Genesis()).raw);
        Must(engine.chain->Coins().Flush(engine.chain->CoinsDatabase(), BlockHash(Sha256Of({}))));
    }
    Engine engine(params, dir.Get() / "data");
    const auto attached = engine.chain->AttachCoins(Must(engine.Stack().OpenCoins()));
    REQUIRE(!attached);
    CHECK(attached.Message().find("-reindex-chainstate") != std::string::npos);
}

} // namespace ibd::test
