// HeaderAnswers: how many peers have sent all their headers. A value.
#pragma once

#include <cstddef>

namespace ibd {

struct HeaderAnswers {
    size_t peers = 0;    //!< that offer blocks
    size_t complete = 0; //!< of these, peers that have sent all their headers
};

} // namespace ibd
