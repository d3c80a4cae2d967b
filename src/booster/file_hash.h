// FileHash: SHA-256 of a file that is hashed piece by piece while it grows. One thread. Memory:
// kPiece.
#pragma once

#include "crypto/sha256.h"
#include "primitives/uint256.h"
#include "util/env.h"

#include <algorithm>

namespace ibd {

class FileHash {
public:
    static constexpr size_t kPiece = 1 << 20; //!< bytes

    static Result<FileHash> Open(Env& env, const Path& path)
    {
        IBD_ASSIGN_OR_RETURN(auto file, env.OpenRead(path));
        return FileHash(path, std::move(file));
    }

    /** Hashes the next piece below `end`, which must not decrease between calls; the file must
     *  exist up to it. Returns whether all bytes below `end` are hashed. */
    Result<bool> Advance(uint64_t end)
    {
        m_piece.resize(std::min<uint64_t>(kPiece, end - m_at));
        IBD_ASSIGN_OR_RETURN(const size_t got, m_file->ReadAt(m_at, m_piece));
        if (got < m_piece.size()) return SystemError("{} was cut short", m_path.string());
        m_digest.Write(m_piece);
        m_at += got;
        return m_at == end;
    }
    /** Hashes the rest. */
    Result<Uint256> Finish()
    {
        IBD_ASSIGN_OR_RETURN(const uint64_t size, m_file->Size());
        for (bool all = false; !all;) {
            IBD_ASSIGN_OR_RETURN(all, Advance(size));
        }
        return Uint256(m_digest.Finalize());
    }

private:
    FileHash(Path path, std::unique_ptr<ReadableFile> file)
        : m_path(std::move(path)), m_file(std::move(file))
    {
    }

    Path m_path;
    std::unique_ptr<ReadableFile> m_file;
    uint64_t m_at = 0;
    Sha256 m_digest;
    Bytes m_piece;
};

} // namespace ibd
