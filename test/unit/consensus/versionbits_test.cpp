// Version bits: the cached state machine against the text of BIP9 followed period by period from
// genesis, on random chains; and the warning about unknown bits.
#include "consensus/versionbits.h"
#include "vector_ancestry.h"

#include <algorithm>

using namespace ibd;
using namespace ibd::test;

namespace {

constexpr uint32_t kStartTime = 1'000'000;

/** State of every period from the first, without cache. */
std::vector<ThresholdState> SlowStates(const VectorAncestry& chain, const Bip9Deployment& d)
{
    std::vector<ThresholdState> states{ThresholdState::kDefined};
    const int periods = (chain.Height() + 1) / d.period;
    for (int p = 0; p < periods; ++p) {
        const int first = p * d.period;
        const int last = first + d.period - 1;
        const int64_t time = chain.MedianTimePast(last);
        ThresholdState state = states.back();
        if (state == ThresholdState::kDefined) {
            if (time >= d.start_time) state = ThresholdState::kStarted;
        } else if (state == ThresholdState::kStarted) {
            const auto count =
                std::count_if(chain.blocks.begin() + first, chain.blocks.begin() + last + 1,
                              [&](const HeaderFacts& b) {
                                  const auto v = static_cast<uint32_t>(b.version);
                                  return v >> 29 == 1 && ((v >> d.bit) & 1) == 1;
                              });
            if (count >= d.threshold)
                state = ThresholdState::kLockedIn;
            else if (time >= d.timeout)
                state = ThresholdState::kFailed;
        } else if (state == ThresholdState::kLockedIn) {
            if (last + 1 >= d.min_activation_height) state = ThresholdState::kActive;
        }
        states.push_back(state);
    }
    return states;
}

/** Blocks whose signalling and times are random, in stretches so that thresholds are met. */
VectorAncestry RandomChain(int blocks, const Bip9Deployment& d)
{
    VectorAncestry chain;
    uint32_t odds = 50;
    for (int i = 0; i < blocks; ++i) {
        if (i % d.period == 0) odds = static_cast<uint32_t>(TestRng()() % 3) * 50;
        uint32_t version = kVersionBitsTop;
        if (TestRng()() % 100 < odds) version |= 1U << d.bit;
        if (TestRng()() % 40 == 0) version = static_cast<uint32_t>(TestRng()());
        const uint32_t time = kStartTime + uint32_t(i) * 600 + uint32_t(TestRng()() % 3000);
        chain.blocks.push_back({static_cast<int32_t>(version), time, 0});
    }
    return chain;
}

Bip9Deployment RandomDeployment(int blocks)
{
    Bip9Deployment d;
    d.bit = static_cast<int>(TestRng()() % 29);
    d.period = 10 + static_cast<int>(TestRng()() % 20);
    d.threshold = d.period / 2 + static_cast<int>(TestRng()() % (d.period / 2));
    d.start_time = kStartTime + int64_t(TestRng()() % (uint64_t(blocks) * 300));
    d.timeout = d.start_time + int64_t(TestRng()() % (uint64_t(blocks) * 600));
    d.min_activation_height =
        TestRng()() % 2 ? 0 : static_cast<int>(TestRng()() % static_cast<uint64_t>(blocks));
    return d;
}

} // namespace

TEST_CASE("states, their first heights and statistics equal the slow reference")
{
    int seen[5] = {};
    for (int round = 0; round < 300; ++round) {
        const int blocks = 200 + static_cast<int>(TestRng()() % 300);
        const Bip9Deployment d = RandomDeployment(blocks);
        const VectorAncestry chain = RandomChain(blocks, d);
        const auto slow = SlowStates(chain, d);
        ThresholdCache cache;
        for (int i = 0; i < 40; ++i) {
            // Any height, in any order, with the earlier contents of the cache.
            const int count = static_cast<int>(TestRng()() % static_cast<uint64_t>(blocks + 1));
            const PrefixAncestry prev(chain, count);
            const size_t period = static_cast<size_t>(count / d.period);
            const ThresholdState state = DeploymentState(prev, d, cache);
            REQUIRE(state == slow[period]);
            ++seen[static_cast<int>(state)];
            size_t since = period;
            while (since > 0 && slow[since - 1] == state) --since;
            REQUIRE(DeploymentStateSince(prev, d, cache) == static_cast<int>(since) * d.period);
            if (count == 0) continue;
            std::vector<bool> signals;
            const Bip9Stats stats = DeploymentStats(prev, d, &signals);
            REQUIRE(stats.elapsed == (count - 1) % d.period + 1);
            REQUIRE(static_cast<int>(signals.size()) == stats.elapsed);
            REQUIRE(stats.count == std::count(signals.begin(), signals.end(), true));
            REQUIRE(signals.back() == Signals(chain.At(count - 1).version, d));
            REQUIRE(stats.possible == (stats.count + (d.period - stats.elapsed) >= d.threshold));
        }
    }
    for (const int count : seen) CHECK(count > 0);
}

