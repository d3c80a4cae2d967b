// SpillRemoval: removes useless spills in the background: the system may take 0.1 s for each GB.
// Owned by UndoRebuild, whose thread calls it; starts a thread.
#pragma once

#include "util/env.h"
#include "util/threads.h"

namespace ibd {

class SpillRemoval {
public:
    /** `background`: false: works on the calling thread. */
    SpillRemoval(Env& env, bool background) : m_env(env), m_background(background) {}

    /** Starts to remove these files, after those of earlier calls. No other code may touch them
     *  until Wait(). */
    Result<> Begin(std::vector<Path> files);
    /** Waits until all are removed, or one failed. */
    Result<> Wait();

private:
    Result<> Remove(const std::vector<Path>& files);

    Env& m_env;
    const bool m_background;
    Result<> m_removed; //!< the thread's result, which it owns while it runs
    NamedThread m_thread;
};

} // namespace ibd
