// A stored block that is not what its header names is damage: an error that says where, and neither
// a verdict on the block nor a crash.
#include "fixture.h"
#include "sim/chain.h"
#include "sim/fault_env.h"
#include "validation/block_reader.h"

#include <fstream>
#include <thread>

namespace ibd::test {

namespace {

constexpr int kBlocks = 120; //!< so that there are coins to spend
constexpr int kDamaged = 115;

/** Says no to every script. */
class RefuseAllScripts final : public ScriptChecker {
public:
    void Begin(ScriptFlags) override {}
    void Add(const TxView&, std::span<const Coin>) override {}
    RuleResult Finish() override
    {
        return RuleViolation{RuleViolation::Kind::kConsensus, "block-script-verify-flag-failed",
                             ""};
    }
};

/** A chain that is stored and not yet connected. */
class Stored {
public:
    explicit Stored(bool network = false) : params(MakeChainParams(Network::kRegtest))
    {
        ChainManagerOptions options;
        options.threads = 3; // coins are read ahead
        options.peers_bring_blocks = network;
        engine = std::make_unique<Engine>(params, dir.Get() / "data", options);
        sim::ChainOptions chain;
        chain.seed = TestRng()();
        chain.blocks = kBlocks;
        chain.outputs_per_block = 40;
        sim::Chain blocks(params, chain);
        engine->Start();
        for (int height = 1; height <= kBlocks; ++height) {
            raw.push_back(blocks.Next().bytes);
            REQUIRE_FALSE(Must(engine->chain->AcceptBlock(raw.back())).violation);
        }
        Must(engine->chain->Flush(FlushMode::kAlways));
        node = engine->Node(blocks.TipHash())->Ancestor(kDamaged);
    }

    /** XORs one byte of the block on disk. */
    void Change(uint64_t offset, uint8_t mask)
    {
        std::fstream file(engine->Blocks().BlockPath(node->file),
                          std::ios::in | std::ios::out | std::ios::binary);
        const auto at = static_cast<std::streamoff>(node->data_pos + offset);
        file.seekg(at);
        const int byte = file.get();
        file.seekp(at);
        file.put(static_cast<char>(byte ^ mask));
        REQUIRE(file.good());
    }
    /** As if a reader had found the block damaged. */
    void Suspect() const
    {
        (void)engine->Blocks().DamagedBlock({node->file, node->data_pos}, node->hash, kDamaged,
                                            "said so");
    }
    void RequireDamageNamed()
    {
        const Result<> refused = engine->chain->ActivateBestChain();
        REQUIRE_FALSE(refused.Ok());
        const std::string offset = fmt::format("offset {}", node->data_pos);
        for (const std::string& part :
             {engine->Blocks().BlockPath(node->file).string(), node->hash.ToHex(), offset,
              fmt::format("height {}", kDamaged), std::string("-reindex")}) {
            INFO(part);
            REQUIRE_THAT(refused.Message(), Catch::Matchers::Contains(part));
        }
        REQUIRE(engine->chain->Tip()->height == kDamaged - 1);
        REQUIRE_FALSE(node->Failed());
        REQUIRE_FALSE(engine->witness.verdicts.contains(node->hash));
    }
    void RequireWholeChain()
    {
        Must(engine->chain->ActivateBestChain());
        REQUIRE(engine->chain->Tip()->height == kBlocks);
    }

