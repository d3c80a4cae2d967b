// Spills: files of records displaced from memory. A spill has pages, each with records of one
// partition and a checksum, and an index of the pages by partition. It is written once, by any
// number of threads, then synced and named by a checkpoint, and removed when the join is done.
// Format: doc/formats/spill.md.
#pragma once

#include "swiftsync/run_file.h"
#include "util/mutex.h"

#include <condition_variable>
#include <functional>

namespace ibd {

/** Identifies a finished spill; part of the checkpoint. */
struct SpillInfo {
    uint32_t number = 0;
    uint64_t size = 0;      //!< of the file, bytes
    ShortDigest checksum{}; //!< of header, index and trailer

    bool operator==(const SpillInfo&) const = default;
};

/** The join that a spill belongs to; checked when the spill is opened. */
struct SpillOwner {
    Uint256 join_id;
    uint32_t partitions = 0;
};

/** The required durability of a spill. */
enum class SpillUse : uint8_t {
    kKept,    //!< survives a crash, for a later process: writeback starts at once
    kPassing, //!< for this process only: most of it is overwritten or removed before it reaches the
              //!< disk
};

/** Spills with this number or a higher one serve only the process that writes them. */
inline constexpr uint32_t kPassingSpills = 1 << 30;

Path SpillPath(const Path& directory, uint32_t number);

struct WrittenSpill {
    SpillInfo info;
    std::unique_ptr<WritableFile> file; //!< complete but not synced
};

/** Takes pages of records. */
class PageSink {
public:
    static constexpr size_t kMaxPageBytes = 64 << 10;

    virtual ~PageSink() = default;
    /** Adds a page of 1 to kMaxPageBytes bytes. Any thread. False: there was an error, which is
     *  returned when the sink is finished. */
    virtual bool Add(uint32_t partition, ByteSpan records) = 0;
};

/** Gathers pages in memory; one thread writes them while others add more. Memory: 2 MiB, and 16
 *  bytes for each page. After an error it must not be used further. */
class SpillWriter final : public PageSink {
public:
    /** With more pages the index would exceed 16 MiB: the owner begins another spill. */
    static constexpr size_t kMaxPages = 1 << 20;

    /** Overwrites an existing file in place, so that its cached pages are reused. */
    static Result<std::unique_ptr<SpillWriter>> Create(Env& env, const Path& directory,
                                                       uint32_t number, const SpillOwner& owner,
                                                       SpillUse use = SpillUse::kKept);

    /** Adds a page. Writes to the file only if the memory is full, because WriteGathered() was not
     *  called for a long time. */
    bool Add(uint32_t partition, ByteSpan records) override;
    /** Writes the gathered pages if there are enough and no other thread writes. Do not call it
     *  while holding a lock that others wait for. */
    void WriteGathered();
    /** Number of pages so far. */
    size_t Pages() const;
    /** The error that makes Add() fail. */
    Result<> Status() const;
    /** Completes the file; afterwards Add() and Finish() fail. */
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
    const uint32_t m_partitions;
    const Bytes m_header;
    const SpillUse m_use;
    const uint64_t m_old_size; //!< size of the overwritten file
    mutable Mutex m_mutex;
    std::condition_variable_any m_written;
    Bytes m_gathered IBD_GUARDED_BY(m_mutex);
    uint64_t m_gathered_at IBD_GUARDED_BY(m_mutex) = 0; //!< its offset in the file
    bool m_writing IBD_GUARDED_BY(m_mutex) = false;     //!< a thread writes m_leaving
    std::vector<Page> m_pages IBD_GUARDED_BY(m_mutex);
    Result<> m_status IBD_GUARDED_BY(m_mutex);
    // Used by the writing thread only.
    std::unique_ptr<WritableFile> m_file;
    Bytes m_leaving;             //!< keeps its capacity
    uint64_t m_sync_started = 0; //!< end of the part whose writeback has started
};

/** A set of finished spills. Immutable after Open(), any thread. Memory: 4 bytes for each partition
 *  of each file; no file stays open. */
class SpillReader {
public:
    /** Opens spills and checks headers, indices and trailers. Bad data: one is damaged or missing.
     *  A system error proves no damage. */
    static Result<SpillReader> Open(Env& env, const Path& directory,
                                    std::span<const SpillInfo> spills, const SpillOwner& owner);

    /** Bytes of a partition's records. */
    uint64_t Bytes(uint32_t partition) const { return m_bytes[partition]; }
    uint64_t TotalBytes() const;

    /** Passes the records of a partition to `take`, page by page, after checking each. `buffer`
     *  keeps its capacity. */
    Result<> Read(uint32_t partition, ibd::Bytes& buffer,
                  const std::function<void(ByteSpan records)>& take) const;

private:
    struct File {
        Path path;
        uint64_t index_at = 0;
        std::vector<uint32_t> starts; //!< first index entry of each partition; then the end
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
