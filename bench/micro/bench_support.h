// Timing for micro benches: repeats a piece of work for a while and prints its cost. With --once,
// as ctest runs it, everything is done a single time and only its working is tested.
#pragma once

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstring>

namespace ibd::bench {

class Runner {
public:
    Runner(int argc, char** argv) : m_once(argc > 1 && std::strcmp(argv[1], "--once") == 0) {}

    /** Runs `work`, which does `operations` operations per call; prints ns per operation of the
     *  fastest of several rounds. */
    template <typename Work>
    void Run(const char* name, double operations, Work work) const
    {
        double best = 0;
        for (int round = 0; round < (m_once ? 1 : kRounds); ++round) {
            const double ns = TimeRound(work) / operations;
            if (round == 0 || ns < best) best = ns;
        }
        std::printf("%-48s %12.1f ns\n", name, best);
    }

private:
    static constexpr int kRounds = 5;
    static constexpr std::chrono::milliseconds kRound{60};

    template <typename Work>
    double TimeRound(Work& work) const
    {
        using Clock = std::chrono::steady_clock;
        const auto start = Clock::now();
        int64_t calls = 0;
        auto spent = Clock::duration::zero();
        do {
            work();
            ++calls;
            spent = Clock::now() - start;
        } while (!m_once && spent < kRound);
        return double(std::chrono::nanoseconds(spent).count()) / double(calls);
    }

    bool m_once;
};

} // namespace ibd::bench
