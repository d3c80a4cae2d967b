// SnapshotLoader: makes a chainstate of a UTXO snapshot and checks it against the known hash on the
// way. If the coins are in database order, as all known programs write them, they are written
// directly as tables, each once; otherwise they are inserted through LevelDB. Until Publish() the
// new chainstate is in `<folder>.ibdbooster`. If it is not published, the loader removes that
// folder; after a crash RecoverDb() does. One thread. Memory: 64 MiB, and the coins of one
// transaction.
#pragma once

#include "consensus/params.h"
#include "storage/chainstate_builder.h"
#include "storage/coins_db.h"
#include "storage/coins_stats.h"
#include "storage/snapshot.h"

namespace ibd {

/** hash_serialized_3 of all coins; nothing: interrupted. */
Found<Uint256> HashCoins(const CoinsDb& coins, const std::atomic<bool>& interrupt);

class SnapshotLoader {
public:
    /** `folder`: of the chainstate to make, as SnapshotFolder(). All references outlive it. */
    SnapshotLoader(Env& env, Logger& log, Path folder, const std::atomic<bool>& interrupt)
        : m_env(env), m_log(log), m_folder(std::move(folder)), m_work(m_folder),
          m_interrupt(interrupt)
    {
    }
    ~SnapshotLoader();
    SnapshotLoader(const SnapshotLoader&) = delete;
    SnapshotLoader& operator=(const SnapshotLoader&) = delete;

    /** Reads the whole file and checks all of it; its header must be checked. Errors, but for those
     *  of the machine, are in Core's words. */
    Result<> Load(const Path& file, const AssumeutxoData& data);
    /** Puts the loaded chainstate in place as that of a snapshot; there must be none yet. Call it
     *  once. */
    Result<> Publish();
    uint64_t Coins() const { return m_coins; }

private:
    /** False: the coins are not in database order. */
    Result<bool> WriteTables(SnapshotReader& reader);
    Result<> WriteDatabase(SnapshotReader& reader);
    Result<> CheckRoom(const Path& file) const;
    Result<> CheckHash(const Uint256& hash) const;
    Result<bool> Next(SnapshotReader& reader, OutPoint& outpoint, Coin& coin) const;
    Result<> CompleteDatabase();

    Env& m_env;
    Logger& m_log;
    const Path m_folder;
    const WorkFolder m_work;
    const std::atomic<bool>& m_interrupt;
    const AssumeutxoData* m_data = nullptr;
    std::unique_ptr<ChainstateBuilder> m_builder; //!< null: the coins went through a database
    std::vector<TableFile> m_tables;
    uint64_t m_coins = 0;
    bool m_begun = false;
};

} // namespace ibd
