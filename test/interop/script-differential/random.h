// Random choices from one seed.
#pragma once

#include "util/bytes.h"

#include <initializer_list>
#include <random>
#include <span>

namespace ibd::differential {

class Random {
public:
    explicit Random(uint64_t seed) : m_engine(seed) {}

    uint64_t Bits() { return m_engine(); }
    /** 0 .. limit-1. */
    size_t Below(size_t limit) { return static_cast<size_t>(m_engine() % limit); }
    /** True in `percent` of 100 cases. */
    bool Percent(unsigned percent) { return m_engine() % 100 < percent; }
    uint8_t Byte() { return static_cast<uint8_t>(m_engine()); }

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
    ibd::Bytes Bytes(size_t size)
    {
        ibd::Bytes out(size);
        for (uint8_t& byte : out) byte = Byte();
        return out;
    }

private:
    std::mt19937_64 m_engine;
};

} // namespace ibd::differential
