// Chooses the node's hints file: the given one, or the best one in its hints folder.
#pragma once

#include "consensus/params.h"
#include "hints/hints.h"
#include "util/log.h"

#include <functional>

namespace ibd {

/** Extension of incomplete files in the hints folder. */
inline constexpr std::string_view kHintsPartExtension = ".part";
/** Name of a container that is being written for peers. */
inline constexpr std::string_view kKeepingHints = "keeping.part";
/** Begins the name of a container converted from swifthints; the hash of that file follows. */
inline constexpr std::string_view kConvertedHints = "swifthints-";
/** Ends the name of such a container while it is written. */
inline constexpr std::string_view kConvertedPart = ".hints.part";
/** Ends the name of the second, temporary file of a container that is being written. */
inline constexpr std::string_view kGapsExtension = ".gaps";
/** Prefix of files from peers that were not used yet. */
inline constexpr std::string_view kFetchedHints = "fetched-";

/** SHA-256 of a whole file. */
Result<Uint256> HashOfFile(Env& env, const Path& path);

/** Precedence among hints in a folder, from earlier tries. */
enum class HintsRank {
    kRefused, //!< never used
    kSuspect, //!< failed, unless a block is invalid
    kUsual,
    kBegun, //!< an unfinished sync with these hints can be resumed
};

/** Values of -ibdboosterfile and -ibdboosterhash. */
struct HintsChoice {
    std::optional<Path> file;
    std::optional<Path> folder;  //!< with -ibdboosterfile=auto, unless -ibdbooster=0
    std::optional<Uint256> hash; //!< required SHA-256 of the file, in the order of its hex digits
    Path converted = {};         //!< folder of containers converted from swifthints
    /** The rank of hints in the folder; empty: all have the usual one. */
    std::function<Result<HintsRank>(const HintsInfo&)> rank = {};
};

/** swifthints, to be converted to a container before use. */
struct WaitingHints {
    HintsInfo info;
    Path container; //!< its name has the hash of the swifthints file
};

/** At most one of the two. */
struct ChosenHints {
    std::unique_ptr<Hints> hints;
    std::optional<WaitingHints> waiting;
};

/** Opens the given file, or its conversion by an earlier start. In a folder it chooses among the
 *  readable files of this network: those of the highest rank, among these the one that ends at
 *  `assumed_valid`, else the one that ends highest (on a tie the first by name), else the
 *  swifthints that end highest. Unreadable files are logged. Nothing: an empty folder, or no
 *  choice. Errors: a given file is unreadable, of another network, or has another hash. */
Result<ChosenHints> ChooseHints(Env& env, Logger& log, const ChainParams& params,
                                const HintsChoice& choice, const BlockHash& assumed_valid);

} // namespace ibd
