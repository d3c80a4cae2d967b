// ChainstateBuilder: makes a whole chainstate from coins that come in key order, as LevelDB tables
// written directly, and puts it in the place of the old one. Owned by the loader of a sync engine.
// NewWriter() may be called from any thread; each writer belongs to one thread and gets a key range
// of its own. Publish() is called once, after all writers finished.
//
// A crash at any point leaves the old chainstate or the new one: the new one grows in
// `<chainstate>.ibdbooster/new` and is complete once it has a CURRENT file; while it takes its
// place, the old one is `<chainstate>.ibdbooster/old`. RecoverPublish() at start-up finishes or
// undoes what was interrupted. That work folder is ours only if it holds the marker file: another
// one is never adopted, emptied or removed.
#pragma once

#include "primitives/uint256.h"
#include "storage/table_writer.h"
#include "util/log.h"
#include "util/marked_folder.h"

#include <span>

namespace ibd {

/** Where a chainstate is made, and where the old one waits while it is replaced. */
class WorkFolder {
public:
    explicit WorkFolder(const Path& chainstate);

    const Path& Get() const { return m_folder.Get(); }
    Path New() const { return Get() / "new"; }
    Path Old() const { return Get() / "old"; }
    Path Batch() const { return Get() / "batch"; } //!< filled through the database
    Path Marker() const { return m_folder.MarkerPath(); }

    /** Refuses a folder of this name without the marker, unless it is empty. */
    Result<> CheckOurs(Env& env) const { return m_folder.CheckOurs(env); }
    /** Makes it, marked, unless it is there. */
    Result<> Make(Env& env) const { return m_folder.Make(env); }
    /** Removes what is ours in it, and the folder if nothing else is in it. */
    Result<> Remove(Env& env) const;

private:
    MarkedFolder m_folder;
};

struct ChainstateBuilderOptions {
    Path chainstate;       //!< the directory to be replaced; its parent exists
    bool obfuscate = true; //!< values under a random key, as a new database of Core has it
    uint64_t max_file_bytes = 32 << 20;
};

class ChainstateBuilder {
public:
    /** Removes what an earlier attempt left and starts an empty directory. */
    static Result<std::unique_ptr<ChainstateBuilder>> Create(Env& env,
                                                             ChainstateBuilderOptions options);

    /** A writer for coins: keys as CoinKey, values as AppendCoin. Values are obfuscated by it. */
    std::unique_ptr<TableWriter> NewWriter();

    /** Adds the best block and the manifest of all tables and makes everything durable; the
     *  directory is a chainstate then. The tables' key ranges must not overlap (CHECK). */
    Result<> Complete(std::vector<TableFile> tables, const BlockHash& best_block);
    /** Complete(), then ReplaceChainstate(). */
    Result<> Publish(std::vector<TableFile> tables, const BlockHash& best_block);

    const Path& Directory() const { return m_directory; }

private:
    ChainstateBuilder(Env& env, ChainstateBuilderOptions options);
    Result<std::vector<TableFile>> WriteHead(const BlockHash& best_block);
    Result<> WriteManifest(std::span<const TableFile> tables);

    Env& m_env;
    const ChainstateBuilderOptions m_options;
    const Path m_directory; //!< WorkFolder::New()
    XorKey m_key;
    std::atomic<uint64_t> m_next_number{2}; //!< 1 is the manifest
};

/** Puts the complete chainstate at WorkFolder::New() in the place of the old one, which must not
 *  be open, and removes that and the work folder. */
Result<> ReplaceChainstate(Env& env, const Path& chainstate);

/** Finishes or undoes an interrupted Publish and removes what was never complete, with a line in
 *  the log for each; call before the chainstate is opened. */
Result<> RecoverPublish(Env& env, Logger& log, const Path& chainstate);

/** What a chainstate that nobody has open says of itself. */
struct ChainstateSummary {
    bool exists = false;
    bool between = false; //!< a write was interrupted
    BlockHash best;       //!< null: empty, or between two blocks
};
Result<ChainstateSummary> LookAtChainstate(Env& env, Logger& log, const Path& chainstate);

} // namespace ibd
