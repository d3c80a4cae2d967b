// See locked_pool.h.
#include "util/locked_pool.h"

#include "util/check.h"

#include <algorithm>
#include <cstring>
#include <new>

#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

namespace ibd {

namespace {

size_t RoundUp(size_t size, size_t unit) { return (size + unit - 1) / unit * unit; }

class SystemPages final : public PageSource {
public:
    size_t PageSize() const override { return static_cast<size_t>(::sysconf(_SC_PAGESIZE)); }

    void* Get(size_t size, bool& locked) override
    {
        void* const pages =
            ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (pages == MAP_FAILED) return nullptr;
        locked = ::mlock(pages, size) == 0;
        ::madvise(pages, size, MADV_DONTDUMP); // failing is acceptable
        return pages;
    }

    void Put(void* pages, size_t size) override { ::munmap(pages, size); } // unlocks, too

    size_t Limit() const override
    {
        rlimit limit{};
        if (::getrlimit(RLIMIT_MEMLOCK, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) {
            return SIZE_MAX;
        }
        return limit.rlim_cur;
    }
};

} // namespace

std::unique_ptr<PageSource> MakeSystemPages() { return std::make_unique<SystemPages>(); }

ChunkMap::ChunkMap(size_t size) : m_size(size)
{
    CHECK(size > 0 && size % kAlignment == 0);
    AddFree(0, size);
}

void ChunkMap::AddFree(size_t offset, size_t size)
{
    m_free.emplace(offset, size);
    m_by_size.emplace(size, offset);
    m_free_bytes += size;
}

void ChunkMap::RemoveFree(std::map<size_t, size_t>::iterator chunk)
{
    m_free_bytes -= chunk->second;
    m_by_size.erase({chunk->second, chunk->first});
    m_free.erase(chunk);
}

bool ChunkMap::Take(size_t size, size_t& offset)
{
    if (size > m_size) return false; // prevents overflow in RoundUp()
    size = RoundUp(std::max<size_t>(size, 1), kAlignment);
    const auto smallest = m_by_size.lower_bound({size, 0});
    if (smallest == m_by_size.end()) return false;
    const auto [whole, begin] = *smallest;
    RemoveFree(m_free.find(begin));
    if (whole > size) AddFree(begin + size, whole - size);
    m_used.emplace(begin, size);
    offset = begin;
    return true;
}

size_t ChunkMap::GiveBack(size_t offset)
{
    const auto chunk = m_used.find(offset);
    CHECK(chunk != m_used.end());
    const size_t size = chunk->second;
    m_used.erase(chunk);
    size_t begin = offset;
    size_t end = offset + size;
    if (const auto after = m_free.find(end); after != m_free.end()) {
        end += after->second;
        RemoveFree(after);
    }
    auto before = m_free.lower_bound(begin);
    if (before != m_free.begin()) {
        --before;
        if (before->first + before->second == begin) {
            begin = before->first;
            RemoveFree(before);
        }
    }
    AddFree(begin, end - begin);
    return size;
}

LockedPool::LockedPool(std::unique_ptr<PageSource> pages) : m_pages(std::move(pages)) {}

LockedPool::~LockedPool()
{
    const Lock lock(m_mutex);
    for (auto& [begin, arena] : m_arenas) {
        CHECK(arena.chunks.ChunksUsed() == 0);
        m_pages->Put(begin, arena.size);
    }
}

// The first arena is at most the lockable size: with the usual 64 KiB all of it is locked then.
LockedPool::Arena& LockedPool::AddArena(size_t least, char*& begin)
{
    const size_t page = m_pages->PageSize();
    size_t size = kArenaSize;
    if (m_arenas.empty()) size = std::min(size, m_pages->Limit() / page * page);
    size = RoundUp(std::max(size, least), page);
    bool locked = false;
    begin = static_cast<char*>(m_pages->Get(size, locked));
    if (begin == nullptr) throw std::bad_alloc();
    return m_arenas.try_emplace(begin, Arena{size, locked, ChunkMap(size)}).first->second;
}

void* LockedPool::Allocate(size_t size)
{
    if (size == 0) return nullptr;
    if (size > SIZE_MAX / 2) throw std::bad_alloc();
    const Lock lock(m_mutex);
    size_t offset = 0;
    for (auto& [begin, arena] : m_arenas) {
        if (arena.chunks.Take(size, offset)) return begin + offset;
    }
    char* begin = nullptr;
    CHECK(AddArena(size, begin).chunks.Take(size, offset));
    return begin + offset;
}

void LockedPool::Free(void* memory)
{
    if (memory == nullptr) return;
    char* const at = static_cast<char*>(memory);
    const Lock lock(m_mutex);
    auto arena = m_arenas.upper_bound(at);
    CHECK(arena != m_arenas.begin());
    --arena;
    const auto offset = static_cast<size_t>(at - arena->first);
    CHECK(offset < arena->second.size);
    ::explicit_bzero(at, arena->second.chunks.GiveBack(offset));
}

LockedPoolStats LockedPool::Stats() const
{
    LockedPoolStats stats;
    const Lock lock(m_mutex);
    for (const auto& [begin, arena] : m_arenas) {
        stats.used += arena.chunks.Used();
        stats.free += arena.chunks.Free();
        stats.total += arena.size;
        if (arena.locked) stats.locked += arena.size;
        stats.chunks_used += arena.chunks.ChunksUsed();
        stats.chunks_free += arena.chunks.ChunksFree();
    }
    return stats;
}

LockedPool& LockedPool::OfProcess()
{
    static LockedPool* const pool = new LockedPool;
    return *pool;
}

} // namespace ibd
