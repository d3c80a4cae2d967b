// Hints files known to be right, by network, analogous to the assumed-valid block; the table is
// still empty. A file in the table needs no second peer that offers it.
#pragma once

#include "consensus/params.h"

#include <vector>

namespace ibd {

struct KnownHints {
    uint32_t height = 0; //!< of the terminal block
    Uint256 file_hash;   //!< SHA-256 of the file, in the order of its hex digits

    bool operator==(const KnownHints&) const = default;
};

/** The compiled-in table: empty for each network, as no file exists that everyone can check. */
std::vector<KnownHints> KnownHintsOf(Network network);

} // namespace ibd
