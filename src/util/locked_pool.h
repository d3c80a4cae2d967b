// LockedPool: memory for secrets. Its pages are locked, so that they do not go to swap, and left
// out of core dumps; what is freed is wiped. The process may lock only so much (RLIMIT_MEMLOCK):
// beyond that the pool goes on with pages that are not locked, and its statistics say so.
//
// A pool is made of arenas of kArenaSize; an allocation that is larger has one of its own. Chunks
// are taken from the smallest free one that is large enough, and neighbours that are free are one
// chunk. Any thread. Arenas are kept until the pool goes. Without more pages: bad_alloc.
#pragma once

#include "util/mutex.h"

#include <cstddef>
#include <map>
#include <memory>
#include <set>

namespace ibd {

/** Where a pool has its pages from. */
class PageSource {
public:
    virtual ~PageSource() = default;
    /** Bytes, a power of two. */
    virtual size_t PageSize() const = 0;
    /** `size` bytes of zeros, whole pages; null: there are none. Sets whether they are locked. */
    virtual void* Get(size_t size, bool& locked) = 0;
    /** What Get() gave, all of it wiped. */
    virtual void Put(void* pages, size_t size) = 0;
    /** Bytes that may be locked. */
    virtual size_t Limit() const = 0;
};

/** Those of the system. */
std::unique_ptr<PageSource> MakeSystemPages();

/** A stretch of memory that is divided into chunks. One thread at a time. */
class ChunkMap {
public:
    static constexpr size_t kAlignment = 16; //!< of chunks and their sizes

    /** All of `size` bytes, a multiple of kAlignment, are free. */
    explicit ChunkMap(size_t size);
    /** The offset of a chunk of at least `size` bytes; nothing: there is none. */
    bool Take(size_t size, size_t& offset);
    /** Of a chunk that was taken; returns its size. */
    size_t GiveBack(size_t offset);

    size_t Used() const { return m_size - m_free_bytes; }
    size_t Free() const { return m_free_bytes; }
    size_t ChunksUsed() const { return m_used.size(); }
    size_t ChunksFree() const { return m_free.size(); }

private:
    void AddFree(size_t offset, size_t size);
    void RemoveFree(std::map<size_t, size_t>::iterator chunk);

    const size_t m_size;
    size_t m_free_bytes = 0;
    std::map<size_t, size_t> m_used;               //!< sizes by offset
    std::map<size_t, size_t> m_free;               //!< likewise; no two touch
    std::set<std::pair<size_t, size_t>> m_by_size; //!< the free ones: size and offset
};

/** As `getmemoryinfo` has it: bytes, and numbers of chunks. */
struct LockedPoolStats {
    size_t used = 0;
    size_t free = 0;
    size_t total = 0;
    size_t locked = 0;
    size_t chunks_used = 0;
    size_t chunks_free = 0;
};

class LockedPool {
public:
    static constexpr size_t kArenaSize = 256 << 10;

    explicit LockedPool(std::unique_ptr<PageSource> pages = MakeSystemPages());
    /** Nothing is allocated any more. */
    ~LockedPool();
    LockedPool(const LockedPool&) = delete;
    LockedPool& operator=(const LockedPool&) = delete;

    /** `size` bytes, which need not be zeros; null for none. */
    void* Allocate(size_t size);
    /** Wipes it. Null is left alone. */
    void Free(void* memory);
    LockedPoolStats Stats() const;

    /** That of all secrets of this process: they are values, so whoever copies one allocates. It is
     *  never destroyed, as secrets may live as long as the process. */
    static LockedPool& OfProcess();

private:
    struct Arena {
        size_t size;
        bool locked;
        ChunkMap chunks;
    };

    Arena& AddArena(size_t least, char*& begin) IBD_REQUIRES(m_mutex);

    const std::unique_ptr<PageSource> m_pages;
    mutable Mutex m_mutex;
    std::map<char*, Arena> m_arenas IBD_GUARDED_BY(m_mutex); //!< by where they begin
};

} // namespace ibd
