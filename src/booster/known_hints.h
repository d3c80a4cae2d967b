// Hints files known to be right, by network, analogous to the assumed-valid block; the table is
// still empty. A file in the table is accepted from a single peer; others must be offered by a
// second one.
#pragma once

#include "consensus/params.h"

#include <vector>

namespace ibd {

struct KnownHints {
    uint32_t height = 0; //!< of the terminal block
    Uint256 file_hash;   //!< SHA-256 of the file, in the order of its hex digits

    bool operator==(const KnownHints&) const = default;
};

/** The compiled-in table: empty for each network, because there is no file yet that everyone can
 *  verify. */
std::vector<KnownHints> KnownHintsOf(Network network);

} // namespace ibd
