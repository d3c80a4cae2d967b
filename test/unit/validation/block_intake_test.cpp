// BlockIntake: blocks of strangers end in the chain or are refused, their sender is known until the
// verdict, and the queue is bounded.
#include "validation/block_intake.h"

#include "validation/block_kit.h"
#include "validation/fixture.h"

#include "support/catch.h"
#include <future>

namespace ibd::test {

namespace {

/** An engine whose blocks come through an intake, which hears its verdicts. */
class Receiver : public ChainObserver {
public:
    explicit Receiver(const Path& dir) : m_dir(dir)
    {
        engine.Start();
        engine.chain->SetObserver(this);
    }
    ~Receiver() override
    {
        intake.Stop();
        thread.Activate(); // until then it reports verdicts to the intake
    }
    void BlockChecked(const BlockHash& hash, const RuleResult& verdict) override
    {
        intake.Checked(hash, verdict);
    }

    /** Takes the header, and gives the block to the intake. */
    void Give(const KitBlock& block, int64_t source)
    {
        const HeaderNode* node = nullptr;
        const auto violation =
            engine.chain->AcceptHeader(BlockHeader::FromBytes(block.raw.data()), &node);
        REQUIRE(!violation);
        REQUIRE(intake.Put({node, source, block.raw}));
    }
    void WaitFor(int64_t source)
    {
        Lock lock(m_mutex);
        while (intake.IsBusyWith(source)) m_changed.wait(m_mutex);
    }

private:
    void News()
    {
        const Lock lock(m_mutex);
        m_changed.notify_all();
    }

