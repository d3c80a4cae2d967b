// Spills: records that found no room in memory, in pages with a checksum each, every page of one
// partition, and an index of the pages by partition. Written once, by any number of threads, synced
// and named by a checkpoint; removed when the join is done. Format: doc/formats/spill.md.
#pragma once

#include "swiftsync/run_file.h"
#include "util/mutex.h"

#include <condition_variable>
#include <functional>

namespace ibd {

/** What identifies a finished spill; part of the checkpoint. */
struct SpillInfo {
    uint32_t number = 0;
    uint64_t size = 0;      //!< of the file, bytes
    ShortDigest checksum{}; //!< of its header, index and trailer

    bool operator==(const SpillInfo&) const = default;
};

/** What a spill is of, so that none is read for another. */
struct SpillOwner {
    Uint256 join_id;
    uint32_t partitions = 0;
};

/** Who is to read a spill. */
enum class SpillUse : uint8_t {
    kKept, //!< whoever goes on after a death too: the system begins at once to bring it to the disk
    kPassing, //!< this process: most of it is written over or removed before the system does
};

/** From this number on spills are of use to the process that writes them alone. */
inline constexpr uint32_t kPassingSpills = 1 << 30;

Path SpillPath(const Path& directory, uint32_t number);

struct WrittenSpill {
    SpillInfo info;
    std::unique_ptr<WritableFile> file; //!< complete but not synced
};

/** Where pages of records go. */
class PageSink {
public:
    static constexpr size_t kMaxPageBytes = 64 << 10;

    virtual ~PageSink() = default;
    /** Adds a page of 1 to kMaxPageBytes bytes. Any thread; false after an error, which whoever
     *  finishes the sink is told. */
    virtual bool Add(uint32_t partition, ByteSpan records) = 0;
};

/** What is added gathers, and is written by one while others add more. Memory: 2 MiB, and 16 bytes
 * a page. After an error it is of no more use. */
class SpillWriter final : public PageSink {
public:
    /** More would take more than 16 MiB for the index: whoever writes begins another spill. */
    static constexpr size_t kMaxPages = 1 << 20;

    /** Writes over what lies there: what the system holds of it need not be found anew. */
    static Result<std::unique_ptr<SpillWriter>> Create(Env& env, const Path& directory,
                                                       uint32_t number, const SpillOwner& owner,
                                                       SpillUse use = SpillUse::kKept);

    /** Writes only if nobody has called WriteGathered() for long. */
    bool Add(uint32_t partition, ByteSpan records) override;
    /** Writes what has gathered if it is worth it and nobody else does. For who holds no lock that
     *  others wait for. */
    void WriteGathered();
    /** Pages so far. */
    size_t Pages() const;
    /** Why Add() fails. */
    Result<> Status() const;
    /** Completes the file; after it Add() and Finish() fail. */
    Result<WrittenSpill> Finish();

private:
    struct Page {
        uint32_t partition;
        uint32_t length; //!< of the records
        uint64_t offset;
    };

    SpillWriter(std::unique_ptr<WritableFile> file, uint32_t number, const SpillOwner& owner,
                SpillUse use, uint64_t old_size);
    uint64_t Size() const IBD_REQUIRES(m_mutex) { return m_gathered_at + m_gathered.size(); }
    void MakeRoom(size_t size) IBD_REQUIRES(m_mutex);
    void Advance() IBD_REQUIRES(m_mutex);
    void WriteOut() IBD_REQUIRES(m_mutex);
    Result<> WriteAt(uint64_t offset, ByteSpan data);
    void Put(uint32_t partition, ByteSpan records) IBD_REQUIRES(m_mutex);
    Result<WrittenSpill> Complete() IBD_REQUIRES(m_mutex);

    const uint32_t m_number;
    const Bytes m_header;
    const SpillUse m_use;
    const uint64_t m_old_size; //!< of what is written over
    mutable Mutex m_mutex;
    std::condition_variable_any m_written;
    Bytes m_gathered IBD_GUARDED_BY(m_mutex);
    uint64_t m_gathered_at IBD_GUARDED_BY(m_mutex) = 0; //!< where it goes
    bool m_writing IBD_GUARDED_BY(m_mutex) = false;     //!< what was gathered before
    std::vector<Page> m_pages IBD_GUARDED_BY(m_mutex);
    Result<> m_status IBD_GUARDED_BY(m_mutex);
    // Of whoever writes.
    std::unique_ptr<WritableFile> m_file;
    Bytes m_leaving;             //!< keeps its capacity
    uint64_t m_sync_started = 0; //!< up to where
};

/** A set of finished spills. Immutable after Open(), any thread. Memory: 4 bytes for each partition
 *  of each file; no file is kept open. */
class SpillReader {
public:
    /** Opens spills and checks headers, indices and trailers. Bad data: one is damaged or gone. A
     *  system error says nothing of them. */
    static Result<SpillReader> Open(Env& env, const Path& directory,
                                    std::span<const SpillInfo> spills, const SpillOwner& owner);

    /** Bytes of a partition's records. */
    uint64_t Bytes(uint32_t partition) const { return m_bytes[partition]; }
    uint64_t TotalBytes() const;

    /** Hands the records of a partition to `take`, page by page, each checked. `buffer` keeps its
     *  capacity. */
    Result<> Read(uint32_t partition, ibd::Bytes& buffer,
                  const std::function<void(ByteSpan records)>& take) const;

private:
    struct File {
        Path path;
        uint64_t index_at = 0;
        std::vector<uint32_t> starts; //!< first entry of each partition in the index, and the end
    };

    Result<File> OpenOne(const Path& directory, const SpillInfo& expected);
    Result<> TakeIndex(File& file, ByteSpan index);
    Result<> ReadFrom(const File& file, uint32_t partition, ibd::Bytes& buffer,
                      const std::function<void(ByteSpan)>& take) const;

    Env* m_env = nullptr;
    SpillOwner m_owner;
    std::vector<File> m_files;
    std::vector<uint64_t> m_bytes; //!< by partition
};

} // namespace ibd
