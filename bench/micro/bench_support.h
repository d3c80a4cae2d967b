// Timing for micro benches: repeats a piece of work for a while and prints its cost in CPU time
// of this thread, which other processes disturb less than they do the clock on the wall. With
// --once, as ctest runs it, everything is done a single time and only its working is tested.
#pragma once

#include "util/thread_time.h"

#include <cstdint>
#include <cstdio>
#include <cstring>

namespace ibd::bench {

/** Makes the compiler believe that a result is used. */
template <typename T>
void Keep(const T& result)
{
    asm volatile("" : : "r"(&result) : "memory");
}

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

    bool Once() const { return m_once; }
    /** CPU time of this thread. */
    static double CpuNs() { return static_cast<double>(ThreadCpuTime().count()); }

private:
    static constexpr int kRounds = 5;
    static constexpr double kRoundNs = 60e6;

    /** Calls in batches that grow, so that reading the clock costs nothing next to the work. */
    template <typename Work>
    double TimeRound(Work& work) const
    {
        const double start = CpuNs();
        int64_t calls = 0;
        double spent = 0;
        for (int64_t batch = 1;; batch *= 2) {
            for (int64_t i = 0; i < batch; ++i) work();
            calls += batch;
            spent = CpuNs() - start;
            if (m_once || spent >= kRoundNs) break;
        }
        return spent / double(calls);
    }

    bool m_once;
};

} // namespace ibd::bench
