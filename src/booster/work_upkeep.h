// WorkUpkeep: decides at start-up about unfinished work of earlier starts (kept_work.h): resumes
// it, removes it, or logs one line with its size and the options that resume it. Owned by
// BoosterSession; the session's thread. A failure here does not stop a start, unless stated.
#pragma once

#include "booster/session_parts.h"

namespace ibd {

class WorkUpkeep {
public:
    explicit WorkUpkeep(const SessionParts& parts) : m_parts(parts) {}

    /** Call it once there is a chain: logs the unfinished work, and removes files that were being
     *  written or that no start can resume. `rebuilds`: the chainstate will be removed in any case.
     */
    void AtStart(bool rebuilds, bool given);
    /** Call it if there is a chainstate and no rebuild is requested: removes the files of a run
     *  that was killed after its last step. The files of an unpublished run stay: the user started
     *  it deliberately, beside this chainstate. `may_run`: according to the options. Errors stop
     *  the start. */
    Result<> BesideChainstate(bool may_run);
    /** Logs the remaining work: of hints that are not given, or with a damaged checkpoint. */
    void DescribeRest(bool undo_needed);
    /** Removes the data that a join has kept for undo data, if that is not wanted or exists
     *  already. */
    void DiscardPairs();

private:
    void WarnOnly(const Result<>& done) const;
    Result<> DropBegun(const char* why, bool all);
    Result<> CleanUpWithBooster();
    Result<bool> CleanUpGivenHints();
    Result<> CleanUpOwnHints(bool may_run);
    Result<> CleanUpPublished();
    Result<> DescribeBegun(bool has_pairs, bool may_run);
    Result<> DescribeUnused(bool undo_needed);
    Result<> DiscardUnwantedPairs();
    Result<BlockHash> BestBlock() const;
    bool WantsUndo() const { return m_parts.options.own.undo != UndoWanted::kNo; }
    std::string FolderName() const { return m_parts.kept.Folder().string(); }

    const SessionParts& m_parts;
    bool m_described = false; //!< the log has described the work kept in the booster's folder
};

} // namespace ibd
