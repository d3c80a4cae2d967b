// The keystone of undo data from blocks alone: whatever the seed, order and supply of blocks,
// threads, memory, spills and moment of death, the records are those of a walk over a map, byte for
// byte.
#include "undo_setup.h"

#include "support/testdata.h"

using namespace ibd;
using namespace ibd::test;

namespace {

class UndoSetup {
public:
    explicit UndoSetup(uint64_t seed, const TestChainOptions& shape = {})
        : m_setup(seed, shape), m_right(WalkUndo(m_setup.Chain().Height(), [this](uint32_t height) {
              return m_setup.Chain().Raw(height);
          }))
    {
    }

    SyncSetup& Setup() { return m_setup; }
    Path Directory() const { return m_setup.Booster() / "undo"; }
    const std::vector<Bytes>& Right() const { return m_right; }
    std::atomic<bool>& Stop() { return m_stop; }
    KeptUndo& Kept() { return m_kept; }

    UndoOptions Options(unsigned threads, size_t memory) const
    {
        UndoOptions options;
        options.join = MakeJoinOptions(Directory(), threads, memory);
        options.checks = UndoChecks::kNone; // the chain breaks rules: see test/full_validation
        return options;
    }
    Result<JoinVerdict> Rebuild(Env& env, UndoOptions options)
    {
        FileBlockSupply files(env, m_setup.Blocks(), m_setup.Chain().Tip(), 1'000);
        return RebuildFrom(env, files, std::move(options), m_kept);
    }
    Result<JoinVerdict> RebuildFrom(Env& env, BlockSupply& supply, UndoOptions options,
                                    UndoConsumer& consumer)
    {
        options.first_height = m_kept.NextHeight();
        UndoRebuild rebuild(env, m_setup.Log(), m_setup.Chain().Params(), m_setup.Chain().Tip(),
                            m_setup.Blocks(), supply, std::move(options), m_stop);
        return rebuild.Run(consumer);
    }
    void RequireRight()
    {
        REQUIRE(m_kept.Ordered());
        REQUIRE(m_kept.Records() == m_right);
        RequireClean(Directory());
    }
    void Reset()
    {
        std::filesystem::remove_all(Directory());
        m_kept = KeptUndo();
    }

private:
    SyncSetup m_setup;
    const std::vector<Bytes> m_right;
    std::atomic<bool> m_stop = false;
    KeptUndo m_kept;
};

void RequireDone(const Result<JoinVerdict>& verdict)
{
    if (!verdict) FAIL(verdict.Message());
    INFO(verdict->reason);
    REQUIRE(verdict->kind == JoinVerdict::Kind::kDone);
}

} // namespace

TEST_CASE("Undo keystone: records from blocks alone are a serial walk's", "[keystone]")
{
    for (int round = 0; round < 20; ++round) {
        auto& rng = TestRng();
        const uint64_t seed = rng();
        TestChainOptions shape;
        shape.blocks = 25 + static_cast<uint32_t>(rng() % 150);
        shape.txs_per_block = 1 + static_cast<uint32_t>(rng() % 30);
        UndoSetup setup(seed, shape);
        for (const size_t memory : {size_t{1}, size_t{1} << 16, size_t{1} << 22}) {
            for (const unsigned threads : {1u, 2u, 3u}) {
                UndoOptions options = setup.Options(threads, memory);
                options.join.checkpoint_bytes = rng() % 2 ? 3'000 : uint64_t{1} << 40;
                CAPTURE(seed, shape.blocks, memory, threads);
                FaultEnv env(rng());
                RequireDone(setup.Rebuild(env, options));
                setup.RequireRight();
                setup.Reset();
            }
        }
    }
}
