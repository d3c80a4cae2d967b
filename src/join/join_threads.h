// How many threads work on spills, with how much memory, and how they are run and watched.
#pragma once

#include "join/join_job.h"
#include "util/progress.h"

namespace ibd {

/** Threads that work on spills at once - more would leave too little memory for each - and what
 *  each has for a partition that it joins. */
size_t JoinThreads(const JoinOptions& options);
size_t JoinBytes(const JoinOptions& options);

/** Runs `work` on each of them, or on the caller's alone without JoinOptions::background, and shows
 *  how far it is: `done`, in what `meter` names. The first error; `work` sees to it that the others
 *  end too. */
Result<> RunJoinThreads(JoinJob& job, ProgressOptions meter, const std::function<Result<>()>& work,
                        const std::function<uint64_t()>& done);

} // namespace ibd
