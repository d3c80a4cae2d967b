// HeadersTold: the number of peers that have sent all their headers. A value.
#pragma once

#include <cstddef>

namespace ibd {

struct HeadersTold {
    size_t peers = 0; //!< that offer blocks
    size_t told = 0;  //!< those without further headers
};

} // namespace ibd
