// IndexOptions: the indexes requested by the user, and the memory of their databases.
#pragma once

#include <cstddef>

namespace ibd {

struct IndexOptions {
    bool tx = false;          //!< -txindex
    size_t tx_cache = 0;      //!< bytes
    bool filters = false;     //!< -blockfilterindex, of basic filters
    size_t filter_cache = 0;  //!< bytes
    bool spenders = false;    //!< -txospenderindex
    size_t spender_cache = 0; //!< bytes
    bool coin_stats = false;  //!< -coinstatsindex

    bool Any() const { return tx || filters || spenders || coin_stats; }
};

} // namespace ibd
