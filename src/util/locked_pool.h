// LockedPool: memory for secrets. Its pages are locked, so that they are not swapped, and excluded
// from core dumps; freed memory is wiped. Beyond the process's limit of locked memory
// (RLIMIT_MEMLOCK) the pool uses unlocked pages, which its statistics show.
//
// A pool consists of arenas of kArenaSize; a larger allocation has an arena of its own. Chunks are
// cut from the smallest free one that is large enough; adjacent free chunks are merged. Any thread.
// Arenas are kept until the pool is destroyed. If the system has no more pages: bad_alloc.
#pragma once

#include "util/mutex.h"

#include <cstddef>
#include <map>
#include <memory>
#include <set>

namespace ibd {

/** The source of a pool's pages. */
class PageSource {
public:
    virtual ~PageSource() = default;
    /** Size of a page in bytes, a power of two. */
    virtual size_t PageSize() const = 0;
    /** Whole pages of zeros, `size` bytes; null: there are none. Sets whether they are locked. */
    virtual void* Get(size_t size, bool& locked) = 0;
    /** Returns pages from Get(), all wiped. */
    virtual void Put(void* pages, size_t size) = 0;
    /** Limit of locked bytes. */
    virtual size_t Limit() const = 0;
};

/** The system's pages. */
std::unique_ptr<PageSource> MakeSystemPages();

/** A range of memory divided into chunks. One thread at a time. */
class ChunkMap {
public:
    static constexpr size_t kAlignment = 16; //!< of chunks and their sizes

    /** All `size` bytes, a multiple of kAlignment, are free at first. */
    explicit ChunkMap(size_t size);
    /** Takes a chunk of at least `size` bytes and sets its offset; false: there is none. */
    bool Take(size_t size, size_t& offset);
    /** Frees the chunk at this offset; returns its size. */
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
    std::map<size_t, size_t> m_free;               //!< sizes by offset; no two are adjacent
    std::set<std::pair<size_t, size_t>> m_by_size; //!< free chunks: size and offset
};

/** Figures of `getmemoryinfo`: bytes, and numbers of chunks. */
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
    /** All allocations must have been freed. */
    ~LockedPool();
    LockedPool(const LockedPool&) = delete;
    LockedPool& operator=(const LockedPool&) = delete;

    /** `size` uninitialised bytes; null if `size` is 0. */
    void* Allocate(size_t size);
    /** Wipes and frees the memory; ignores null. */
    void Free(void* memory);
    LockedPoolStats Stats() const;

    /** The pool of all secrets of this process. Secrets are values, so each copy allocates. The
     *  pool is never destroyed, because secrets may live as long as the process. */
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
    std::map<char*, Arena> m_arenas IBD_GUARDED_BY(m_mutex); //!< by first address
};

} // namespace ibd
