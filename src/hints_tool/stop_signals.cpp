// See stop_signals.h.
#include "hints_tool/stop_signals.h"

#include <csignal>

namespace ibd {

namespace {

constexpr int kSignalled = 128; //!< added to the signal's number

std::atomic<bool> g_asked = false;
std::atomic<int> g_signal = 0;
static_assert(std::atomic<bool>::is_always_lock_free && std::atomic<int>::is_always_lock_free);

void TakeNote(int signal)
{
    g_signal = signal;
    g_asked = true;
}

} // namespace

void HeedStopSignals()
{
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
        struct sigaction before = {};
        if (::sigaction(signal, nullptr, &before) != 0 || before.sa_handler == SIG_IGN) continue;
        struct sigaction action = {};
        action.sa_handler = TakeNote;
        // Running reads and writes are resumed.
        action.sa_flags = SA_RESTART | SA_RESETHAND;
        (void)::sigaction(signal, &action, nullptr);
    }
}

const std::atomic<bool>& StopAsked() { return g_asked; }

std::optional<int> StatusOfStop()
{
    const int signal = g_signal;
    return signal == 0 ? std::nullopt : std::optional(kSignalled + signal);
}

} // namespace ibd
