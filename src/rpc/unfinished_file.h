// UnfinishedFile: a file beside one that a call makes, in which that is written until it is
// complete. Its name is taken exclusively, so that no file of a user's is written over, and noted
// in the folder `unfinished` of the network's data directory, so that the start after a death
// removes it. Owned by a call; one thread.
#pragma once

#include "util/env.h"
#include "util/log.h"

namespace ibd {

class UnfinishedFile {
public:
    /** Makes `path`, empty. An error if something has this name, or another call is at it. */
    static Result<UnfinishedFile> Claim(Env& env, const Path& net_dir, const Path& path);
    /** Removes it, unless the call has given it another name. */
    ~UnfinishedFile();
    UnfinishedFile(UnfinishedFile&& other) noexcept
        : m_env(other.m_env), m_path(std::move(other.m_path)),
          m_note(std::exchange(other.m_note, {}))
    {
    }
    UnfinishedFile(const UnfinishedFile&) = delete;
    UnfinishedFile& operator=(const UnfinishedFile&) = delete;

private:
    UnfinishedFile(Env& env, Path path, Path note)
        : m_env(env), m_path(std::move(path)), m_note(std::move(note))
    {
    }

    Env& m_env;
    Path m_path;
    Path m_note; //!< empty: moved from
};

/** At a start: removes what calls were writing when the node died, with a line for each file. */
Result<> RemoveUnfinishedFiles(Env& env, Logger& log, const Path& net_dir);

} // namespace ibd
