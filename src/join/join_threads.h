// How many threads work on spills, with how much memory, and how they are run and watched.
#pragma once

#include "join/join_job.h"
#include "util/progress.h"

namespace ibd {

/** Threads that work on spills at once - more would leave too little memory for each - and what
 *  each has for a partition that it joins. */
size_t JoinThreads(const JoinOptions& options);
size_t JoinBytes(const JoinOptions& options);
/** Half of that, for records of one size or about that, which need a quarter more to be grouped. */
inline size_t MostGroupedBytes(const JoinOptions& options) { return JoinBytes(options) / 2; }

/** How far something is, while several threads work on it or on parts of it in turn. */
class JoinMeter {
public:
    /** `done`: in what `options` name. It shows nothing without JoinOptions::background. */
    JoinMeter(JoinJob& job, ProgressOptions options, std::function<uint64_t()> done);
    void Update() { m_meter->Update(m_done()); }

private:
    std::optional<ProgressMeter> m_meter;
    const std::function<uint64_t()> m_done;
};

/** Runs `work` on each of them, or on the caller's alone without JoinOptions::background, and shows
 *  how far it is. The first error; `work` sees to it that the others end too. */
Result<> RunJoinThreads(JoinJob& job, JoinMeter& meter, const std::function<Result<>()>& work);

} // namespace ibd
