// ChainstateBuilder: makes a whole chainstate from coins in key order, by writing LevelDB tables
// directly, and replaces the old one. Owned by the loader of a sync engine. NewWriter() may be
// called from any thread; each writer belongs to one thread and has a key range of its own.
// Publish() is called once, after all writers finished.
//
// A crash at any point leaves the old or the new chainstate. The new one grows in
// `<chainstate>.ibdbooster/new` and is complete once it has a CURRENT file. During the replacement
// the old one is `<chainstate>.ibdbooster/old`. RecoverDb() at start-up finishes or undoes an
// interrupted replacement. The work folder is ours only if it has the marker file: another folder
// of this name is never used, emptied or removed.
#pragma once

#include "primitives/uint256.h"
#include "storage/table_db.h"
#include "util/log.h"
#include "util/marked_folder.h"

#include <span>

namespace ibd {

/** The folder beside a database (chainstate or index) for the new one, and for the old one during
 *  the replacement. */
class WorkFolder {
public:
    explicit WorkFolder(const Path& database);

    const Path& Get() const { return m_folder.Get(); }
    Path New() const { return Get() / "new"; }
    Path Old() const { return Get() / "old"; }
    Path Batch() const { return Get() / "batch"; } //!< new database, filled through LevelDB
    Path Sort() const { return Get() / "sort"; }   //!< records that are being sorted
    Path Marker() const { return m_folder.MarkerPath(); }

    /** Refuses a folder of this name without the marker, unless it is empty. */
    Result<> CheckOurs(Env& env) const { return m_folder.CheckOurs(env); }
    /** Makes the folder with its marker, unless it exists. */
    Result<> Make(Env& env) const { return m_folder.Make(env); }
    /** Removes the new database. After an interruption RecoverDb() does not take the remains for a
     *  database. */
    Result<> RemoveNew(Env& env) const;
    /** Removes our files in it, and the folder if it is empty then. */
    Result<> Remove(Env& env) const;

private:
    MarkedFolder m_folder;
};

struct ChainstateBuilderOptions {
    Path chainstate;       //!< the directory to replace; its parent exists
    bool obfuscate = true; //!< values under a random key, as in a new database of Core
    uint64_t max_file_bytes = 32 << 20;
};

class ChainstateBuilder {
public:
    /** Removes the remains of an earlier attempt and starts an empty directory. */
    static Result<std::unique_ptr<ChainstateBuilder>> Create(Env& env,
                                                             ChainstateBuilderOptions options);

    /** A writer for coins: keys as CoinKey, values as AppendCoin. The writer obfuscates values. */
    std::unique_ptr<TableWriter> NewWriter() { return m_db->NewWriter(); }

    /** Adds the best block and the manifest of all tables and makes everything durable; then the
     *  directory is a chainstate. The tables' key ranges must not overlap (CHECK). */
    Result<> Complete(std::vector<TableFile> tables, const BlockHash& best_block);
    /** Complete(), then ReplaceDb(). */
    Result<> Publish(std::vector<TableFile> tables, const BlockHash& best_block);

    const Path& Directory() const { return m_db->Directory(); }

private:
    ChainstateBuilder(Env& env, ChainstateBuilderOptions options,
                      std::unique_ptr<TableDbBuilder> db)
        : m_env(env), m_options(std::move(options)), m_db(std::move(db))
    {
    }
    Result<std::vector<TableFile>> WriteHead(const BlockHash& best_block);

    Env& m_env;
    const ChainstateBuilderOptions m_options;
    const std::unique_ptr<TableDbBuilder> m_db; //!< in WorkFolder::New()
};

/** Refuses a database that ReplaceDb() cannot replace: one of both folders is a mount point, or the
 *  work folder is not ours. Call it before the work of hours that ends with ReplaceDb(). */
Result<> CheckReplaceable(Env& env, const Path& database);

/** Replaces the old database, which must not be open, by the complete one at WorkFolder::New(), and
 *  removes the old one and the work folder. */
Result<> ReplaceDb(Env& env, const Path& database);

/** Finishes or undoes an interrupted ReplaceDb() and removes incomplete work, with a log line for
 *  each; call it before the database is opened. */
Result<> RecoverDb(Env& env, Logger& log, const Path& database);

/** Whether a chainstate that is not open exists, and its best block. */
struct ChainstateSummary {
    bool exists = false;
    bool between = false; //!< a write was interrupted
    BlockHash best;       //!< null: empty, or between two blocks
};
Result<ChainstateSummary> LookAtChainstate(Env& env, Logger& log, const Path& chainstate);

} // namespace ibd
