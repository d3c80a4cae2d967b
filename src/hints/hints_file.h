// HintsFile: the bytes of a hints file in use. The file is mapped, but reads copy from the map, so
// that a truncated file or a failing disk gives an error and not a signal. Immutable, any thread.
#pragma once

#include "util/env.h"

namespace ibd {

class HintsFile {
public:
    static Result<HintsFile> Open(Env& env, const Path& path);
    /** `path`: for errors. */
    static HintsFile InMemory(const Path& path, Bytes bytes);
    HintsFile(Path path, std::unique_ptr<ReadableFile> file, uint64_t size)
        : m_path(std::move(path)), m_file(std::move(file)), m_size(size)
    {
    }

    const Path& GetPath() const { return m_path; }
    uint64_t Size() const { return m_size; } //!< at opening

    /** Fills `out` from `offset`, within Size(). Errors are the machine's: the file was truncated,
     *  or cannot be read. */
    Result<> Read(uint64_t offset, MutableByteSpan out) const;

    /** The one-line error, with the file's name, for damage at `offset`. */
    Error Damaged(uint64_t offset, std::string_view what) const;

private:
    Path m_path;
    std::unique_ptr<ReadableFile> m_file;
    uint64_t m_size;
};

} // namespace ibd
