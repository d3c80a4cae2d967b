// Hints files that are known to be right, by network: what the assumed-valid block is for scripts,
// these are for hints; none is yet. A file of the table needs no second peer that names it.
#pragma once

#include "consensus/params.h"

#include <vector>

namespace ibd {

struct KnownHints {
    uint32_t height = 0; //!< where they end
    Uint256 file_hash;   //!< SHA-256 of the file, in the order of its hex digits

    bool operator==(const KnownHints&) const = default;
};

/** Those compiled in: for each network none yet, as no file is known that anybody can check. */
std::vector<KnownHints> KnownHintsOf(Network network);

} // namespace ibd
