// OutputWork: the folder OUT.work, in which a file is made before it is renamed to OUT. It keeps
// unfinished work when the tool is stopped. A marker file shows that the tool made it, so that a
// user's folder of this name is left alone (util/marked_folder.h); a lock excludes a second tool.
// Owned by a command; one thread.
#pragma once

#include "util/marked_folder.h"

namespace ibd {

class OutputWork {
public:
    /** Makes or reuses the folder, and removes useless parts of an incomplete file. `inputs`: files
     *  and folders that are read: an error if one is inside it. */
    static Result<OutputWork> Begin(Env& env, const Path& out, const std::vector<Path>& inputs);

    const Path& Folder() const { return m_folder.Get(); }
    /** The unfinished output file. */
    Path Part() const { return Folder() / "hints"; }
    /** Size of the work that an earlier command left for this file; 0: none. */
    static uint64_t SizeAt(Env& env, const Path& out);
    /** Bytes of all files of the tool in the folder. */
    uint64_t Size(Env& env) const;
    /** Removes files of the tool whose names `unwanted` accepts. */
    Result<> RemoveFiles(Env& env, const std::function<bool(const std::string&)>& unwanted) const;
    /** Removes the unfinished file, and the folder if it is empty then. */
    Result<> RemovePart(Env& env) const;
    /** Removes all files of the tool, and the folder if it is empty then. */
    Result<> Remove(Env& env) const;

    /** Recognise names of files: split coins and finished parts of blocks (generate with a
     *  snapshot), a join (generate without), the unfinished file. */
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
