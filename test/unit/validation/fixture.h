// A whole serial engine in a temporary directory, for the tests of validation.
#pragma once

#include "storage/coins_stats.h"
#include "support/must.h"
#include "support/temp_dir.h"
#include "support/testdata.h"
#include "validation/block_import.h"
#include "validation/chain_stack.h"
#include "validation/verify_chain.h"

#include <filesystem>
#include <map>

#include "support/catch.h"

namespace ibd::test {

/** Says yes to every script: for chains whose scripts are not the matter of the test. */
class AcceptAllScripts final : public ScriptChecker {
public:
    void Begin(ScriptFlags) override {}
    void Add(const TxView&, std::span<const Coin>) override {}
    RuleResult Finish() override { return std::nullopt; }
};

/** Keeps the verdicts on blocks and the order of events. */
class Witness final : public ChainObserver {
public:
    void BlockConnected(const HeaderNode& node, const BlockView&) override
    {
        events.push_back("+" + node.hash.ToHex());
    }
    void BlockDisconnected(const HeaderNode& node, const BlockView&) override
    {
        events.push_back("-" + node.hash.ToHex());
    }
    void BlockChecked(const BlockHash& hash, const RuleResult& verdict) override
    {
        verdicts[hash] = verdict;
    }
    void WarningSet(NodeWarning warning, const std::string& text) override
    {
        warnings[warning] = text;
    }
    void WarningCleared(NodeWarning warning) override { warnings.erase(warning); }

    std::vector<std::string> events;
    std::map<BlockHash, RuleResult> verdicts;
    std::map<NodeWarning, std::string> warnings;
};

/** A coins database record by record, as the bytes stand there after de-obfuscation. */
using CoinsDump = std::map<OutPoint, Bytes>;

inline CoinsDump DumpCoins(ChainManager& chain)
{
    CoinsDump dump;
    CoinsCursor cursor = chain.CoinsDatabase().Cursor();
    REQUIRE(cursor.BestBlock() == chain.Tip()->hash);
    for (; cursor.Valid(); cursor.Next()) {
        const ByteSpan value = cursor.RawValue();
        dump.emplace(cursor.Key(), Bytes(value.begin(), value.end()));
    }
    Must(cursor.Status());
    return dump;
}

/** Stores and manager over a data directory; reopens as often as wanted. Destruction without
 *  Flush() leaves the state of a crash. */
class Engine {
public:
    /** `batch_bytes`: of the coins' database. */
    Engine(const ChainParams& params, const Path& base, ChainManagerOptions options = {},
           size_t batch_bytes = CoinsDbOptions().batch_bytes)
    {
        std::filesystem::create_directories(base);
        m_dir = Must(DataDir::Open(*m_env, {base, {}, params.sub_folder}));
        if (options.hash_key.k0 == 0) {
            options.hash_key = {1, 2};
        }
        ChainStackOptions parts;
        parts.manager = options;
        parts.coins.batch_bytes = batch_bytes;
        parts.checker = &m_scripts;
        parts.observer = &witness;
        m_stack = std::make_unique<ChainStack>(*m_env, *m_log, params, *m_dir, parts, interrupt);
        Must(m_stack->OpenIndex());
        Must(m_stack->OpenBlocks());
        chain = &m_stack->Chain();
        Must(chain->LoadIndex());
    }

    /** Opens the coins and makes the genesis block the tip. */
    void Start(bool wipe_coins = false)
    {
        Attach(wipe_coins);
        Must(chain->ActivateBestChain());
    }
    void Attach(bool wipe_coins = false)
    {
        Must(chain->StoreGenesis());
        Must(chain->AttachCoins(Must(m_stack->OpenCoins(wipe_coins))));
    }

    BlockOutcome Process(ByteSpan raw) { return Must(chain->ProcessBlock(raw)); }
    /** Writes everything out and reads the database back. */
    CoinsDump Dump()
    {
        Must(chain->Flush(FlushMode::kAlways));
        return DumpCoins(*chain);
    }
    /** One thread runs a test, so it may do what the manager alone does elsewhere. */
    HeaderNode* Node(const BlockHash& hash)
    {
        return const_cast<HeaderNode*>(chain->Read().Find(hash));
    }
    /** Takes the blocks of a file, and connects them. */
    void Load(const Path& path)
    {
        Must(Importer().LoadFile(path));
        Must(chain->ActivateBestChain());
    }
    const DataDir& Dir() const { return *m_dir; }
    BlockIndexDb& IndexDb() { return m_stack->Index(); }

    BlockImporter Importer() { return {*chain, Blocks(), *m_env, *m_log, interrupt}; }
    /** Visits the coins at the tip in database order. */
    template <typename Visit>
    void ForEachCoin(Visit visit)
    {
        Must(chain->VisitFlushed([&](CoinsDb& coins, const CoinsCache&) -> Result<> {
            CoinsCursor cursor = coins.Cursor();
            for (; cursor.Valid(); cursor.Next()) visit(cursor.Key(), Must(cursor.Value()));
            return cursor.Status();
        }));
    }
    /** The statistics at the tip, without the fields of its block. */
    CoinsStats Stats(CoinsHashKind kind)
    {
        CoinsStatsBuilder builder(kind);
        ForEachCoin(
            [&](const OutPoint& outpoint, Coin coin) { builder.Add(outpoint, std::move(coin)); });
        return builder.Finish();
    }
    ChainStack& Stack() { return *m_stack; }
    Env& GetEnv() { return *m_env; }
    Logger& GetLog() { return *m_log; }
    BlockStore& Blocks() { return m_stack->Blocks(); }

    std::atomic<bool> interrupt{false};
    Witness witness;

private:
    std::unique_ptr<Env> m_env = MakePosixEnv();
    std::unique_ptr<Logger> m_log = MakeNullLogger();
    AcceptAllScripts m_scripts;
    std::unique_ptr<DataDir> m_dir;
    std::unique_ptr<ChainStack> m_stack;

public:
    ChainManager* chain = nullptr; //!< the stack's
};

} // namespace ibd::test
