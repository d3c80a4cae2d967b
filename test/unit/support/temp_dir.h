// A directory of its own for one test, removed afterwards.
#pragma once

#include "util/env.h"

#include <catch2/catch.hpp>
#include <cstdlib>

namespace ibd::test {

class TempDir {
public:
    TempDir()
    {
        std::string pattern = (std::filesystem::temp_directory_path() / "ibd_XXXXXX").string();
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
