// A whole serial engine in a temporary directory, for the tests of validation.
#pragma once

#include "storage/data_dir.h"
#include "support/testdata.h"
#include "validation/block_import.h"
#include "validation/chain_manager.h"
#include "validation/coins_walk.h"

#include <catch2/catch.hpp>
#include <filesystem>

namespace ibd::test {

/** A directory that goes away with the object. */
class TempDir {
public:
    TempDir()
    {
        std::string name = (std::filesystem::temp_directory_path() / "ibd-test-XXXXXX").string();
        REQUIRE(mkdtemp(name.data()));
        m_path = name;
    }
    ~TempDir() { std::filesystem::remove_all(m_path); }
    const Path& Get() const { return m_path; }

private:
    Path m_path;
};

/** Says yes to every script: for chains whose scripts are not the matter of the test. */
class AcceptAllScripts final : public ScriptChecker {
public:
    void Begin(ScriptFlags) override {}
    void Add(const TxView&, std::span<const Coin>) override {}
    RuleResult Finish() override { return std::nullopt; }
};

template <typename T>
T Must(Result<T> result)
{
    if (!result) FAIL(result.Message());
    return std::move(result).Value();
}
inline void Must(Result<> result)
{
    if (!result) FAIL(result.Message());
}

/** Stores and manager over a data directory; reopens as often as wanted. */
class Engine {
public:
    Engine(const ChainParams& params, const Path& base, ChainManagerOptions options = {})
        : m_params(params), m_base(base)
    {
        std::filesystem::create_directories(base);
        m_dir = Must(DataDir::Open(*m_env, {base, {}, params.sub_folder}));
        m_index = Must(BlockIndexDb::Open(*m_env, *m_log, {m_dir->BlockIndex()}));
        BlockStoreOptions store;
        store.blocks_dir = m_dir->Blocks();
        store.magic = params.magic;
        m_blocks = Must(BlockStore::Open(*m_env, *m_log, store, Must(m_index->LoadFiles())));
        chain = std::make_unique<ChainManager>(
            params, ChainStores{*m_env, *m_log, *m_blocks, *m_index}, options, interrupt);
        chain->SetScriptChecker(&m_scripts);
        Must(chain->LoadIndex());
    }

    /** Opens the coins and makes the genesis block the tip. */
    void Start(bool wipe_coins = false)
    {
        CoinsDbOptions coins;
        coins.directory = m_dir->Chainstate();
        coins.wipe = wipe_coins;
        Must(chain->StoreGenesis());
        Must(chain->AttachCoins(Must(CoinsDb::Open(*m_env, *m_log, coins))));
        Must(chain->ActivateBestChain());
    }

    BlockImporter Importer() { return {*chain, *m_blocks, *m_env, *m_log, interrupt}; }
    CoinsStats Stats(CoinsHashKind kind, const HeaderNode* at = nullptr)
    {
        return Must(ComputeCoinsStats(*chain, at, kind, interrupt));
    }
    Env& GetEnv() { return *m_env; }
    BlockStore& Blocks() { return *m_blocks; }

    std::atomic<bool> interrupt{false};

private:
    const ChainParams& m_params;
    Path m_base;
    std::unique_ptr<Env> m_env = MakePosixEnv();
    std::unique_ptr<Logger> m_log = MakeNullLogger();
    AcceptAllScripts m_scripts;
    std::unique_ptr<DataDir> m_dir;
    std::unique_ptr<BlockIndexDb> m_index;
    std::unique_ptr<BlockStore> m_blocks;

public:
    std::unique_ptr<ChainManager> chain;
};

} // namespace ibd::test
