// SeededEnv: chance from a seed and no machine: no files, and a clock that stands still, or moves
// when it is read, as if work took time.
#pragma once

#include "util/check.h"
#include "util/env.h"

#include <random>

namespace ibd::test {

class SeededEnv final : public Env {
public:
    explicit SeededEnv(uint64_t seed) : m_rng(seed) {}

    Result<std::unique_ptr<ReadableFile>> OpenRead(const Path&) override { return NoFiles(); }
    Result<std::unique_ptr<WritableFile>> OpenWrite(const Path&, bool) override
    {
        return NoFiles();
    }
    Result<std::unique_ptr<FileLock>> Lock(const Path&) override { return NoFiles(); }
    bool Exists(const Path&) override { return false; }
    Result<std::vector<std::string>> List(const Path&) override { return NoFiles(); }
    Result<> CreateDirectories(const Path&) override { return NoFiles(); }
    Result<> Remove(const Path&) override { return NoFiles(); }
    Result<> RemoveAll(const Path&) override { return NoFiles(); }
    Result<> Rename(const Path&, const Path&) override { return NoFiles(); }
    Result<> SyncDirectory(const Path&) override { return NoFiles(); }
    Result<uint64_t> SpaceAvailable(const Path&) override { return NoFiles(); }
    int64_t UnixTime() override { return 0; }
    int64_t MonotonicMicros() override { return m_micros += micros_for_a_look; }
    void RandomBytes(MutableByteSpan out) override
    {
        for (uint8_t& byte : out) byte = static_cast<uint8_t>(m_rng());
    }
    int64_t micros_for_a_look = 0;

private:
    static Error NoFiles() { return SystemError("there are no files here"); }

    std::mt19937_64 m_rng;
    int64_t m_micros = 0;
};

} // namespace ibd::test
