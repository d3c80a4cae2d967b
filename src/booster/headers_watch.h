// HeadersWatch: decides when a wait for headers must end because no more will come: the chain of
// all peers may end below the awaited block. One thread.
#pragma once

#include "net/peer/header_answers.h"

#include <cstdint>
#include <string>

namespace ibd {

class HeadersWatch {
public:
    /** The best header must be unchanged for this long after all peers have sent all their headers:
     *  another peer may connect and send more. */
    static constexpr int64_t kSettleMicros = 10'000'000;
    /** The same if only some have sent all their headers: the others may never answer. */
    static constexpr int64_t kPatienceMicros = 600'000'000;

    /** `now`: microseconds of a clock that does not go backwards, here and below. */
    explicit HeadersWatch(int64_t now) : m_moved_micros(now) {}

    /** `best`: height of the best header. */
    bool HaveEnded(int32_t best, const HeaderAnswers& answers, int64_t now);

private:
    int32_t m_best = -1;
    int64_t m_moved_micros;
};

/** "2 of 3 peers have sent all their headers"; empty before any peer has. */
std::string Describe(const HeaderAnswers& answers);

} // namespace ibd
