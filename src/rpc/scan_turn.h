// ScanTurn: one scan at a time, which other calls query or abort.
#pragma once

#include <atomic>

namespace ibd {

struct TurnState {
    std::atomic<bool> running = false;
    std::atomic<bool> abort = false;
    std::atomic<int> percent = 0;
    std::atomic<int> height = 0; //!< of the block that was reached; scanblocks only
};

/** Reserves the scan as long as it lives. */
class ScanTurn {
public:
    explicit ScanTurn(TurnState& state) : m_state(state), m_mine(!state.running.exchange(true)) {}
    ~ScanTurn()
    {
        if (m_mine) m_state.running = false;
    }
    ScanTurn(const ScanTurn&) = delete;
    ScanTurn& operator=(const ScanTurn&) = delete;
    bool Mine() const { return m_mine; }

private:
    TurnState& m_state;
    const bool m_mine;
};

} // namespace ibd
