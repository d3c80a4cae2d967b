// OutputWork: the folder OUT.work, in which a file is made before it gets the name OUT, and in
// which what is done waits when the tool is stopped. Marked, so that a folder of this name that the
// tool has not made is left alone (util/marked_folder.h); locked, so that one tool works in it.
// Owned by a command; one thread.
#pragma once

#include "util/marked_folder.h"

namespace ibd {

class OutputWork {
public:
    /** Makes the folder or goes on with it, and removes of a file that was not completed what is of
     *  no use. `inputs` are files and folders that are read: an error if one lies in it. */
    static Result<OutputWork> Begin(Env& env, const Path& out, const std::vector<Path>& inputs);

    const Path& Folder() const { return m_folder.Get(); }
    /** Of the file that is made. */
    Path Part() const { return Folder() / "hints"; }
    /** The same of what an earlier command for this file left; 0: nothing. */
    static uint64_t SizeAt(Env& env, const Path& out);
    /** Bytes of all that the tool has in it. */
    uint64_t Size(Env& env) const;
    /** Removes files of the tool whose names `unwanted` takes. */
    Result<> RemoveFiles(Env& env, const std::function<bool(const std::string&)>& unwanted) const;
    /** Removes the file that is made, and the folder if nothing else is there. */
    Result<> RemovePart(Env& env) const;
    /** Removes all that the tool has in it, and the folder if nothing else is there. */
    Result<> Remove(Env& env) const;

    /** The names: of split coins and finished parts of blocks (generate with a snapshot), of a join
     *  (generate without), of the file itself. */
    static bool IsOfSnapshot(const std::string& name);
    static bool IsOfJoin(const std::string& name);
    static bool IsPart(const std::string& name);

private:
    OutputWork(MarkedFolder folder, std::unique_ptr<FileLock> lock)
        : m_folder(std::move(folder)), m_lock(std::move(lock))
    {
    }

    MarkedFolder m_folder;
    std::unique_ptr<FileLock> m_lock;
};

} // namespace ibd
