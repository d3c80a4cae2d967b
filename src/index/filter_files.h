// FilterFiles: the flat files fltr?????.dat, which hold the filters one after the other. Owned by
// the filter index. Append() and Sync() on one thread, Read() on any. Format:
// doc/formats/indexes.md.
#pragma once

#include "primitives/uint256.h"
#include "storage/block_store.h"

namespace ibd {

class FilterFiles {
public:
    static constexpr uint32_t kMaxFileBytes = 16 << 20;
    static constexpr uint32_t kChunkBytes = 1 << 20; //!< preallocation step

    FilterFiles(Env& env, Path folder) : m_env(env), m_folder(std::move(folder)) {}

    /** The position of the next filter. */
    const FilePos& Next() const { return m_next; }
    void SetNext(const FilePos& next) { m_next = next; }
    /** Writes a filter at Next(), or at the start of the next file; returns its position. */
    Result<FilePos> Append(const BlockHash& block, ByteSpan filter);
    /** Makes all written filters durable. */
    Result<> Sync();

    /** The filter of `block`. The error names the file; it is damage if the hash of the filter is
     *  not `hash`. */
    Result<Bytes> Read(const FilePos& at, const BlockHash& block, const Uint256& hash) const;

private:
    Path PathOf(int32_t file) const;
    Result<> OpenNext();
    Result<> EndFile();

    Env& m_env;
    const Path m_folder;
    FilePos m_next{0, 0};
    std::unique_ptr<WritableFile> m_file; //!< of m_next
    int32_t m_open = -1;                  //!< its number
};

} // namespace ibd
