// Random choices from one seed.
#pragma once

#include "sim/rng.h"
#include "util/bytes.h"

#include <initializer_list>
#include <span>

namespace ibd::differential {

/** sim::Rng with the draws that the mutators need. */
class Random : private sim::Rng {
public:
    using Rng::Rng;

    uint64_t Bits() { return Next(); }
    /** 0 .. limit-1. */
    size_t Below(size_t limit) { return static_cast<size_t>(Rng::Below(limit)); }
    /** True in `percent` of 100 cases. */
    bool Percent(unsigned percent) { return Chance(percent, 100); }
    uint8_t Byte() { return static_cast<uint8_t>(Next()); }

    template <typename T>
    T Of(std::initializer_list<T> choices)
    {
        return choices.begin()[Below(choices.size())];
    }
    template <typename T>
    T& Of(std::span<T> choices)
    {
        return choices[Below(choices.size())];
    }
    ibd::Bytes Bytes(size_t size) { return RandomBytes(size); }
};

} // namespace ibd::differential
