// Which hints file the node takes: the one it is given, or the best of those in its hints folder.
#pragma once

#include "consensus/params.h"
#include "hints/hints.h"
#include "util/log.h"

namespace ibd {

/** Of files in the hints folder that are not whole yet. */
inline constexpr std::string_view kHintsPartExtension = ".part";
/** With this the names of files begin that peers gave and nobody has used yet. */
inline constexpr std::string_view kFetchedHints = "fetched-";

/** SHA-256 of a whole file. */
Result<Uint256> HashOfFile(Env& env, const Path& path);

/** What -ibdboosterfile and -ibdboosterhash say. */
struct HintsChoice {
    std::optional<Path> file;
    std::optional<Path> folder; //!< of -ibdboosterfile=auto
    std::optional<Uint256>
        hash; //!< SHA-256 that the file must have, in the order of its hex digits
};

/** Opens the file that is given. Of a folder: of the files that can be read and are not of another
 *  network the one that ends at `assumed_valid`, else the one that ends highest, of equals the
 *  first by name; the others are named in the log. Null if the folder has none, or no choice is
 *  made. Errors: a given file that cannot be read, is of another network or has another hash. */
Result<std::unique_ptr<Hints>> ChooseHints(Env& env, Logger& log, const ChainParams& params,
                                           const HintsChoice& choice,
                                           const BlockHash& assumed_valid);

} // namespace ibd
