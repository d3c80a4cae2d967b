// A directory of its own for one test, removed afterwards.
#pragma once

#include "util/env.h"

#include <cstdlib>

#include "support/catch.h"

namespace ibd::test {

/** Where files cost no sync, if the system has such a place: LevelDB's own cannot be turned off. */
inline Path MemoryFolder()
{
    const Path shared_memory = "/dev/shm";
    const bool there = std::filesystem::is_directory(shared_memory);
    return there ? shared_memory : std::filesystem::temp_directory_path();
}

class TempDir {
public:
    explicit TempDir(const Path& parent = std::filesystem::temp_directory_path())
    {
        std::string pattern = (parent / "ibd_XXXXXX").string();
        REQUIRE(::mkdtemp(pattern.data()) != nullptr);
        m_path = pattern;
    }
    ~TempDir()
    {
        std::error_code ignored;
        std::filesystem::remove_all(m_path, ignored);
    }
    TempDir(const TempDir&) = delete;
    TempDir& operator=(const TempDir&) = delete;
    const Path& Get() const { return m_path; }
    Path operator/(const std::string& name) const { return m_path / name; }

private:
    Path m_path;
};

} // namespace ibd::test
