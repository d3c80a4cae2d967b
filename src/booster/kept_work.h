// KeptWork: the files that unfinished syncs have left on disk. The only place outside a running
// fold or join that knows their files: it inspects, measures, locks, describes and discards them.
// Holds no state but the folders; any thread, one at a time for each folder.
#pragma once

#include "booster/kept_files.h"
#include "consensus/params.h"
#include "hints/hints.h"
#include "join/join_state.h"
#include "swiftsync/checkpoint.h"
#include "swiftsync/first_pass.h"
#include "util/found.h"
#include "util/log.h"

namespace ibd {

struct HeaderNode;

class KeptWork {
public:
    /** The parts that Discard() removes. */
    enum Part : unsigned {
        kFold = 1,       //!< runs and checkpoint
        kMark = 2,       //!< the height up to which blocks were checked (full_mark.h)
        kOwnHints = 4,   //!< the node's hints, complete or begun, and their join without its pairs
        kBegunHints = 8, //!< unfinished hints alone, which cannot be resumed without the pairs
        kPairs = 16,     //!< the pairs of a join, in UndoFolder()
    };

    KeptWork(Env& env, Logger& log, const ChainParams& params, KeptPlaces places)
        : m_env(env), m_log(log), m_params(params), m_places(std::move(places))
    {
    }

    const Path& Folder() const { return m_places.booster; }
    /** The folder where pairs are kept and undo data is made. */
    Path PairsFolder() const { return UndoFolder(m_places.booster); }

    // Inspect.

    /** The checkpoint of a fold. Bad data: it is damaged. */
    Found<Checkpoint> Fold() const;
    /** See FindFoldStanding(). */
    Result<FoldStanding> StandingOfFold(const Uint256& hints_id, const BlockHash& best) const;
    /** The state of a join in PairsFolder(). Bad data: it is damaged. */
    Found<JoinState> Pairs() const;
    /** The node's own hints, and the files that an earlier join of all blocks left for them. */
    struct OwnWork {
        BlockHash terminal;
        std::unique_ptr<Hints> hints;   //!< null: the join is unfinished
        std::optional<FirstPass> first; //!< with hints: further results of the join, if complete
        bool pairs = false;             //!< without hints: the join keeps them
    };
    /** Nothing: there is nothing usable; damaged hints are removed. */
    Found<OwnWork> OwnHints() const;
    /** The further results of the join that made the hints up to `terminal`. */
    Found<FirstPass> FirstPassOfHints(const BlockHash& terminal) const;
    /** For each height, whether a fold or a join up to `terminal` has read the block and would not
     *  read it again. */
    Result<std::vector<bool>> BlocksRead(const HeaderNode& terminal) const;

    // Measure.

    Result<std::vector<KeptFile>> Files() const { return FindKeptFiles(m_env, m_places); }
    /** Bytes of all work that a start can resume. */
    Result<uint64_t> Size() const;
    /** Bytes of own hints, their join and its pairs, usable or not; nothing: there are none. */
    Found<uint64_t> SizeOfOwnHints() const;

    // Lock.

    /** Locks the folder, which must exist, against other nodes. An error: another node uses it. */
    Result<std::unique_ptr<FileLock>> Lock() const { return LockBooster(m_env, Folder()); }
    Result<std::unique_ptr<FileLock>> LockPairs() const
    {
        return LockBooster(m_env, PairsFolder());
    }
    Result<bool> IsThere() const { return m_env.IsThere(Folder()); }

    // Describe.

    /** Logs the contents of folders that earlier starts used with another -ibdboosterdir. `list`:
     *  the file that lists them, updated here; `usual`: the folder without the option. */
    Result<> DescribeOthers(const Path& list, const Path& usual) const;

    // Discard.

    /** Removes these parts (a sum of Part); the hints must not be open. */
    Result<> Discard(unsigned parts) const;
    /** Call at start, before anything is written: removes files that were being written when the
     *  node was killed, and logs the size of the others, unless another node uses the folder. */
    Result<> Tend() const;
    /** Call it before a join up to `terminal`: removes hints, and the files of an earlier join that
     *  it cannot resume because only one of the two keeps pairs. */
    Result<> MakeWayForJoin(const HeaderNode& terminal, bool pairs) const;
    /** Notes that hints failed on the branch of their terminal block; see RememberBadHints(). */
    Result<> RememberBad(const Uint256& hints_id, const BlockHash& terminal,
                         std::string_view why) const;
    /** The reason why these hints failed on this branch; nothing: they did not fail. */
    Found<std::string> KnownBad(const Uint256& hints_id, const BlockHash& terminal) const
    {
        return KnownBadHints(m_env, Folder(), hints_id, terminal);
    }
    /** The record of suspect hints; see SuspectHints. */
    Result<std::vector<SuspectEntry>> Suspects() const { return LoadSuspectHints(m_env, Folder()); }
    Result<> SaveSuspects(std::span<const SuspectEntry> entries) const;
    /** Keeps the results of the join in PairsFolder() where FirstPassOfHints() finds them after the
     *  pairs are removed. */
    Result<> KeepFirstPass() const;

private:
    Result<> DiscardOwnHints() const;
    Result<> DiscardPairs() const;

    Env& m_env;
    Logger& m_log;
    const ChainParams& m_params;
    const KeptPlaces m_places;
};

} // namespace ibd
