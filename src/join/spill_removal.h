// SpillRemoval: removes spills that are of no use any more while others go on: the system may take
// a tenth of a second for each GB. Owned by UndoRebuild, whose thread calls it; starts a thread.
#pragma once

#include "util/env.h"
#include "util/threads.h"

namespace ibd {

class SpillRemoval {
public:
    /** `background`: false: all on the calling thread. */
    SpillRemoval(Env& env, bool background) : m_env(env), m_background(background) {}

    /** Begins to remove these files, which nobody else touches until Wait(); after it, or first. */
    Result<> Begin(std::vector<Path> files);
    /** Until all are removed, or one could not be. */
    Result<> Wait();

private:
    Result<> Remove(const std::vector<Path>& files);

    Env& m_env;
    const bool m_background;
    Result<> m_removed; //!< the thread's, while it runs
    NamedThread m_thread;
};

} // namespace ibd
