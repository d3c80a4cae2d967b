// AheadReader: reads announced ranges of files before its user asks for them. Ranges in the
// system's page cache are read on request. A thread reads the others ahead with direct I/O
// (O_DIRECT), because bytes that are read once need no place in the cache. AheadFile: a file whose
// ranges can be announced. UncachedUse: whether direct I/O works on this file system; shared by the
// readers of one run.
#pragma once

#include "util/log.h"
#include "util/threads.h"
#include "util/uncached_reads.h"

#include <atomic>
#include <deque>
#include <memory>

namespace ibd {

/** Any thread. */
class UncachedUse {
public:
    /** Sets the log for the reason of GiveUp(). Call it before the first read. */
    void LogTo(Logger* log) { m_log = log; }
    bool Allowed() const { return m_allowed.load(std::memory_order_relaxed); }
    /** From now on all reads go through the cache. The first reason is logged. */
    void GiveUp(const Error& why);

private:
    Logger* m_log = nullptr;
    std::atomic<bool> m_allowed = true;
};

/** Used by one thread; Plain() by any. */
class AheadFile {
public:
    explicit AheadFile(std::unique_ptr<ReadableFile> file);

    const ReadableFile& Plain() const { return *m_file; }
    /** Whether direct I/O is possible and [begin, end) is not in the cache. */
    bool IsCold(uint64_t begin, uint64_t end) const;
    /** The file opened for direct I/O, at the first call; call it only after IsCold() returned
     *  true. */
    Result<const UncachedFile*> Uncached();

private:
    const std::unique_ptr<ReadableFile> m_file;
    const UncachedReads* const m_reads; //!< null: plain reads only
    std::unique_ptr<UncachedFile> m_uncached;
};

/** Used by one thread. Memory: kPieces times kPieceBytes, allocated at the first cold range. */
class AheadReader {
public:
    static constexpr size_t kPieceBytes = 1 << 20;
    static constexpr size_t kPieces = 4;
    /** With fewer unread bytes ahead the disk may become idle. */
    static constexpr uint64_t kFewBytes = 2 * kPieces * kPieceBytes;

    explicit AheadReader(UncachedUse& use) : m_use(use) {}
    ~AheadReader();
    AheadReader(const AheadReader&) = delete;
    AheadReader& operator=(const AheadReader&) = delete;

    /** Announces that [begin, end) of `file` will be read after the ranges announced before. The
     *  system is told about parts that will be read through the cache and are not in it
     *  (posix_fadvise). */
    void Announce(const std::shared_ptr<AheadFile>& file, uint64_t begin, uint64_t end);
    /** Like ReadableFile::ReadAt(). Earlier announced ranges are dropped. A failed direct read
     *  causes no error: its range is read through the cache. */
    Result<size_t> ReadAt(const AheadFile& file, uint64_t offset, MutableByteSpan out);
    /** Whether the last announced range was cold and is nearly used up: the user should announce
     *  more. */
    bool WantsMore() const { return m_cold && m_ahead < kFewBytes; }

private:
    enum class State { kWanted, kReading, kRead, kFailed };
    struct Piece {
        std::shared_ptr<AheadFile> file;
        const UncachedFile* uncached = nullptr;
        uint64_t begin = 0, end = 0;
        State state = State::kWanted;
        uint8_t* bytes = nullptr; //!< from the last multiple of kUncachedAlign up to `begin`
    };
    /** The state of an offset. */
    struct Place {
        const Piece* piece = nullptr; //!< holds the piece; null: read it through the cache,
        uint64_t until = UINT64_MAX;  //!< up to this offset
    };

    bool AnnouncePiece(const std::shared_ptr<AheadFile>& file, uint64_t begin, uint64_t end);
    Place Find(const AheadFile& file, uint64_t offset) IBD_EXCLUDES(m_mutex);
    void DropFirst(size_t count) IBD_REQUIRES(m_mutex);
    void Start();
    void Work();
    Piece* NextWanted() IBD_REQUIRES(m_mutex);
    bool Fill(const Piece& piece) const;

    UncachedUse& m_use;
    bool m_cold = false;
    uint64_t m_ahead = 0; //!< bytes of all pieces
    struct AlignedDelete {
        void operator()(uint8_t* memory) const;
    };
    /** For each piece. Not one for all: once glibc has freed a larger allocation, it no longer
     *  returns smaller ones to the system, such as blocks. */
    std::vector<std::unique_ptr<uint8_t, AlignedDelete>> m_memory;

    Mutex m_mutex;
    std::condition_variable_any m_changed;
    std::deque<Piece> m_pieces IBD_GUARDED_BY(m_mutex); //!< in the order of reading
    std::vector<uint8_t*> m_free IBD_GUARDED_BY(m_mutex); //!< of m_memory
    bool m_stopping IBD_GUARDED_BY(m_mutex) = false;
    NamedThread m_thread; //!< last: ends before the rest goes
};

} // namespace ibd