TEST_CASE("fixed deployments need no chain")
{
    Bip9Deployment d;
    ThresholdCache cache;
    const VectorAncestry empty;
    d.start_time = Bip9Deployment::kAlwaysActive;
    CHECK(DeploymentState(empty, d, cache) == ThresholdState::kActive);
    CHECK(DeploymentStateSince(empty, d, cache) == 0);
    d.start_time = Bip9Deployment::kNeverActive;
    CHECK(DeploymentState(empty, d, cache) == ThresholdState::kFailed);
    CHECK(DeploymentStats(empty, d).elapsed == 0);
    CHECK(std::string(ThresholdStateName(ThresholdState::kLockedIn)) == "locked_in");
}

TEST_CASE("regtest signals testdummy from the second period and then enforces it")
{
    const ConsensusParams c = MakeChainParams(Network::kRegtest).consensus;
    VersionBitsCache cache;
    VectorAncestry chain;
    const int32_t plain = static_cast<int32_t>(kVersionBitsTop);
    for (int height = 0; height < 144 * 4; ++height) {
        const bool signalling = height >= 144 && height < 144 * 3;
        const int32_t version = ComputeBlockVersion(chain, c, cache);
        REQUIRE(version == (signalling ? plain | 1 << 28 : plain));
        REQUIRE(DeploymentActive(chain, c, DeploymentId::kTestDummy, cache) == (height >= 144 * 3));
        REQUIRE(DeploymentActive(chain, c, DeploymentId::kTaproot, cache));
        chain.blocks.push_back({version, kStartTime + uint32_t(height) * 600, 0});
    }
}

TEST_CASE("unknown bits are reported when locked in and when active")
{
    ChainParams p = MakeChainParams(Network::kRegtest);
    VersionBitsCache cache;
    VectorAncestry chain;
    const auto grow = [&](int blocks, uint32_t bits) {
        for (int i = 0; i < blocks; ++i) {
            const auto version = static_cast<int32_t>(kVersionBitsTop | bits);
            chain.blocks.push_back({version, kStartTime + uint32_t(chain.Height()) * 600, 0});
        }
    };
    using Found = std::vector<std::pair<int, bool>>;
    grow(144, 0);
    constexpr uint32_t kMinersNonce = 0x1fffffe0; // bits 5 to 28 (BIP 323): nothing follows
    grow(143, 1U << 4 | kMinersNonce);
    CHECK(UnknownActivations(chain, p, cache).empty());
    grow(1, 1U << 4 | kMinersNonce);
    CHECK(UnknownActivations(chain, p, cache) == Found{{4, false}});
    grow(144, kMinersNonce);
    CHECK(UnknownActivations(chain, p, cache) == Found{{4, true}});
    // 75 % of 144 are 108.
    grow(108, 1U << 3);
    grow(36, 0);
    CHECK(UnknownActivations(chain, p, cache) == Found{{3, false}, {4, true}});
    grow(107, 1U << 0);
    grow(37, 0);
    CHECK(UnknownActivations(chain, p, cache) == Found{{3, true}, {4, true}});
    // Below the warning height nothing counts.
    p.consensus.min_bip9_warning_height = 10'000;
    VersionBitsCache fresh;
    CHECK(UnknownActivations(chain, p, fresh).empty());
}

TEST_CASE("mainnet's unknown bits need 1815 of 2016 blocks")
{
    ChainParams p = MakeChainParams(Network::kMain);
    p.consensus.min_bip9_warning_height = 0;
    for (const int signalling : {1814, 1815}) {
        VectorAncestry chain;
        for (int i = 0; i < 2 * 2016; ++i) {
            const bool set = i >= 2016 && i < 2016 + signalling;
            const uint32_t version = kVersionBitsTop | (set ? 1U << 4 : 0);
            chain.blocks.push_back(
                {static_cast<int32_t>(version), kStartTime + uint32_t(i) * 600, 0});
        }
        VersionBitsCache cache;
        CHECK(UnknownActivations(chain, p, cache).empty() == (signalling < 1815));
    }
}
