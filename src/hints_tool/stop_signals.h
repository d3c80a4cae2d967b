// The signals by which a user stops the tool: SIGINT, SIGTERM, SIGHUP. A command that handles them
// checks StopAsked() between two steps; a second signal ends the process at once. Process-wide,
// like signals.
#pragma once

#include <atomic>
#include <optional>

namespace ibd {

/** From now on the first signal only sets StopAsked(). A signal that the parent process has set to
 *  be ignored (nohup) stays ignored. */
void HeedStopSignals();
const std::atomic<bool>& StopAsked();
/** The exit status for the received signal, by the convention of shells; nothing: none came. */
std::optional<int> StatusOfStop();

} // namespace ibd
