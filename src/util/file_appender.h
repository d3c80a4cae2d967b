// FileAppender: writes a file from front to back in large pieces. Owned by whoever makes the file;
// one thread at a time. Holds at most a piece (1 MiB), or one thing added if that is larger.
#pragma once

#include "util/env.h"

namespace ibd {

class FileAppender {
public:
    static constexpr size_t kPiece = 1 << 20;

    /** Starts at `offset`; what lies before is written by WriteAt() on the file itself. */
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
    /** Hands all of it to the file, without a sync. */
    Result<> Flush()
    {
        if (m_pending.empty()) return {};
        IBD_RETURN_IF_ERROR(m_file->WriteAt(m_written, m_pending));
        m_written += m_pending.size();
        m_pending.clear();
        return {};
    }
    /** What the file has by now. */
    uint64_t Written() const { return m_written; }
    /** Where the next byte goes. */
    uint64_t Size() const { return m_written + m_pending.size(); }
    WritableFile& File() { return *m_file; }
    /** Gives the file away, after a Flush(). */
    std::unique_ptr<WritableFile> Release() { return std::move(m_file); }

private:
    std::unique_ptr<WritableFile> m_file;
    Bytes m_pending;
    uint64_t m_written;
};

} // namespace ibd
