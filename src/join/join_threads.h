// The threads that work on spills: their number, their memory, their start, and their progress.
#pragma once

#include "join/join_job.h"
#include "util/progress.h"

namespace ibd {

/** The number of threads that work on spills at once (more would have too little memory each), and
 *  the memory of each for the partition that it joins. */
size_t JoinThreads(const JoinOptions& options);
size_t JoinBytes(const JoinOptions& options);
/** Half of it for records of about one size: grouping them takes a quarter more. */
inline size_t MostGroupedBytes(const JoinOptions& options) { return JoinBytes(options) / 2; }

/** Progress of work that is shared by threads or done in turn. */
class JoinMeter {
public:
    /** `done`: in the unit of `options`. Shows nothing without JoinOptions::background. */
    JoinMeter(JoinJob& job, ProgressOptions options, std::function<uint64_t()> done);
    void Update() { m_meter->Update(m_done()); }

private:
    std::optional<ProgressMeter> m_meter;
    const std::function<uint64_t()> m_done;
};

/** Runs `work` on each thread, or on the caller's alone without JoinOptions::background, and shows
 *  progress. Returns the first error; `work` must end the other threads itself. */
Result<> RunJoinThreads(JoinJob& job, JoinMeter& meter, const std::function<Result<>()>& work);

} // namespace ibd
