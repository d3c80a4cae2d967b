// SyncSetup: a TestChain on disk with hints, ready to be synced by the engine any number of times.
#pragma once

#include "sim/fault_env.h"
#include "sim/lying_supply.h"
#include "storage/crc32c.h"
#include "support/testdata.h"
#include "swiftsync/terminal.h"
#include "test_chain.h"

#include <fstream>

namespace ibd::test {

inline void Overwrite(const Path& path, ByteSpan bytes)
{
    std::ofstream(path, std::ios::binary | std::ios::trunc)
        .write(AsChars(bytes).data(), static_cast<std::streamsize>(bytes.size()));
}

inline AggregateSalt RandomSalt()
{
    AggregateSalt salt;
    for (uint8_t& byte : salt) byte = static_cast<uint8_t>(TestRng()());
    return salt;
}

/** The result of a first pass over all blocks of `chain`, computed naively. */
inline FirstPass NaiveFirstPass(TestChain& chain, AggregateKind kind, const AggregateSalt& salt)
{
    const FoldRules rules =
        FoldRulesOf(chain.Tip(), HintsCounting::kSpendable, chain.Params().consensus);
    const auto sum = MakeAggregate(kind, salt);
    FirstPass pass{
        .terminal_hash = chain.Tip().hash,
        .rules = FoldRulesId(rules, UniqueCoinbasesOf(chain.Tip(), chain.Params().consensus).below,
                             chain.Params().consensus),
        .aggregate = kind,
        .salt = salt,
        .sum = {},
        .checksums = {0}};
    BlockView block;
    BlockDelta delta;
    for (uint32_t height = 1; height <= chain.Height(); ++height) {
        Must(block.Parse(chain.Raw(height)));
        Must(Fold(block, height, {std::nullopt, {}}, rules, delta));
        sum->AddCreated(delta.created.data(), delta.created.size());
        sum->AddSpent(delta.spent.data(), delta.spent.size());
        pass.checksums.push_back(Crc32cWays()[0].compute(block.Raw(), 0));
    }
    pass.sum = sum->Serialize();
    return pass;
}

class SyncSetup {
public:
    explicit SyncSetup(uint64_t seed, const TestChainOptions& options = {},
                       HintsCounting counting = HintsCounting::kSpendable)
        : m_chain(seed, options)
    {
        m_store = m_chain.Store(m_clean, *m_log, m_dir.Get() / "blocks");
        m_chain.WriteHints(m_clean, HintsPath(), counting);
    }

    TestChain& Chain() { return m_chain; }
    Path HintsPath() const { return m_dir.Get() / "hints"; }
    Path Booster() const { return m_dir.Get() / "booster"; }
    Path Chainstate() const { return m_dir.Get() / "chainstate"; }
    BlockStore& Blocks() { return *m_store; }
    Logger& Log() { return *m_log; }
    FaultEnv& CleanEnv() { return m_clean; }

    BoosterOptions Options(unsigned threads = 1, size_t memory = 1 << 20) const
    {
        BoosterOptions options;
        options.threads = threads;
        options.memory_bytes = memory;
        options.directory = Booster();
        options.chainstate = Chainstate();
        options.background = threads > 1;
        return options;
    }

    /** Opens the hints and runs the engine once. */
    Result<Verdict> Sync(Env& env, const BoosterOptions& options)
    {
        return Sync(env, options, *m_log);
    }
    Result<Verdict> Sync(Env& env, const BoosterOptions& options, Logger& log)
    {
        IBD_ASSIGN_OR_RETURN(const auto hints, OpenHints(m_clean, HintsPath()));
        return SyncWith(env, *hints, options, log);
    }
    Result<Verdict> SyncWith(Env& env, const Hints& hints, const BoosterOptions& options)
    {
        return SyncWith(env, hints, options, *m_log);
    }
    Result<Verdict> SyncWith(Env& env, const Hints& hints, const BoosterOptions& options,
                             Logger& log)
    {
        IBD_ASSIGN_OR_RETURN(const HeaderNode* terminal,
                             CheckTerminalBlock(hints.Info(), m_chain.Tree(), m_chain.Params()));
        SyncEngine engine(env, log, m_chain.Params(), *terminal, *m_store, hints, options,
                          m_first ? &*m_first : nullptr);
        return engine.Run();
    }
    /** The earlier pass for the next Sync(). */
    std::optional<FirstPass>& First() { return m_first; }

    /** The chain's blocks, brought by strangers. */
    sim::LyingSupply Strangers(const sim::LyingOptions& options)
    {
        return {m_chain.Tip(), [this](uint32_t height) { return m_chain.Raw(height); }, options};
    }
    Result<Verdict> SyncFrom(Env& env, BlockSupply& supply, const BoosterOptions& options)
    {
        const auto hints = Must(OpenHints(m_clean, HintsPath()));
        SyncEngine engine(env, *m_log, m_chain.Params(), m_chain.Tip(), *m_store, supply, *hints,
                          options);
        return engine.Run();
    }

    /** The chainstate is exactly the naive map's, and nothing of the run is left. */
    void RequireRight()
    {
        const CoinMap found = ReadChainstate(Chainstate(), m_chain.Tip().hash);
        REQUIRE(found.size() == m_chain.Coins().size());
        REQUIRE(found == m_chain.Coins());
        REQUIRE_FALSE(std::filesystem::exists(Booster() / "checkpoint.dat"));
        REQUIRE_FALSE(std::filesystem::exists(Booster() / "checkpoint.log"));
        REQUIRE_FALSE(std::filesystem::exists(Booster() / "run000000.dat"));
        REQUIRE_FALSE(std::filesystem::exists(Chainstate().string() + ".ibdbooster"));
    }
    /** Removes the finished chainstate and the booster's files. */
    void Reset()
    {
        std::filesystem::remove_all(Chainstate());
        std::filesystem::remove_all(Chainstate().string() + ".ibdbooster");
        std::filesystem::remove_all(Booster());
    }

private:
    TempDir m_dir{MemoryFolder()};
    FaultEnv m_clean;
    std::unique_ptr<Logger> m_log = MakeNullLogger();
    TestChain m_chain;
    std::unique_ptr<BlockStore> m_store;
    std::optional<FirstPass> m_first;
};

/** XORs one byte of a block on disk. */
inline void ChangeStored(SyncSetup& setup, const HeaderNode& node, size_t offset, uint8_t mask)
{
    const Path path = setup.Blocks().BlockPath(node.file);
    Bytes file = Must(ReadWholeFile(setup.CleanEnv(), path));
    file[node.data_pos + offset] ^= mask;
    Overwrite(path, file);
}

} // namespace ibd::test
