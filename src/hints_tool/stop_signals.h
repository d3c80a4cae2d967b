// The signals by which a user stops the tool: SIGINT, SIGTERM, SIGHUP. A command that heeds them
// looks at StopAsked() between two steps; a second signal ends the process at once. Process-wide,
// as signals are.
#pragma once

#include <atomic>
#include <optional>

namespace ibd {

/** From here on the first of them sets StopAsked() and does no more. One that whoever started the
 *  process has it ignore (nohup) stays ignored. */
void HeedStopSignals();
const std::atomic<bool>& StopAsked();
/** The exit status that says which signal it was, as shells have it; nothing: none came. */
std::optional<int> StatusOfStop();

} // namespace ibd
