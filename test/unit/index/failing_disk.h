// FailEachStep: an index whose database fails once, at each of its operations in turn.
#pragma once

#include "fake_chain.h"
#include "index/index_follower.h"

#include <atomic>

namespace ibd::test {

/** The index goes to `first`, then to `second`, each time with all coins on disk, while one
 *  operation of its database fails; then once more without. `make(db)` makes the index, `check`
 *  looks at it in the end, and before at one whose database never failed. */
template <typename Make, typename Check>
void FailEachStep(FakeChain& chain, const HeaderNode* first, const HeaderNode* second,
                  const Make& make, const Check& check)
{
    const TempDir folder(MemoryFolder());
    const auto live = [&](const Path& directory, const KvIoCheck& io, bool sound) -> Result<> {
        IBD_ASSIGN_OR_RETURN(auto db, OpenKv(directory, io));
        const auto index = make(std::move(db));
        IndexFollower follower(*index, chain, TestEnv(), TestLog(), [](const Error&) {});
        chain.SetDurableTip(first);
        IBD_RETURN_IF_ERROR(follower.Open());
        IBD_RETURN_IF_ERROR(follower.CatchUp());
        chain.SetDurableTip(second);
        IBD_RETURN_IF_ERROR(follower.CatchUp());
        if (sound) check(*index);
        return {};
    };
    Must(live(folder / "sound", nullptr, true));
    int failures = 0;
    for (int step = 0;; ++step) {
        const Path directory = folder / fmt::format("step{}", step);
        std::atomic<int> count = 0;
        std::atomic<bool> hit = false;
        const auto fail = [&](const char* kind, const Path& path) -> Result<> {
            if (count++ != step) return {};
            hit = true;
            return SystemError("{}: {} failed", path.string(), kind);
        };
        const Result<> done = live(directory, fail, false);
        if (!hit) break;
        if (!done) {
            ++failures;
            INFO(done.Message());
            CHECK(SystemFailed(done));
            CHECK(done.Message().find(directory.string()) != std::string::npos);
        }
        Must(live(directory, nullptr, true));
        std::filesystem::remove_all(directory);
    }
    CHECK(failures > 5);
}

} // namespace ibd::test
