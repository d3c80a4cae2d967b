// Leftovers: the list of all files that earlier starts may have left of the booster's work, with
// their kinds and uses. A start removes files that were being written when the node died, and logs
// the size of the rest. Table: doc/troubleshooting.md. Functions of values; ChainStart's thread.
#pragma once

#include "util/env.h"
#include "util/log.h"

#include <span>

namespace ibd {

/** The folders. */
struct LeftoverPlaces {
    Path booster; //!< -ibdboosterdir
    Path hints;   //!< folder hints of the network's data directory
};

struct Leftover {
    enum class Use {
        kWork,    //!< a start with the right options resumes it
        kFetched, //!< partial hints from peers: resumed with -ibdboosterfile=auto
        kNobody,  //!< was being written when the node died; its writer starts anew
    };
    Path path;
    uint64_t size = 0;
    Use use = Use::kWork;
    const char* what = ""; //!< for the log: "coins that were folded"
};

/** Finds files by the exact names that the node uses; users may keep other files in these folders.
 *  Excludes dumptxouthints: see rpc/hints_calls.h. */
Result<std::vector<Leftover>> FindLeftovers(Env& env, const LeftoverPlaces& places);

uint64_t BytesOf(std::span<const Leftover> leftovers, Leftover::Use use);

/** Call at start, before anything is written: removes useless files and logs the size of the
 *  others, unless another node works there. */
Result<> TendLeftovers(Env& env, Logger& log, const LeftoverPlaces& places);

/** Logs the contents of folders that earlier starts used with another -ibdboosterdir. `list`: the
 *  file that lists them, updated here; `usual`: the folder without the option. */
Result<> TellOfOtherFolders(Env& env, Logger& log, const Path& list, const Path& current,
                            const Path& usual);

} // namespace ibd
