// Which hints file the node takes: the one it is given, or the best of those in its hints folder.
#pragma once

#include "consensus/params.h"
#include "hints/hints.h"
#include "util/log.h"

namespace ibd {

/** Of files in the hints folder that are not whole yet. */
inline constexpr std::string_view kHintsPartExtension = ".part";
/** Of the folder hints: what is being made of hints for peers, and of swifthints: between these two
 *  stands the hash of their file. Beside a container in the making lies one more. */
inline constexpr std::string_view kKeepingHints = "keeping.part";
inline constexpr std::string_view kConvertedHints = "swifthints-";
inline constexpr std::string_view kConvertedPart = ".hints.part";
inline constexpr std::string_view kGapsExtension = ".gaps";
/** With this the names of files begin that peers gave and nobody has used yet. */
inline constexpr std::string_view kFetchedHints = "fetched-";

/** SHA-256 of a whole file. */
Result<Uint256> HashOfFile(Env& env, const Path& path);

/** What -ibdboosterfile and -ibdboosterhash say. */
struct HintsChoice {
    std::optional<Path> file;
    std::optional<Path> folder; //!< of -ibdboosterfile=auto, but for -ibdbooster=0
    std::optional<Uint256>
        hash;            //!< SHA-256 that the file must have, in the order of its hex digits
    Path converted = {}; //!< the folder of containers that are made of swifthints
    std::vector<Uint256> refused = {}; //!< hints ids that are not taken from the folder
};

/** swifthints, of which a container has to be made before they can be used. */
struct WaitingHints {
    HintsInfo info;
    Path container; //!< its name has the hash of the swifthints file
};

/** At most one of both. */
struct ChosenHints {
    std::unique_ptr<Hints> hints;
    std::optional<WaitingHints> waiting;
};

/** Opens the file that is given, or what an earlier start made of it. Of a folder: of the files
 *  that can be read and are not of another network the one that ends at `assumed_valid`, else the
 *  one that ends highest, of equals the first by name; where there is none, the swifthints that end
 *  highest. The others are named in the log. Nothing if the folder has none, or no choice is made.
 *  Errors: a given file that cannot be read, is of another network or has another hash. */
Result<ChosenHints> ChooseHints(Env& env, Logger& log, const ChainParams& params,
                                const HintsChoice& choice, const BlockHash& assumed_valid);

} // namespace ibd
