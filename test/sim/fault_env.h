// FaultEnv: the real file system with scripted faults: the n-th operation fails, the process is
// killed at the n-th operation (all later ones fail, unsynced data is lost), reads are short or
// have flipped bits. Randomness follows from a seed. Syncs are counted but not executed.
#pragma once

#include "sim/rng.h"
#include "util/env.h"

#include <atomic>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>

namespace ibd::test {

class FaultEnv final : public Env {
public:
    /** The next operation, as seen by the fault script. */
    struct Operation {
        std::string kind; //!< "read", "write", "sync", "open", "rename", "remove", ...
        Path path;
        uint64_t number = 0; //!< of all operations so far
    };
    using Script = std::function<bool(const Operation&)>; //!< true: fail

    explicit FaultEnv(uint64_t seed = 1) : m_inner(MakePosixEnv()), m_rng(seed) {}

    void SetScript(Script script) { m_script = std::move(script); }
    /** All operations from this number on fail, as after kill -9. */
    void CrashAt(uint64_t number) { m_crash_at = number; }
    /** Flips a bit in the result of reads of matching files. */
    void CorruptReads(std::function<bool(const Path&)> matches) { m_corrupt = std::move(matches); }
    /** Reads of matching files give only half, as if the file ended there. */
    void CutReads(std::function<bool(const Path&)> matches) { m_cut = std::move(matches); }
    /** Called with ranges to be read ahead, on any thread. */
    using Advised = std::function<void(const Path&, uint64_t offset, uint64_t bytes)>;
    void WatchAdvice(Advised advised) { m_advised = std::move(advised); }
    /** The ranges that are not in the page cache, by their offset; without it all are cached. A
     *  cold range can be read with direct I/O. */
    using Cold = std::function<bool(uint64_t offset)>;
    void MakeCold(Cold cold) { m_cold = std::move(cold); }
    /** Reads with direct I/O return half of their bytes. */
    void CutUncached(bool cut) { m_cut_uncached = cut; }
    /** The free space that the disk reports, independent of the real one, or the error; `at`: only
     *  for paths that begin with it. */
    void SetSpace(Result<uint64_t> bytes, const Path& at = {})
    {
        m_space = std::move(bytes);
        m_space_at = at.string();
    }
    /** This path is a mount point, of the same file system. */
    void SetMount(const Path& at) { m_mount = at.string(); }
    /** The monotonic clock, microseconds, in place of the machine's. */
    void SetClock(std::function<int64_t()> micros) { m_clock = std::move(micros); }
    /** Loses data that was written but not synced, as a power cut does. Call it when all files are
     *  closed. */
    void LoseUnsynced();
    uint64_t Operations() const { return m_operations; }
    bool Crashed() const { return m_operations >= m_crash_at; }

    Result<std::unique_ptr<ReadableFile>> OpenRead(const Path& path) override;
    Result<std::unique_ptr<ReadableFile>> OpenMapped(const Path& path) override;
    Result<std::unique_ptr<WritableFile>> OpenWrite(const Path& path, bool truncate) override;
    Result<std::unique_ptr<FileLock>> Lock(const Path& path) override
    {
        return m_inner->Lock(path);
    }
    bool Exists(const Path& path) override { return m_inner->Exists(path); }
    Result<bool> IsThere(const Path& path) override
    {
        IBD_RETURN_IF_ERROR(Step("look", path));
        return m_inner->IsThere(path);
    }
    uint64_t OpenFileLimit(uint64_t wanted) override { return m_inner->OpenFileLimit(wanted); }
    Result<std::vector<std::string>> List(const Path& d) override { return m_inner->List(d); }
    Result<> CreateDirectories(const Path& directory) override;
    Result<> Remove(const Path& path) override;
    Result<> RemoveAll(const Path& directory) override;
    Result<> Rename(const Path& from, const Path& to) override;
    Result<> SyncDirectory(const Path& directory) override { return Step("syncdir", directory); }
    Result<uint64_t> SpaceAvailable(const Path& p) override
    {
        const bool set = m_space && p.string().starts_with(m_space_at);
        return set ? *m_space : m_inner->SpaceAvailable(p);
    }
    bool SameFileSystem(const Path& a, const Path& b) override
    {
        return m_inner->SameFileSystem(a, b);
    }
    bool SameMount(const Path& a, const Path& b) override
    {
        return IsBelowMount(a) == IsBelowMount(b) && m_inner->SameMount(a, b);
    }
    int64_t UnixTime() override { return 1'700'000'000; }
    int64_t MonotonicMicros() override { return m_clock ? m_clock() : m_inner->MonotonicMicros(); }
    void RandomBytes(MutableByteSpan out) override;

    // For the files.
    Result<> Step(const char* kind, const Path& path);
    void Written(const Path& path, uint64_t offset, uint64_t size);
    void Synced(const Path& path);
    bool Corrupts(const Path& path) const { return m_corrupt && m_corrupt(path); }
    bool CutsUncached() const { return m_cut_uncached; }
    bool IsCold(uint64_t offset) const { return m_cold && m_cold(offset); }
    bool Cuts(const Path& path) const { return m_cut && m_cut(path); }
    void WillNeed(const Path& path, uint64_t offset, uint64_t bytes) const
    {
        if (m_advised) m_advised(path, offset, bytes);
    }

private:
    bool IsBelowMount(const Path& path) const
    {
        return !m_mount.empty() && (path.string() + "/").starts_with(m_mount + "/");
    }
    struct Pending {
        uint64_t synced = 0;
        uint64_t written = 0;
    };

    std::unique_ptr<Env> m_inner;
    Script m_script;
    std::function<bool(const Path&)> m_corrupt;
    std::function<bool(const Path&)> m_cut;
    Advised m_advised;
    Cold m_cold;
    bool m_cut_uncached = false;
    std::function<int64_t()> m_clock;
    std::optional<Result<uint64_t>> m_space;
    std::string m_space_at;
    std::string m_mount;
    std::atomic<uint64_t> m_operations = 0;
    std::atomic<uint64_t> m_crash_at = ~uint64_t{0};
    std::mutex m_mutex;
    sim::Rng m_rng;                    //!< guarded by m_mutex
    std::map<Path, Pending> m_pending; //!< guarded by m_mutex
};

} // namespace ibd::test
