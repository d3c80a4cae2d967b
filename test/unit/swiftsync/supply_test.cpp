// Blocks from anywhere: a supply whose blocks arrive late, in any order, and bad before they are
// good, leads to the same coins; what a checkpoint calls folded was made durable by its source.
#include "accepted.h"
#include "sync_setup.h"

#include "support/testdata.h"
#include "swiftsync/checkpoint.h"

#include <condition_variable>
#include <deque>
#include <set>
#include <thread>

using namespace ibd;
using namespace ibd::test;

namespace {

/** Peers: blocks come when they come, and some are not what was asked for. */
class Strangers final : public BlockSupply {
public:
    Strangers(TestChain& chain, uint64_t seed) : m_chain(chain), m_rng(seed) {}
    ~Strangers() override { Stop(); }

    Result<> Begin(const std::function<bool(int32_t height)>& folded) override
    {
        std::vector<uint32_t> missing;
        for (uint32_t h = 1; h <= m_chain.Height(); ++h) {
            if (!folded(static_cast<int32_t>(h))) missing.push_back(h);
        }
        std::shuffle(missing.begin(), missing.end(), m_rng);
        if (missing.size() > most) missing.resize(most);
        asked = missing.size();
        m_under_way = missing.size();
        m_arrival = std::thread([this, missing] {
            for (const uint32_t h : missing) Arrive(h);
        });
        return {};
    }
    std::unique_ptr<BlockSource> MakeSource() override;
    void Stop() override
    {
        {
            const std::lock_guard lock(m_mutex);
            m_stopped = true;
            m_changed.notify_all();
        }
        if (m_arrival.joinable() && m_arrival.get_id() != std::this_thread::get_id()) {
            const std::lock_guard lock(m_join);
            if (m_arrival.joinable()) m_arrival.join();
        }
    }
    size_t BlocksToFold() const override { return asked; }
    uint64_t EstimatedBytes() const override { return 1'000; }

    bool asks_again = true; //!< a block that is refused is had from somebody else
    size_t most = SIZE_MAX; //!< blocks that will ever come
    size_t asked = 0;
    size_t rejected = 0;
    size_t mistakes = 0; //!< kept twice or wrongly, or the block was blamed for bad bytes
    std::set<uint32_t> kept;   //!< by height
    std::set<uint32_t> synced; //!< of these, durable

private:
    friend class StrangersSource;

    void Arrive(uint32_t height)
    {
        const std::lock_guard lock(m_mutex);
        m_arrived.push_back(height);
        m_changed.notify_all();
    }
    /** Not what was asked for, now and then. */
    Bytes Deliver(uint32_t height)
    {
        const ByteSpan good = m_chain.Raw(height);
        Bytes raw(good.begin(), good.end());
        if (m_bad.contains(height) || m_rng() % 3) return raw;
        m_bad.insert(height);
        switch (m_rng() % 3) {
        case 0: raw[80 + m_rng() % (raw.size() - 80)] ^= 1; break;
        case 1: raw.resize(raw.size() / 2); break;
        default: {
            const ByteSpan other = m_chain.Raw(height == 1 ? 2 : height - 1);
            raw.assign(other.begin(), other.end());
        }
        }
        return raw;
    }

    TestChain& m_chain;
    std::mutex m_mutex;
    std::mutex m_join;
    std::condition_variable m_changed;
    std::mt19937_64 m_rng;
    std::deque<uint32_t> m_arrived;
    std::set<uint32_t> m_bad; //!< that came bad once
    size_t m_under_way = 0;   //!< neither kept nor given up
    bool m_stopped = false;
    std::thread m_arrival;
};

class StrangersSource final : public BlockSource {
public:
    explicit StrangersSource(Strangers& all) : m_all(all) {}

