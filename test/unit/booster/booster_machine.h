// A chain with hints and its serial coins, and a data directory on a machine that may fail: for
// tests of the booster fed by peers.
#pragma once

#include "booster/peer_block_source.h"
#include "booster/write_hints.h"
#include "net/wire/spent_coins.h"
#include "sim/chain.h"
#include "sim/fault_env.h"
#include "swiftsync/checkpoint.h"
#include "validation/fixture.h"

namespace ibd::test {

/** A chain up to the end of its hints, and the coins that serial validation leaves there. */
struct World {
    /** `tail`: blocks above the hints, so that they are buried. */
    explicit World(uint64_t seed, int hints_height = 120, int tail = 0)
    {
        sim::ChainOptions options;
        options.seed = seed;
        options.blocks = hints_height;
        options.outputs_per_block = 15;
        sim::Chain chain(params, options);
        blocks.push_back(chain.Genesis().bytes);
        while (chain.Height() < hints_height) blocks.push_back(chain.Next().bytes);
        for (int h = 0; h <= hints_height; ++h) {
            unspent.push_back(chain.GetTruth().UnspentOfBlock(h, true));
        }
        terminal = chain.TipHash();
        WriteHints(dir / "hints", params, unspent, terminal);
        Engine serial(params, dir / "serial");
        serial.Start();
        for (const Bytes& raw : blocks) serial.Process(raw);
        REQUIRE(serial.chain->Tip()->height == hints_height);
        coins = serial.Dump();
        const ChainManager& manager = *serial.chain;
        for (const HeaderNode* node = manager.Tip(); node->prev; node = node->prev) {
            spent.push_back({node->hash, {}});
            uint32_t input = 0;
            for (Coin& coin : Must(manager.ReadUndo(*node)).TakeCoins()) {
                spent.back().coins.push_back({input++, std::move(coin)});
            }
        }
        spent.emplace_back(); // of genesis
        std::ranges::reverse(spent);
        for (int i = 0; i < tail; ++i) blocks.push_back(chain.NextEmpty().bytes);
    }
    size_t HintsHeight() const { return unspent.size() - 1; }
    BlockHeader Header(size_t height) const
    {
        return BlockHeader::FromBytes(blocks[height].data());
    }

    const ChainParams params = MakeChainParams(Network::kRegtest);
    TempDir dir{MemoryFolder()};
    std::vector<Bytes> blocks; //!< by height
    std::vector<std::vector<uint8_t>> unspent;
    BlockHash terminal; //!< where the hints end
    std::vector<SpentCoinsMessage> spent; //!< by height
    CoinsDump coins;    //!< there
};

/** A data directory on a machine that may fail. */
class Machine {
public:
    Machine(const World& world, const Path& base) : m_world(world), m_base(base)
    {
        std::filesystem::create_directories(base);
    }

