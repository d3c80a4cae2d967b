// FileAppender: writes a file sequentially in large pieces. Owned by the maker of the file; one
// thread at a time. Holds at most a piece (1 MiB), or one larger item.
#pragma once

#include "util/env.h"

namespace ibd {

class FileAppender {
public:
    static constexpr size_t kPiece = 1 << 20;

    /** Appends from `offset` on; parts before it are written with the file's own WriteAt(). */
    explicit FileAppender(std::unique_ptr<WritableFile> file, uint64_t offset = 0)
        : m_file(std::move(file)), m_written(offset)
    {
        m_pending.reserve(kPiece);
    }

    /** Appends; may write. */
    Result<> Add(ByteSpan data)
    {
        if (m_pending.size() + data.size() > kPiece) IBD_RETURN_IF_ERROR(Flush());
        Append(m_pending, data);
        return {};
    }
    /** Writes all pending bytes to the file, without a sync. */
    Result<> Flush()
    {
        if (m_pending.empty()) return {};
        IBD_RETURN_IF_ERROR(m_file->WriteAt(m_written, m_pending));
        m_written += m_pending.size();
        m_pending.clear();
        return {};
    }
    /** Bytes written to the file so far. */
    uint64_t Written() const { return m_written; }
    /** Position of the next byte. */
    uint64_t Size() const { return m_written + m_pending.size(); }
    WritableFile& File() { return *m_file; }
    /** Releases the file, after a Flush(). */
    std::unique_ptr<WritableFile> Release() { return std::move(m_file); }

private:
    std::unique_ptr<WritableFile> m_file;
    Bytes m_pending;
    uint64_t m_written;
};

} // namespace ibd
