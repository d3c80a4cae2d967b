// ClockEnv: the machine's files with a clock that the test sets, on any thread.
#pragma once

#include "util/env.h"

#include <atomic>

namespace ibd::test {

class ClockEnv final : public Env {
public:
    std::atomic<int64_t> micros = 1795239946'000'000; // 2026-11-21T05:45:46Z
    bool refuses_writes = false;
    Result<std::unique_ptr<ReadableFile>> OpenRead(const Path& p) override
    {
        return m->OpenRead(p);
    }
    Result<std::unique_ptr<WritableFile>> OpenWrite(const Path& p, bool t) override
    {
        if (refuses_writes) return SystemError("no writes today");
        return m->OpenWrite(p, t);
    }
    Result<std::unique_ptr<FileLock>> Lock(const Path& p) override { return m->Lock(p); }
    bool Exists(const Path& p) override { return m->Exists(p); }
    Result<std::vector<std::string>> List(const Path& p) override { return m->List(p); }
    Result<> CreateDirectories(const Path& p) override { return m->CreateDirectories(p); }
    Result<> Remove(const Path& p) override { return m->Remove(p); }
    Result<> RemoveAll(const Path& p) override { return m->RemoveAll(p); }
    Result<> Rename(const Path& a, const Path& b) override { return m->Rename(a, b); }
    Result<> SyncDirectory(const Path& p) override { return m->SyncDirectory(p); }
    Result<uint64_t> SpaceAvailable(const Path& p) override { return m->SpaceAvailable(p); }
    int64_t UnixTime() override { return micros / 1'000'000; }
    int64_t UnixMicros() override { return micros; }
    int64_t MonotonicMicros() override { return micros; }
    void RandomBytes(MutableByteSpan out) override { m->RandomBytes(out); }

private:
    std::unique_ptr<Env> m = MakePosixEnv();
};

} // namespace ibd::test
