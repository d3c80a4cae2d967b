// Files that calls make while they run. UnfinishedFile: a temporary file next to the file that a
// call makes, written until it is complete. It is created exclusively, so that no user's file is
// overwritten, and noted in the folder `unfinished` of the network's data directory, so that the
// next start after a crash removes it. Owned by a call; one thread.
#pragma once

#include "util/env.h"
#include "util/log.h"

namespace ibd {

class UnfinishedFile {
public:
    /** Creates `path`, empty. An error if it exists, or another call uses it. */
    static Result<UnfinishedFile> Claim(Env& env, const Path& net_dir, const Path& path);
    /** Removes it, unless the call has renamed it. */
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
    Path m_note; //!< empty after a move
};

/** A name for a folder in which a call sorts coins (booster/coins_walk.h); no other call uses it.
 */
Path NewCoinsFolder(const Path& net_dir);

/** Call it at start: removes the files of calls that were running when the node was killed, with a
 *  log line for each. */
Result<> RemoveUnfinishedFiles(Env& env, Logger& log, const Path& net_dir);

} // namespace ibd
