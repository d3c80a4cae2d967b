// HintsFile: the bytes of a hints file while it is in use. Mapped, and
// copied from piece by piece: a file that is cut short, or a disk that fails, is an error.
// Immutable, any thread.
#pragma once

#include "util/env.h"

namespace ibd {

class HintsFile {
public:
    static Result<HintsFile> Open(Env& env, const Path& path);
    HintsFile(Path path, std::unique_ptr<ReadableFile> file, uint64_t size)
        : m_path(std::move(path)), m_file(std::move(file)), m_size(size)
    {
    }

    const Path& GetPath() const { return m_path; }
    uint64_t Size() const { return m_size; } //!< when it was opened

    /** Fills `out` from `offset`; to be called within Size(). Errors are the machine's: the file is
     *  shorter than it was, or cannot be read. */
    Result<> Read(uint64_t offset, MutableByteSpan out) const;

    /** The file is damaged there: a one-line error that names it. */
    Error Damaged(uint64_t offset, std::string_view what) const;

private:
    Path m_path;
    std::unique_ptr<ReadableFile> m_file;
    uint64_t m_size;
};

} // namespace ibd