    /** With all headers, or with none yet. */
    Result<> Open(FaultEnv& env, bool headers = true)
    {
        Close();
        const KvIoCheck check = [&env](const char* kind, const Path& path) {
            return env.Step(kind, path);
        };
        IBD_ASSIGN_OR_RETURN(m_dir, DataDir::Open(env, {m_base, {}, "regtest"}));
        ChainStackOptions options;
        options.manager.hash_key = {1, 2};
        options.manager.assume_valid = assume_valid.value_or(m_world.terminal);
        // With all headers the run does not wait for more.
        options.manager.max_tip_age =
            env.UnixTime() - int64_t{m_world.Header(m_world.blocks.size() - 1).time};
        if (expects_more_headers) options.manager.max_tip_age = 0;
        options.index.before_io = check;
        options.blocks.max_file_size = 8 << 10;
        options.blocks.block_chunk = 4 << 10;
        options.coins.before_io = check;
        options.checker = &m_scripts;
        m_stack =
            std::make_unique<ChainStack>(env, *m_log, m_world.params, *m_dir, options, m_interrupt);
        IBD_RETURN_IF_ERROR(m_stack->OpenIndex());
        IBD_RETURN_IF_ERROR(m_stack->OpenBlocks());
        IBD_RETURN_IF_ERROR(Chain().LoadIndex());
        IBD_RETURN_IF_ERROR(Chain().StoreGenesis());
        for (size_t h = 1; headers && h < m_world.blocks.size(); ++h) {
            REQUIRE_FALSE(Chain().AcceptHeader(m_world.Header(h), &m_tip));
        }
        return {};
    }
    /** Stores a third of the blocks up to the end of the hints; their headers are there. */
    Result<> StoreSome(sim::Rng& rng)
    {
        for (size_t h = 1; h <= m_world.HintsHeight(); ++h) {
            if (!rng.Chance(1, 3)) continue;
            IBD_ASSIGN_OR_RETURN(const BlockOutcome stored, Chain().AcceptBlock(m_world.blocks[h]));
            REQUIRE_FALSE(stored.violation);
        }
        return Chain().Flush(FlushMode::kAlways);
    }
    /** Removes block files, undo files and their index, as before -reindex with files that lost
     *  blocks; the booster's files are kept. */
    void LoseBlocks()
    {
        Close();
        std::filesystem::remove_all(m_base / "regtest/blocks");
    }
    /** All blocks up to the end of the hints. */
    Result<> StoreAll()
    {
        for (size_t h = 1; h <= m_world.HintsHeight(); ++h) {
            IBD_RETURN_IF_ERROR(Chain().AcceptBlock(m_world.blocks[h]));
        }
        return Chain().Flush(FlushMode::kAlways);
    }
    BoosterOptions Options(unsigned threads = 2) const
    {
        BoosterOptions options;
        options.threads = threads;
        options.memory_bytes = 1 << 13;
        options.checkpoint_bytes = 6'000;
        options.directory = Booster();
        options.chainstate = m_base / "regtest/chainstate";
        options.full_validation = options.coins_supplied = with_coins;
        options.known_height = static_cast<int32_t>(m_world.HintsHeight());
        return options;
    }
    Result<Verdict> Sync(FaultEnv& env, BlockFetcher& peers, unsigned threads = 2)
    {
        ChainKeeper keeper(Chain());
        PeerBlockSupply supply(env, m_stack->Blocks(), *m_tip, keeper, peers, 6'000);
        if (with_coins) supply.FetchWithSpentCoins();
        if (patience) supply.GiveUpAfter(*patience);
        const auto clean = MakePosixEnv();
        const auto hints = Must(OpenHints(*clean, m_world.dir / "hints"));
        SyncEngine engine(env, *m_log, m_world.params, *m_tip, m_stack->Blocks(), supply, *hints,
                          Options(threads));
        auto verdict = engine.Run();
        peers.StopFetching();
        gave_up = supply.GaveUp();
        return verdict;
    }
    /** Requires that a node that starts now can read all blocks that the checkpoint lists as
     *  folded. */
    size_t RequireFoldedIsStored()
    {
        FaultEnv env;
        const auto kept = LoadCheckpoint(env, Booster());
        REQUIRE(kept);
        if (!*kept) return 0;
        Must(Open(env));
        for (uint32_t h = 1; h <= m_world.HintsHeight(); ++h) {
            if (!(*kept)->folded.Contains(h)) continue;
            const HeaderNode& node = *m_tip->Ancestor(static_cast<int>(h));
            REQUIRE(node.HasData());
            REQUIRE(Must(Chain().ReadBlock(node)) == m_world.blocks[h]);
        }
        return (*kept)->folded.Count();
    }
    /** The node continues from the booster's result. */
    void RequireRight()
    {
        FaultEnv env;
        Must(Open(env));
        Must(Attach());
        RequireCoins();
    }
    /** Requires that the chain exists up to the end of the hints, and that the coins are right. */
    void RequireCoins()
    {
        if (!Chain().HasCoins()) Must(Attach());
        Must(Chain().Flush(FlushMode::kAlways));
        REQUIRE(Chain().Tip()->hash == m_world.terminal);
        REQUIRE((Dump() == m_world.coins));
        for (const HeaderNode* node = Chain().Tip(); node; node = node->prev) {
            REQUIRE(Must(Chain().ReadBlock(*node)) == m_world.blocks[size_t(node->height)]);
        }
        Close();
    }
    Result<> Attach()
    {
        IBD_ASSIGN_OR_RETURN(auto coins, m_stack->OpenCoins());
        IBD_RETURN_IF_ERROR(Chain().AttachCoins(std::move(coins)));
        return Chain().ActivateBestChain();
    }
    CoinsDump Dump() { return DumpCoins(Chain()); }
    void Close()
    {
        m_stack.reset();
        m_dir.reset();
    }
    bool IsDone() const
    {
        return !std::filesystem::exists(Booster() / "checkpoint.dat") &&
               std::filesystem::exists(m_base / "regtest/chainstate/CURRENT");
    }
    ChainManager& Chain() { return m_stack->Chain(); }
    const HeaderNode& Tip() const { return *m_tip; }
    BlockStore& Blocks() { return m_stack->Blocks(); }
    Path Booster() const { return m_base / "booster"; }

    bool with_coins = false;         //!< Sync() validates fully, with coins from peers
    std::optional<int64_t> patience; //!< of the supply of Sync(), microseconds
    bool gave_up = false;            //!< the last Sync() ended because no block came

    // For Open().
    std::optional<BlockHash> assume_valid; //!< nothing: where the hints end
    bool expects_more_headers = false;     //!< however many there are

private:
    const World& m_world;
    const Path m_base;
    const std::atomic<bool> m_interrupt{false};
    AcceptAllScripts m_scripts;
    std::unique_ptr<Logger> m_log = MakeNullLogger();
    std::unique_ptr<DataDir> m_dir;
    std::unique_ptr<ChainStack> m_stack;
    const HeaderNode* m_tip = nullptr;
};

} // namespace ibd::test
