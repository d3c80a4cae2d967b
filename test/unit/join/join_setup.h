// JoinSetup: chains whose hints are known, ready to be joined any number of times.
#pragma once

#include "join/spend_join.h"
#include "swiftsync/sync_setup.h"
#include "swiftsync/file_block_source.h"

namespace ibd::test {

inline JoinOptions MakeJoinOptions(const Path& directory, unsigned threads, size_t memory)
{
    JoinOptions options;
    options.threads = threads;
    options.memory_bytes = memory;
    options.directory = directory;
    options.background = threads > 1;
    return options;
}

/** Where nothing may be left after a join: its folder holds the lock alone. */
inline void RequireClean(const Path& directory)
{
    for (const auto& entry : std::filesystem::directory_iterator(directory)) {
        CAPTURE(entry.path().string());
        REQUIRE(entry.path().filename() == ".lock");
    }
}

inline void RequireDone(const Result<GeneratedHints>& made)
{
    if (!made) FAIL(made.Message());
    INFO(made->verdict.reason);
    REQUIRE(made->verdict.kind == JoinVerdict::Kind::kDone);
}

} // namespace ibd::test
