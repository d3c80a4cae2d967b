// Leftovers: all that earlier starts may have left of the booster's work - the one list of the
// files, what each is, and whether another start goes on with it. A start removes what was being
// written when the node died, and says how much of the rest there is. Table:
// doc/troubleshooting.md. Functions of values; ChainStart's thread.
#pragma once

#include "util/env.h"
#include "util/log.h"

#include <span>

namespace ibd {

/** Where they lie. */
struct LeftoverPlaces {
    Path booster; //!< -ibdboosterdir
    Path hints;   //!< the folder hints of the network's data directory
};

struct Leftover {
    enum class Use {
        kWork,    //!< a start with the right options goes on with it
        kFetched, //!< hints of which peers have given a part: the same with -ibdboosterfile=auto
        kNobody,  //!< was being written when the node died; whoever writes it begins anew
    };
    Path path;
    uint64_t size = 0;
    Use use = Use::kWork;
    const char* what = ""; //!< for the log: "coins that were folded"
};

/** What is there by the exact names that the node gives; the folders may be ones in which users
 *  keep other files. What dumptxouthints works with is not among it: see rpc/hints_calls.h. */
Result<std::vector<Leftover>> FindLeftovers(Env& env, const LeftoverPlaces& places);

uint64_t BytesOf(std::span<const Leftover> leftovers, Leftover::Use use);

/** At a start, before it writes anything: removes what is of no use to anybody and says how much
 *  there is, unless another node works there. */
Result<> TendLeftovers(Env& env, Logger& log, const LeftoverPlaces& places);

/** Says what lies in folders that earlier starts had for the booster, with another -ibdboosterdir.
 *  `list`: the file that names them, brought up to date; `usual`: the folder without the option. */
Result<> TellOfOtherFolders(Env& env, Logger& log, const Path& list, const Path& current,
                            const Path& usual);

} // namespace ibd