    Result<bool> Next(SuppliedBlock& out) override
    {
        std::unique_lock lock(m_all.m_mutex);
        m_all.m_changed.wait(lock, [&] {
            return m_all.m_stopped || m_all.m_under_way == 0 || !m_all.m_arrived.empty();
        });
        if (m_all.m_stopped || m_all.m_arrived.empty()) return false;
        const uint32_t height = m_all.m_arrived.front();
        m_all.m_arrived.pop_front();
        m_raw = m_all.Deliver(height);
        out = {m_all.m_chain.Tip().Ancestor(static_cast<int>(height)), m_raw};
        return true;
    }
    Result<> Keep(const SuppliedBlock& block, const BlockView& view) override
    {
        const std::lock_guard lock(m_all.m_mutex);
        const bool first = m_all.kept.insert(static_cast<uint32_t>(block.node->height)).second;
        if (!first || view.Hash() != block.node->hash) ++m_all.mistakes;
        --m_all.m_under_way;
        m_all.m_changed.notify_all();
        return {};
    }
    Result<bool> Reject(const SuppliedBlock& block, const RuleViolation& why) override
    {
        const std::lock_guard lock(m_all.m_mutex);
        if (why.kind != RuleViolation::Kind::kMutated) ++m_all.mistakes;
        ++m_all.rejected;
        if (m_all.asks_again) {
            m_all.m_arrived.push_back(static_cast<uint32_t>(block.node->height));
            m_all.m_changed.notify_all();
        }
        return m_all.asks_again;
    }
    Result<> Sync() override
    {
        const std::lock_guard lock(m_all.m_mutex);
        m_all.synced = m_all.kept;
        return {};
    }

private:
    Strangers& m_all;
    Bytes m_raw;
};

std::unique_ptr<BlockSource> Strangers::MakeSource()
{
    return std::make_unique<StrangersSource>(*this);
}

Result<Verdict> SyncFrom(SyncSetup& setup, Env& env, Strangers& strangers,
                         const BoosterOptions& options)
{
    const auto hints = Must(OpenHints(setup.CleanEnv(), setup.HintsPath()));
    SyncEngine engine(env, setup.Log(), setup.Chain().Params(), setup.Chain().Tip(), setup.Blocks(),
                      strangers, *hints, options);
    return engine.Run();
}

} // namespace

TEST_CASE("Supply: blocks that arrive late, disordered and sometimes bad give the same coins")
{
    for (int round = 0; round < 6; ++round) {
        const uint64_t seed = TestRng()();
        CAPTURE(seed);
        SyncSetup setup(seed);
        for (const unsigned threads : {1u, 2u, 3u}) {
            BoosterOptions options = setup.Options(threads, 1 << 13);
            options.checkpoint_bytes = 3'000;
            FaultEnv env(seed);
            Strangers strangers(setup.Chain(), seed + threads);
            RequireAccepted(SyncFrom(setup, env, strangers, options));
            setup.RequireRight();
            CHECK(strangers.rejected > 0);
            CHECK(strangers.mistakes == 0);
            CHECK(strangers.kept.size() == setup.Chain().Height());
            CHECK(strangers.synced == strangers.kept);
            setup.Reset();
        }
    }
}

TEST_CASE("Supply: a checkpoint says folded only of blocks that the source made durable")
{
    const uint64_t seed = TestRng()();
    CAPTURE(seed);
    SyncSetup setup(seed);
    BoosterOptions options = setup.Options(2, 1 << 13);
    options.checkpoint_bytes = 2'000;
    uint64_t folded = 0;
    for (uint64_t death = 5; death < 300; death += 7) {
        FaultEnv env(death);
        env.CrashAt(death);
        Strangers strangers(setup.Chain(), death);
        const auto verdict = SyncFrom(setup, env, strangers, options);
        if (verdict) break;
        env.LoseUnsynced();
        const auto kept = LoadCheckpoint(setup.CleanEnv(), setup.Booster());
        REQUIRE(kept);
        if (*kept) {
            for (uint32_t h = 1; h <= setup.Chain().Height(); ++h) {
                if ((*kept)->folded.Contains(h)) REQUIRE(strangers.synced.contains(h));
            }
            folded += (*kept)->folded.Count();
        }
        setup.Reset();
    }
    REQUIRE(folded > 0);
}

TEST_CASE("Supply: one that ends early leaves what was folded; only the rest is asked for then")
{
    SyncSetup setup(TestRng()());
    const BoosterOptions options = setup.Options(2, 1 << 13);
    FaultEnv env(1);
    Strangers few(setup.Chain(), 1);
    few.most = 20;
    const auto part = SyncFrom(setup, env, few, options);
    REQUIRE(part);
    CHECK(part->kind == VerdictKind::kIncomplete);
    Strangers rest(setup.Chain(), 2);
    RequireAccepted(SyncFrom(setup, env, rest, options));
    CHECK(rest.asked == setup.Chain().Height() - 20);
    setup.RequireRight();
}

TEST_CASE("Supply: one that cannot ask again ends the run at a bad block")
{
    SyncSetup setup(TestRng()());
    FaultEnv env(1);
    Strangers strangers(setup.Chain(), 1);
    strangers.asks_again = false;
    const auto verdict = SyncFrom(setup, env, strangers, setup.Options(2, 1 << 13));
    REQUIRE(verdict);
    CHECK(verdict->kind == VerdictKind::kBlockInvalid);
}

TEST_CASE("Supply: with fold_only all is folded and a later run judges")
{
    SyncSetup setup(TestRng()());
    BoosterOptions options = setup.Options(2, 1 << 13);
    options.fold_only = true;
    FaultEnv env(1);
    const auto folded = setup.Sync(env, options);
    REQUIRE(folded);
    CHECK(folded->kind == VerdictKind::kFolded);
    CHECK_FALSE(std::filesystem::exists(setup.Chainstate()));
    options.fold_only = false;
    Strangers none(setup.Chain(), 1);
    RequireAccepted(SyncFrom(setup, env, none, options));
    CHECK(none.asked == 0);
    setup.RequireRight();
}
