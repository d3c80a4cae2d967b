// The observers of a fold: each interested observer sees every block once, regardless of the other
// observers.
#include "sync_setup.h"

#include "swiftsync/fold_observer.h"

#include "support/catch.h"

namespace ibd::test {

namespace {

/** Counts the blocks that it sees, by height. */
class Counter final : public FoldObserver {
public:
    Counter(SyncSetup& setup, bool wants) : interested(wants), m_setup(setup) {}

    bool Begin(size_t workers) override
    {
        REQUIRE(!m_open);
        ++begun;
        m_open = interested;
        m_seen = std::vector<std::atomic<int>>(m_setup.Chain().Height() + 1);
        m_workers = workers;
        return interested;
    }
    void Folded(size_t worker, const BlockView& block, uint32_t height) override
    {
        // On the workers' threads: no REQUIRE.
        const bool right = m_open && worker < m_workers && height < m_seen.size() &&
                           block.Hash() == HashOf(m_setup.Chain().Raw(height));
        right ? ++m_seen[height] : ++m_wrong;
    }
    void End() override
    {
        REQUIRE(m_open);
        m_open = false;
        ++ended;
    }
    /** Whether each block from the first on was seen once. */
    bool SawAll() const
    {
        if (m_open || m_wrong != 0) return false;
        return std::all_of(m_seen.begin() + 1, m_seen.end(), [](const auto& n) { return n == 1; });
    }

    const bool interested;
    int begun = 0;
    int ended = 0;

private:
    static BlockHash HashOf(ByteSpan raw)
    {
        BlockView view;
        Must(view.Parse(raw));
        return view.Hash();
    }

    SyncSetup& m_setup;
    std::atomic<bool> m_open = false;
    size_t m_workers = 0;
    std::vector<std::atomic<int>> m_seen;
    std::atomic<int> m_wrong = 0;
};

} // namespace

TEST_CASE("each interested observer of a fold sees every block once")
{
    for (const unsigned threads : {1U, 3U}) {
        SyncSetup setup(TestRng()());
        std::vector<std::unique_ptr<Counter>> counters;
        BoosterOptions options = setup.Options(threads);
        const size_t count = TestRng()() % 4;
        for (size_t i = 0; i < count; ++i) {
            counters.push_back(std::make_unique<Counter>(setup, TestRng()() % 3 != 0));
            options.observers.push_back(counters.back().get());
        }
        Counter last(setup, true);
        Counter declines(setup, false);
        options.observers.insert(options.observers.end(), {&declines, &last});
        FaultEnv env;
        REQUIRE(Must(setup.Sync(env, options)).kind == VerdictKind::kDone);
        setup.RequireRight();
        CHECK(last.SawAll());
        CHECK((declines.begun == 1 && declines.ended == 0));
        for (const auto& counter : counters) {
            CHECK(counter->begun == 1);
            CHECK(counter->ended == (counter->interested ? 1 : 0));
            if (counter->interested) CHECK(counter->SawAll());
        }
    }
}

TEST_CASE("a fold that goes on after a restart has no observers")
{
    SyncSetup setup(TestRng()());
    BoosterOptions options = setup.Options();
    options.fold_only = true;
    FaultEnv env;
    REQUIRE(Must(setup.Sync(env, options)).kind == VerdictKind::kFolded);
    Counter first(setup, true);
    Counter second(setup, true);
    options.fold_only = false;
    options.observers = {&first, &second};
    REQUIRE(Must(setup.Sync(env, options)).kind == VerdictKind::kDone);
    CHECK((first.begun == 0 && second.begun == 0));
    setup.RequireRight();
}

} // namespace ibd::test
