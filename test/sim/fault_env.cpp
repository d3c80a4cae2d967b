// See fault_env.h.
#include "sim/fault_env.h"

#include "util/uncached_reads.h"

#include <algorithm>
#include <filesystem>

namespace ibd::test {

namespace {

/** Reads of it are steps of their own kind. */
class FaultUncached final : public UncachedFile {
public:
    FaultUncached(FaultEnv& env, Path path, const ReadableFile& inner)
        : m_env(env), m_path(std::move(path)), m_inner(inner)
    {
    }
    Result<size_t> ReadOnce(uint64_t offset, MutableByteSpan out) const override
    {
        CHECK(offset % kUncachedAlign == 0 && out.size() % kUncachedAlign == 0);
        CHECK(reinterpret_cast<uintptr_t>(out.data()) % kUncachedAlign == 0);
        IBD_RETURN_IF_ERROR(m_env.Step("read uncached", m_path));
        if (m_env.CutsUncached() || m_env.Cuts(m_path)) out = out.first(out.size() / 2);
        auto got = m_inner.ReadAt(offset, out);
        if (got && *got > 0 && m_env.Corrupts(m_path)) out.front() ^= 0x10;
        return got;
    }

private:
    FaultEnv& m_env;
    const Path m_path;
    const ReadableFile& m_inner;
};

class FaultReadable final : public ReadableFile, public UncachedReads {
public:
    FaultReadable(FaultEnv& env, Path path, std::unique_ptr<ReadableFile> inner)
        : m_env(env), m_path(std::move(path)), m_inner(std::move(inner))
    {
    }
    Result<size_t> ReadAt(uint64_t offset, MutableByteSpan out) const override
    {
        IBD_RETURN_IF_ERROR(m_env.Step("read", m_path));
        if (m_env.Cuts(m_path)) out = out.first(out.size() / 2);
        auto got = m_inner->ReadAt(offset, out);
        if (got && *got > 0 && m_env.Corrupts(m_path)) out.front() ^= 0x10;
        return got;
    }
    Result<uint64_t> Size() const override { return m_inner->Size(); }
    void WillNeed(uint64_t offset, uint64_t bytes) const override
    {
        m_env.WillNeed(m_path, offset, bytes);
    }
    void DontNeed(uint64_t, uint64_t) const override {}
    bool IsCached(uint64_t offset, uint64_t) const override { return !m_env.IsCold(offset); }
    Result<std::unique_ptr<UncachedFile>> OpenUncached() const override
    {
        IBD_RETURN_IF_ERROR(m_env.Step("open uncached", m_path));
        return std::unique_ptr<UncachedFile>(
            std::make_unique<FaultUncached>(m_env, m_path, *m_inner));
    }

private:
    FaultEnv& m_env;
    const Path m_path;
    std::unique_ptr<ReadableFile> m_inner;
};

class FaultWritable final : public WritableFile {
public:
    FaultWritable(FaultEnv& env, Path path, std::unique_ptr<WritableFile> inner)
        : m_env(env), m_path(std::move(path)), m_inner(std::move(inner))
    {
    }
    Result<> WriteAt(uint64_t offset, ByteSpan data) override
    {
        if (const Result<> step = m_env.Step("write", m_path); !step) {
            // A failing write may still leave a part.
            (void)m_inner->WriteAt(offset, data.first(data.size() / 2));
            m_env.Written(m_path, offset, data.size() / 2);
            return step;
        }
        m_env.Written(m_path, offset, data.size());
        return m_inner->WriteAt(offset, data);
    }
    Result<uint64_t> Size() const override { return m_inner->Size(); }
    Result<> Truncate(uint64_t size) override
    {
        IBD_RETURN_IF_ERROR(m_env.Step("truncate", m_path));
        return m_inner->Truncate(size);
    }
    Result<> Allocate(uint64_t size) override
    {
        IBD_RETURN_IF_ERROR(m_env.Step("allocate", m_path));
        return m_inner->Allocate(size);
    }
    Result<> Sync() override
    {
        IBD_RETURN_IF_ERROR(m_env.Step("sync", m_path));
        m_env.Synced(m_path);
        return {};
    }
    Result<> StartSync(uint64_t, uint64_t) override { return m_env.Step("startsync", m_path); }

private:
    FaultEnv& m_env;
    const Path m_path;
    std::unique_ptr<WritableFile> m_inner;
};

} // namespace

Result<> FaultEnv::Step(const char* kind, const Path& path)
{
    const uint64_t number = m_operations.fetch_add(1);
    if (number >= m_crash_at) return SystemError("{} {}: crashed", kind, path.string());
    if (m_script && m_script({kind, path, number})) {
        return SystemError("{} {}: injected fault", kind, path.string());
    }
    return {};
}

// The contents of a file before this machine's first write are durable: files are only appended to.
void FaultEnv::Written(const Path& path, uint64_t offset, uint64_t size)
{
    const std::lock_guard lock(m_mutex);
    Pending& pending = m_pending.try_emplace(path, Pending{offset, offset}).first->second;
    pending.written = std::max(pending.written, offset + size);
}

void FaultEnv::Synced(const Path& path)
{
    const std::lock_guard lock(m_mutex);
    m_pending[path].synced = m_pending[path].written;
}

void FaultEnv::LoseUnsynced()
{
    const std::lock_guard lock(m_mutex);
    for (const auto& [path, pending] : m_pending) {
        if (pending.synced == pending.written || !std::filesystem::exists(path)) continue;
        // Some of the unsynced bytes may have reached the disk, in any amount.
        const uint64_t kept = pending.synced + m_rng() % (pending.written - pending.synced + 1);
        if (std::filesystem::file_size(path) > kept) std::filesystem::resize_file(path, kept);
    }
    m_pending.clear();
}

Result<std::unique_ptr<ReadableFile>> FaultEnv::OpenRead(const Path& path)
{
    IBD_RETURN_IF_ERROR(Step("open", path));
    IBD_ASSIGN_OR_RETURN(auto inner, m_inner->OpenRead(path));
    return std::unique_ptr<ReadableFile>(new FaultReadable(*this, path, std::move(inner)));
}

Result<std::unique_ptr<ReadableFile>> FaultEnv::OpenMapped(const Path& path)
{
    IBD_RETURN_IF_ERROR(Step("open", path));
    IBD_ASSIGN_OR_RETURN(auto inner, m_inner->OpenMapped(path));
    return std::unique_ptr<ReadableFile>(new FaultReadable(*this, path, std::move(inner)));
}

Result<std::unique_ptr<WritableFile>> FaultEnv::OpenWrite(const Path& path, bool truncate)
{
    IBD_RETURN_IF_ERROR(Step("create", path));
    IBD_ASSIGN_OR_RETURN(auto inner, m_inner->OpenWrite(path, truncate));
    if (truncate) {
        const std::lock_guard lock(m_mutex);
        m_pending[path] = {};
    }
    return std::unique_ptr<WritableFile>(new FaultWritable(*this, path, std::move(inner)));
}

Result<> FaultEnv::CreateDirectories(const Path& directory)
{
    IBD_RETURN_IF_ERROR(Step("mkdir", directory));
    return m_inner->CreateDirectories(directory);
}

Result<> FaultEnv::Remove(const Path& path)
{
    IBD_RETURN_IF_ERROR(Step("remove", path));
    return m_inner->Remove(path);
}

Result<> FaultEnv::RemoveAll(const Path& directory)
{
    IBD_RETURN_IF_ERROR(Step("removeall", directory));
    return m_inner->RemoveAll(directory);
}

Result<> FaultEnv::Rename(const Path& from, const Path& to)
{
    IBD_RETURN_IF_ERROR(Step("rename", from));
    const std::lock_guard lock(m_mutex);
    if (const auto it = m_pending.find(from); it != m_pending.end()) {
        m_pending[to] = it->second;
        m_pending.erase(it);
    }
    return m_inner->Rename(from, to);
}

void FaultEnv::RandomBytes(MutableByteSpan out)
{
    const std::lock_guard lock(m_mutex);
    for (uint8_t& byte : out) byte = static_cast<uint8_t>(m_rng());
}

} // namespace ibd::test