    Path m_dir;
    Mutex m_mutex;
    std::condition_variable_any m_changed;

public:
    const ChainParams params = MakeChainParams(Network::kRegtest);
    const BlockKit kit{params};
    Engine engine{params, m_dir / "data"};
    ChainThread thread{*engine.chain, [](const Error& error) { FAIL(error.message); },
                       [this] { News(); }};
    BlockIntake intake{*engine.chain, thread, [](const Error& error) { FAIL(error.message); },
                       [this] { News(); }};
};

} // namespace

TEST_CASE("blocks in any order are connected when a source is no longer busy")
{
    const TempDir dir;
    Receiver node(dir.Get());
    const auto blocks = node.kit.MakeChain(node.kit.Genesis(), 20);
    for (const KitBlock& block : blocks) {
        REQUIRE(!node.engine.chain->AcceptHeader(BlockHeader::FromBytes(block.raw.data())));
    }
    for (size_t i = blocks.size(); i-- > 0;) node.Give(blocks[i], int64_t(i % 3));
    for (const int64_t source : {0, 1, 2}) node.WaitFor(source);
    CHECK(node.engine.chain->Current().height == 20);
    CHECK(node.intake.TakeRefused().empty());
    size_t stored = 0, connected = 0;
    for (const BlockIntake::Taken& taken : node.intake.TakeTaken()) {
        CHECK(taken.source == (taken.node->height - 1) % 3);
        ++(taken.connected ? connected : stored);
    }
    CHECK(stored == 20);
    CHECK(connected == 20);
    CHECK_FALSE(node.intake.Holds(*node.engine.chain->Tip()));
    node.Give(blocks[3], 7); // once more: nothing comes of it
    node.WaitFor(7);
    CHECK(node.intake.TakeRefused().empty());
    CHECK(node.intake.TakeTaken().empty());
    KitOptions other;
    other.salt = 1;
    const KitBlock beside = node.kit.Make(blocks[3], other); // never connected
    for (const int64_t source : {8, 9}) {
        node.Give(beside, source);
        node.WaitFor(source);
    }
    const auto taken = node.intake.TakeTaken();
    REQUIRE(taken.size() == 1);
    CHECK(taken[0].source == 8);
    CHECK_FALSE(taken[0].connected);
}

TEST_CASE("a refused block is reported with the peer that sent it")
{
    const TempDir dir;
    Receiver node(dir.Get());
    KitOptions greedy; // shows when it is connected
    greedy.reward = 5'000'000'001;
    const KitBlock bad = node.kit.Make(node.kit.Genesis(), greedy);
    node.Give(bad, 4);
    node.WaitFor(4);
    auto refused = node.intake.TakeRefused();
    REQUIRE(refused.size() == 1);
    CHECK(refused[0].source == 4);
    CHECK(refused[0].node->hash == bad.hash);
    CHECK(refused[0].why.reason == "bad-cb-amount");
    CHECK_FALSE(refused[0].via_compact);
    for (const auto& taken : node.intake.TakeTaken()) CHECK_FALSE(taken.connected);

    KitBlock mutated = node.kit.Make(node.kit.Genesis());
    const Bytes sound = mutated.raw;
    mutated.raw[140] ^= 1; // in the coinbase: the header names another
    node.Give(mutated, 5);
    node.WaitFor(5);
    // Until the refusal is taken, it must not be requested again.
    const HeaderNode& about = *node.engine.chain->Read().Tree().Find(mutated.hash);
    CHECK(node.intake.Holds(about));
    refused = node.intake.TakeRefused();
    CHECK_FALSE(node.intake.Holds(about));
    REQUIRE(refused.size() == 1);
    CHECK(refused[0].source == 5);
    CHECK(refused[0].why.kind == RuleViolation::Kind::kMutated);
    mutated.raw.resize(100); // not even a block
    node.Give(mutated, 6);
    node.WaitFor(6);
    refused = node.intake.TakeRefused();
    REQUIRE(refused.size() == 1);
    CHECK(refused[0].source == 6);
    CHECK(refused[0].why.kind == RuleViolation::Kind::kUndecodable);
    CHECK(refused[0].why.reason == "DataStream::read(): end of data");
    CHECK(refused[0].bytes == 100);

    mutated.raw = sound; // the block itself is as good as before
    node.Give(mutated, 8);
    node.WaitFor(8);
    CHECK(node.intake.TakeRefused().empty());
    CHECK(node.engine.chain->Current().hash == mutated.hash);
}

TEST_CASE("a second copy of a block does not replace the sender of the first")
{
    const TempDir dir;
    Receiver node(dir.Get());
    for (const KitBlock& block : node.kit.MakeChain(node.kit.Genesis(), 2)) node.Give(block, 1);
    node.WaitFor(1);
    KitOptions greedy; // shows when it is connected
    greedy.reward = 5'000'000'001;
    const KitBlock bad = node.kit.Make(node.kit.Genesis(), greedy);
    node.Give(bad, 4); // a shorter branch: no verdict yet
    node.WaitFor(4);
    node.Give(bad, 5);
    node.WaitFor(5);
    CHECK(node.intake.TakeRefused().empty());
    for (const KitBlock& block : node.kit.MakeChain(bad, 2)) node.Give(block, 6);
    node.WaitFor(6);
    const auto refused = node.intake.TakeRefused();
    REQUIRE(refused.size() == 1);
    CHECK(refused[0].source == 4);
    CHECK(refused[0].why.reason == "bad-cb-amount");
    CHECK(node.engine.chain->Current().height == 2);
}

TEST_CASE("an intake takes no more than it has room for, and ends at any time")
{
    const TempDir dir;
    Receiver node(dir.Get());
    std::promise<void> go;
    std::promise<void> reached;
    // The engine stores one block at a time: the first one holds the rest up.
    std::thread holder([&] {
        node.thread.Run([&] {
            reached.set_value();
            go.get_future().wait();
            return 0;
        });
    });
    reached.get_future().wait();
    const auto blocks = node.kit.MakeChain(node.kit.Genesis(), 2);
    node.Give(blocks[0], 1);
    CHECK(node.intake.IsBusyWith(1)); // stored perhaps, but not connected
    CHECK(node.intake.HasRoom(BlockIntake::kMaxBytes - (1 << 20)));
    CHECK(node.engine.chain->Current().height == 0);
    go.set_value();
    holder.join();
    node.WaitFor(1);
    CHECK(node.engine.chain->Current().height == 1);
    node.Give(blocks[1], 1);
    node.intake.Stop(); // done or dropped
    CHECK(node.engine.chain->Current().height >= 1);
}

} // namespace ibd::test