    const TempDir dir;
    const ChainParams params;
    std::unique_ptr<Engine> engine;
    std::vector<Bytes> raw;
    HeaderNode* node = nullptr;
};

} // namespace

TEST_CASE("a stored block without transactions is damaged, with threads that read coins ahead too")
{
    Stored stored;
    const uint8_t count = stored.raw[kDamaged - 1][BlockHeader::kSize];
    stored.Change(BlockHeader::kSize, count);
    stored.RequireDamageNamed();
    stored.Change(BlockHeader::kSize, count);
    stored.RequireWholeChain();
}

TEST_CASE("a stored block with another merkle root or hash is damaged and not invalid")
{
    Stored stored;
    const size_t in_coinbase = BlockHeader::kSize + 1 + 4 + 2 + 36 + 3;
    for (const size_t offset : {size_t{4}, size_t{70}, in_coinbase}) {
        INFO("byte " << offset);
        stored.Change(offset, 2);
        stored.RequireDamageNamed();
        stored.Change(offset, 2);
    }
    stored.RequireWholeChain();
}

TEST_CASE("a stored block that was damaged on its way from the disk is read again")
{
    Stored stored;
    FaultEnv env;
    BlockStoreOptions options;
    options.blocks_dir = stored.engine->Dir().Blocks();
    options.magic = stored.params.magic;
    const auto store = Must(BlockStore::Open(env, stored.engine->GetLog(), options,
                                             Must(stored.engine->IndexDb().LoadFiles())));
    int bad_reads = 0;
    env.CorruptReads([&](const Path& path) {
        return path == store->BlockPath(stored.node->file) && bad_reads-- > 0;
    });
    const auto load = [&] {
        return LoadBlock(*store, StoredBlock(*stored.node), stored.params.consensus);
    };
    bad_reads = 1; // of the frame and the block at once
    const auto loaded = Must(load());
    REQUIRE(bad_reads <= 0); // there was damage
    REQUIRE(loaded->raw == stored.raw[kDamaged - 1]);
    REQUIRE_FALSE(loaded->verdict);
    bad_reads = 1000; // the fault stays
    const auto refused = load();
    REQUIRE_FALSE(refused.Ok());
    REQUIRE_THAT(refused.Message(), Catch::Matchers::Contains(stored.node->hash.ToHex()));
}

TEST_CASE("with a network a damaged block is missing until it comes again, once")
{
    Stored stored(true);
    ChainManager& chain = *stored.engine->chain;
    const Bytes& raw = stored.raw[kDamaged - 1];
    const size_t last = raw.size() - 1;
    stored.Change(last, 1);
    Must(chain.ActivateBestChain());
    REQUIRE(chain.Tip()->height == kDamaged - 1);
    REQUIRE_FALSE(stored.node->HasData());
    REQUIRE_FALSE(stored.node->Failed());
    // The index on disk still says where it lies.
    Must(chain.FlushIndex());
    const auto recorded = [&] {
        bool has_data = false;
        Must(stored.engine->IndexDb().LoadBlocks(
            [&](const BlockHash& hash, const BlockIndexRecord& record) -> Result<> {
                if (hash == stored.node->hash) has_data = (record.status & kHaveData) != 0;
                return {};
            }));
        return has_data;
    };
    REQUIRE(recorded());
    REQUIRE(Must(chain.AcceptBlock(raw)).is_new);
    // A disk that damages this copy, too, is not given a third.
    stored.Change(last, 1);
    const Result<> refused = chain.ActivateBestChain();
    REQUIRE_FALSE(refused.Ok());
    REQUIRE(refused.GetError().kind == Error::Kind::kSystem);
    REQUIRE_THAT(refused.Message(), Catch::Matchers::Contains(stored.node->hash.ToHex()));
    stored.Change(last, 1);
    stored.RequireWholeChain();
    Must(chain.FlushIndex());
    REQUIRE(recorded());
}

TEST_CASE("a block that is sound by now is left as it is")
{
    Stored stored(true);
    stored.Suspect();
    REQUIRE(Must(stored.engine->chain->ForgetDamaged()).empty());
    stored.RequireWholeChain();
}

TEST_CASE("a damaged block of the active chain keeps its place until it comes again")
{
    Stored stored(true);
    ChainManager& chain = *stored.engine->chain;
    stored.RequireWholeChain();
    const HeaderNode& node = *stored.node;
    const auto undo = Must(chain.ReadUndo(node)).Encode();
    const FilePos before = chain.Where(node).data;
    stored.Change(stored.raw[kDamaged - 1].size() - 1, 1);
    CHECK(chain.NextLost(-1) == nullptr);
    stored.Suspect();
    REQUIRE(Must(chain.ForgetDamaged()) == std::vector<const HeaderNode*>{&node});
    CHECK(node.HasData());
    CHECK(chain.IsLost(node));
    CHECK(chain.NextLost(-1) == &node);
    CHECK(chain.NextLost(kDamaged - 1) == &node);
    CHECK(chain.NextLost(kDamaged) == nullptr);
    stored.Suspect(); // by another reader
    CHECK(Must(chain.ForgetDamaged()).empty());

    CHECK(Must(chain.AcceptBlock(stored.raw[kDamaged - 1])).is_new);
    CHECK(chain.NextLost(-1) == nullptr);
    CHECK_FALSE(chain.Where(node).data == before);
    CHECK(Must(chain.ReadBlock(node)) == stored.raw[kDamaged - 1]);
    CHECK(Must(chain.ReadUndo(node)).Encode() == undo);
    CHECK_FALSE(Must(chain.AcceptBlock(stored.raw[kDamaged - 1])).is_new); // it is there
    stored.RequireWholeChain();
}

TEST_CASE("blocks are disconnected only once all of them are sound")
{
    for (const bool network : {true, false}) {
        CAPTURE(network);
        Stored stored(network);
        ChainManager& chain = *stored.engine->chain;
        stored.RequireWholeChain();
        stored.Change(stored.raw[kDamaged - 1].size() - 1, 1);
        const HeaderNode& low = *stored.node->Ancestor(kDamaged - 5);
        const auto obstacle = chain.InvalidateBlock(low);
        CHECK(chain.Tip()->height == kBlocks);
        CHECK_FALSE(low.Failed());
        if (!network) {
            REQUIRE_FALSE(obstacle.Ok());
            CHECK_THAT(obstacle.Message(),
                       Catch::Contains(stored.node->hash.ToHex()) && Catch::Contains("-reindex"));
            continue;
        }
        CHECK(Must(obstacle).block == stored.node);
        CHECK(Must(obstacle).kind == Obstacle::Kind::kDamaged);
        CHECK(Must(chain.InvalidateBlock(low)).block == stored.node); // it was not received yet
        REQUIRE(Must(chain.AcceptBlock(stored.raw[kDamaged - 1])).is_new);
        CHECK(Must(chain.InvalidateBlock(low)).block == nullptr);
        CHECK(chain.Tip()->height == kDamaged - 6);
    }
}

TEST_CASE("a damaged block that comes again during the search is no obstacle")
{
    constexpr int kLow = 10; // so that the search then reads many other blocks
    Stored stored(true);
    ChainManager& chain = *stored.engine->chain;
    stored.RequireWholeChain();
    stored.node = stored.node->Ancestor(kLow);
    stored.Change(stored.raw[kLow - 1].size() - 1, 1);
    bool accepted = false;
    std::thread peer([&] { // no assertion here: they are for one thread
        while (!chain.IsLost(*stored.node)) std::this_thread::yield();
        accepted = chain.AcceptBlock(stored.raw[kLow - 1]).Ok();
    });
    const HeaderNode& first = *stored.node->Ancestor(kLow - 5);
    auto obstacle = chain.InvalidateBlock(first);
    peer.join();
    REQUIRE(accepted);
    if (Must(obstacle).block == stored.node) obstacle = chain.InvalidateBlock(first); // came later
    CHECK(Must(obstacle).block == nullptr);
    CHECK(chain.Tip()->height == kLow - 6);
}

TEST_CASE("undo data of a block that was found damaged meanwhile is dropped")
{
    Stored stored(true);
    stored.Change(stored.raw[kDamaged - 1].size() - 1, 1);
    stored.Suspect();
    CHECK(Must(stored.engine->chain->ForgetDamaged()).size() == 1);
    REQUIRE_FALSE(stored.node->HasData());
    const Bytes undo = BlockUndo().Encode();
    const ByteSpan pieces[] = {undo};
    Must(stored.engine->chain->PutUndo(*stored.node,
                                       {pieces, UndoChecksum(stored.node->PrevHash(), pieces)}));
    CHECK_FALSE(stored.node->HasUndo());
}

TEST_CASE("a script that fails because a witness is damaged marks nothing")
{
    Stored stored;
    RefuseAllScripts refuse;
    BlockView view;
    Must(view.Parse(stored.raw[kDamaged - 1]));
    const TxView& coinbase = view.Txs()[0];
    REQUIRE(coinbase.has_witness);
    // The last byte of its witness, before the lock time.
    const auto offset =
        static_cast<uint64_t>(coinbase.raw.data() + coinbase.raw.size() - 5 - view.Raw().data());
    // Connect what lies below, then let scripts fail.
    Must(stored.engine->chain->InvalidateBlock(*stored.node));
    REQUIRE(stored.engine->chain->Tip()->height == kDamaged - 1);
    stored.engine->chain->SetScriptChecker(&refuse);
    stored.Change(offset, 1);
    const Result<> refused = stored.engine->chain->ReconsiderBlock(*stored.node);
    REQUIRE_FALSE(refused.Ok());
    REQUIRE_THAT(refused.Message(), Catch::Matchers::Contains("bad-witness-merkle-match"));
    REQUIRE_FALSE(stored.node->Failed());
    stored.Change(offset, 1);
    SECTION("whole again, and the scripts fail: invalid")
    {
        Must(stored.engine->chain->ActivateBestChain());
        REQUIRE(stored.node->Failed());
    }
    SECTION("whole again, and the scripts are fine")
    {
        AcceptAllScripts accept;
        stored.engine->chain->SetScriptChecker(&accept);
        stored.RequireWholeChain();
    }
}

} // namespace ibd::test
