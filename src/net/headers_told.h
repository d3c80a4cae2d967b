// HeadersTold: how many peers have told all their headers. A value.
#pragma once

#include <cstddef>

namespace ibd {

struct HeadersTold {
    size_t peers = 0; //!< that offer blocks
    size_t told = 0;  //!< those of them that have no further headers
};

} // namespace ibd
