// KeptFile: the list of all files that an earlier start may have left of the booster's work, with
// their kinds and uses. Table: doc/troubleshooting.md. Functions of values; see kept_work.h.
#pragma once

#include "util/env.h"

#include <span>
#include <string>
#include <vector>

namespace ibd {

/** The folder where a join keeps its pairs, and where undo data is made. `booster`: the booster's
 *  folder. */
inline Path UndoFolder(const Path& booster) { return booster / "undo"; }
/** Hints that the node made, complete or not, in the booster's folder. */
inline Path OwnHintsPath(const Path& booster) { return booster / "own.hints"; }
inline Path BegunHintsPath(const Path& booster) { return booster / "own.hints.incomplete"; }

/** The folders. */
struct KeptPlaces {
    Path booster;    //!< -ibdboosterdir
    Path hints = {}; //!< folder hints of the network's data directory; empty: not searched
};

struct KeptFile {
    enum class Use {
        kWork,    //!< a start with the right options resumes it
        kFetched, //!< partial hints from peers: resumed with -ibdboosterfile=auto
        kNone,    //!< partly written or removed when the node was killed; no start uses it
    };
    Path path;
    uint64_t size = 0;
    Use use = Use::kWork;
    const char* what = ""; //!< for the log: "coins that were folded"
};

/** Finds files by the exact names that the node uses; users may keep other files in these folders.
 *  Excludes dumptxouthints: see kept_call.h. */
Result<std::vector<KeptFile>> FindKeptFiles(Env& env, const KeptPlaces& places);

uint64_t BytesOf(std::span<const KeptFile> files, KeptFile::Use use);

/** "coins that were folded (5.6 MB), the checkpoint of a fold (12 kB)". */
std::string Describe(std::span<const KeptFile> files, KeptFile::Use use);

} // namespace ibd
