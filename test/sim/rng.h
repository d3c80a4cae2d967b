// Rng: the random generator of all test and bench data. It gives the same numbers from the same
// seed on every machine and library (the standard's distributions do not). A value; copies continue
// independently.
#pragma once

#include "util/bytes.h"

#include <cstdint>

namespace ibd::sim {

class Rng {
public:
    // For std::shuffle and the like.
    using result_type = uint64_t;
    static constexpr uint64_t min() { return 0; }
    static constexpr uint64_t max() { return ~uint64_t{0}; }
    uint64_t operator()() { return Next(); }

    explicit Rng(uint64_t seed) : m_state(seed) {}

    /** SplitMix64 (Steele, Lea, Flood 2014). */
    uint64_t Next()
    {
        uint64_t z = m_state += 0x9e3779b97f4a7c15;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
        z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
        return z ^ (z >> 31);
    }
    /** Uniform in [0, n) but for a bias below n / 2^64; 0 for n = 0. */
    uint64_t Below(uint64_t n) { return n ? Next() % n : 0; }
    /** Uniform in [low, high]. */
    int Between(int low, int high)
    {
        return low + static_cast<int>(Below(static_cast<uint64_t>(high - low) + 1));
    }
    /** True `parts` times in `whole`. */
    bool Chance(uint64_t parts, uint64_t whole) { return Below(whole) < parts; }
    Bytes RandomBytes(size_t n)
    {
        Bytes out(n);
        for (size_t i = 0; i < n; i += 8) {
            const uint64_t word = Next();
            std::memcpy(out.data() + i, &word, n - i < 8 ? n - i : 8);
        }
        return out;
    }

private:
    uint64_t m_state;
};

} // namespace ibd::sim
