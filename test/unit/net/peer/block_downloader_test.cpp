// The peer asked for each block: in order with a window, in any order without one, and another peer
// after a stall, a disconnect or a lie. A simulated network downloads a whole chain from a seed.
#include "net/peer/block_downloader.h"

#include "net/peer_support.h"
#include "support/testdata.h"

#include "support/catch.h"

namespace ibd {

using namespace test;

namespace {

constexpr int64_t kMicros = 1'000'000; //!< in a second

/** Blocks of the best header's chain that were not delivered; the window starts at the lowest. */
class TestGoal final : public DownloadGoal {
public:
    TestGoal(TestChain& chain, bool windowed) : m_chain(chain), m_windowed(windowed) {}

    const HeaderNode* NextMissing(int32_t after) const override
    {
        const HeaderNode& best = m_chain.BestHeader();
        while (m_complete < best.height && Have(*best.Ancestor(m_complete + 1))) ++m_complete;
        for (int32_t height = std::max(after, m_complete) + 1; height <= best.height; ++height) {
            const HeaderNode* const node = best.Ancestor(height);
            if (!Have(*node)) return node;
        }
        return nullptr;
    }
    bool Have(const HeaderNode& node) const override { return delivered.contains(&node); }
    int32_t WindowEnd() const override
    {
        if (!m_windowed) return kNoWindow;
        const HeaderNode* const first = NextMissing(-1);
        return first ? first->height - 1 + kDownloadWindow : m_chain.BestHeader().height;
    }

    void Lose(const HeaderNode& node)
    {
        delivered.erase(&node);
        m_complete = 0;
    }

    int32_t PreferredFrom() const override { return preferred_from; }
    const HeaderNode* NextLost(int32_t after) const override
    {
        return lost && lost->height > after ? lost : nullptr;
    }

    std::set<const HeaderNode*> delivered;
    const HeaderNode* lost = nullptr; //!< needed again
    int32_t preferred_from = kNoneFirst;

private:
    TestChain& m_chain;
    const bool m_windowed;
    mutable int32_t m_complete = 0; //!< all up to here are delivered
};

/** A downloader over `blocks` headers, of which none but genesis is there. */
struct Fixture {
    Fixture(int blocks, bool windowed)
        : params(RegtestParams()), chain(params), goal(chain, windowed), downloader(goal, 600)
    {
        chain.Extend(blocks, nullptr, 0, false);
    }
    std::vector<int32_t> Ask(PeerId peer, bool limited = false)
    {
        return AskAs({peer, &chain.BestHeader(), limited});
    }
    std::vector<int32_t> AskAs(const BlockDownloader::Source& source)
    {
        std::vector<int32_t> out;
        for (const HeaderNode* node : downloader.Ask(source, chain.Tip(), now)) {
            out.push_back(node->height);
        }
        return out;
    }
    const HeaderNode& At(int32_t height) { return *chain.BestHeader().Ancestor(height); }
    bool Deliver(PeerId peer, int32_t height)
    {
        goal.delivered.insert(&At(height));
        return downloader.Received(peer, At(height), now);
    }

    const ChainParams params;
    TestChain chain;
    TestGoal goal;
    BlockDownloader downloader;
    int64_t now = kStart * kMicros;
};

std::vector<int32_t> Heights(int32_t from, int32_t to)
{
    std::vector<int32_t> out;
    for (int32_t height = from; height <= to; ++height) out.push_back(height);
    return out;
}

using Verdict = BlockDownloader::Verdict;

} // namespace

TEST_CASE("in bunches a peer is asked again when a quarter of its requests is free",
          "[block_downloader]")
{
    Fixture f(100, true);
    BlockDownloader::Source source{1, &f.chain.BestHeader()};
    source.bunched = true;
    CHECK(f.AskAs(source) == Heights(1, 16));
    for (int32_t height = 1; height <= 3; ++height) {
        f.Deliver(1, height);
        CHECK(f.AskAs(source).empty());
    }
    f.Deliver(1, 4);
    CHECK(f.AskAs(source) == Heights(17, 20));
    f.Deliver(1, 5);
    CHECK(f.Ask(1) == Heights(21, 21));
}

TEST_CASE("blocks are asked for in order, sixteen of a peer", "[block_downloader]")
{
    Fixture f(100, true);
    CHECK(f.Ask(1) == Heights(1, 16));
    CHECK(f.Ask(1).empty());
    CHECK(f.Ask(2) == Heights(17, 32));
    CHECK(f.downloader.Requests().HeightsOf(2) == Heights(17, 32));
    CHECK(f.Deliver(1, 3));
    CHECK(f.Ask(1) == Heights(33, 33));
    CHECK(f.Deliver(2, 5)); // asked of another
    CHECK_FALSE(f.Deliver(2, 90));
    f.downloader.Disconnected(1);
    CHECK(f.downloader.Requests().HeightsOf(1).empty());
    CHECK(f.Ask(3) ==
          std::vector<int32_t>{1, 2, 4, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 33, 34});
    // A refused block is requested again from any peer.
    f.Deliver(3, 1);
    f.goal.Lose(f.At(1));
    f.downloader.Refused(f.At(1), f.now);
    CHECK(f.Ask(4).front() == 1);
    // A new start asks nothing twice.
    f.downloader.GoalChanged();
    CHECK(f.Ask(5).front() == 50);
}

TEST_CASE("preferred blocks are requested first, from peers that have them", "[block_downloader]")
{
    Fixture f(40, false);
    f.goal.preferred_from = 31;
    CHECK(f.AskAs({1, &f.At(5), false}) == Heights(1, 5));
    auto wanted = Heights(31, 40);
    for (int32_t height = 6; height <= 11; ++height) wanted.push_back(height);
    CHECK(f.Ask(2) == wanted);
    CHECK(f.Ask(3) == Heights(12, 27));
    // A block that is requested twice at the same time is requested once.
    f.downloader.Disconnected(2);
    wanted = Heights(6, 11);
    for (int32_t height = 31; height <= 40; ++height) wanted.push_back(height);
    auto asked = f.Ask(4);
    std::sort(asked.begin(), asked.end());
    CHECK(asked == wanted);
    CHECK(f.Ask(5) == Heights(28, 30)); // all others are under way
    // Refused, it comes before the rest again.
    CHECK(f.Deliver(4, 35));
    f.goal.Lose(f.At(35));
    f.downloader.Refused(f.At(35), f.now);
    CHECK(f.Ask(6) == Heights(35, 35));
}

TEST_CASE("a block that is needed again is asked for besides the others", "[block_downloader]")
{
    Fixture f(1000, true);
    for (int32_t height = 1; height <= 990; ++height) f.goal.delivered.insert(&f.At(height));
    f.chain.SetTip(f.At(990));
    f.goal.lost = &f.At(100);
    // A limited peer has only the last blocks, which it is asked for nevertheless.
    CHECK(f.Ask(1, true) == Heights(991, 1000));
    CHECK(f.Ask(2) == std::vector<int32_t>{100});
    CHECK(f.Ask(3).empty()); // one peer is asked
    f.downloader.Disconnected(2);
    CHECK(f.Ask(3) == std::vector<int32_t>{100});
    f.goal.lost = nullptr;
    CHECK(f.downloader.Received(3, f.At(100), f.now));
    CHECK(f.Ask(2).empty());
}

TEST_CASE("peers that have left the chain of a block that is needed again are asked in turn",
          "[block_downloader]")
{
    Fixture f(100, true);
    const HeaderNode& ours = f.chain.BestHeader();
    for (int32_t height = 1; height <= 100; ++height) f.goal.delivered.insert(&f.At(height));
    f.chain.SetTip(ours);
    f.goal.lost = &f.At(98);
    const HeaderNode& theirs = f.chain.Extend(10, &f.At(95), 7, false);
    for (const HeaderNode* node = &theirs; node->height > 95; node = node->prev) {
        f.goal.delivered.insert(node); // so nothing else is asked for
    }
    CHECK(f.AskAs({1, &f.At(97)}).empty()); // has less work than that block
    CHECK(f.AskAs({1, &theirs}) == std::vector<int32_t>{98});
    f.now += BlockDownloader::kLostPatience;
    CHECK(f.AskAs({2, &theirs}).empty());
    CHECK(f.AskAs({1, &theirs}).empty());
    f.now += 1;
    CHECK(f.AskAs({1, &theirs}).empty()); // given up
    CHECK(f.downloader.Judge(1, f.now + 3600 * kMicros, 0) == Verdict::kFine);
    CHECK(f.AskAs({2, &theirs}) == std::vector<int32_t>{98});
    // A peer whose chain has the block is judged as for any block.
    f.downloader.Disconnected(2);
    CHECK(f.AskAs({3, &ours}) == std::vector<int32_t>{98});
    f.now += 2 * BlockDownloader::kLostPatience;
    CHECK(f.AskAs({3, &ours}).empty());
    CHECK(f.downloader.Requests().HeightsOf(3) == std::vector<int32_t>{98});
}

TEST_CASE("a peer with other duties is asked for as few blocks as its bound says",
          "[block_downloader]")
{
    for (const bool windowed : {true, false}) {
        Fixture f(40, windowed);
        BlockDownloader::Source source{1, &f.chain.BestHeader(), false};
        source.most = 1;
        CHECK(f.AskAs(source) == Heights(1, 1));
        CHECK(f.AskAs(source).empty());
        CHECK(f.Deliver(1, 1));
        CHECK(f.AskAs(source) == Heights(2, 2));
        source.most = BlockDownloader::kMaxInFlight;
        const auto more = f.AskAs(source);
        CHECK(more.size() + 1 >= BlockDownloader::kMinInFlight);
        CHECK(more.front() == 3);
    }
}

TEST_CASE("peers are asked for what they have", "[block_downloader]")
{
    Fixture f(400, true);
    CHECK(f.AskAs({1, nullptr, false}).empty());
    CHECK(f.AskAs({1, &f.At(5), false}) == Heights(1, 5));
    CHECK(f.Ask(2, true) == Heights(115, 130)); // the last 286
    for (int i = 10; i < 16; ++i) f.Ask(i);
    CHECK(f.Ask(16) == std::vector<int32_t>{102, 103, 104, 105, 106, 107, 108, 109, 110, 111, 112,
                                            113, 114, 131, 132, 133});

    // A branch beside the best header, without a source so far, is fetched from a peer that offers
    // it.
    Fixture g(50, true);
    const HeaderNode& other = g.chain.Extend(20, &g.At(0), 7, false);
    REQUIRE(&other != &g.At(20));
    const auto nodes = g.downloader.Ask({1, &other, false}, g.chain.Tip(), g.now);
    REQUIRE(nodes.size() == 16);
    for (const HeaderNode* node : nodes) CHECK(IsAncestor(*node, other));
    // Even from a busy peer, if it is on another chain; the branch is checked once a second.
    g.now += 1'000'000;
    const BlockDownloader::Source busy{1, &other, false, true};
    REQUIRE(g.downloader.Received(1, *nodes[0], g.now));
    CHECK(g.downloader.Ask({1, &other, false}, g.chain.Tip(), g.now).empty());
    CHECK(g.downloader.Ask(busy, g.chain.Tip(), g.now).size() == 1);
    CHECK(g.AskAs({2, &g.At(0), false}).empty()); // no better than ours
}

TEST_CASE("a peer that blocks the window is distinguished from peers that wait",
          "[block_downloader]")
{
    Fixture f(1100, true);
    CHECK(f.Ask(1) == Heights(1, 16));
    f.now += kMicros;
    for (int32_t height = 17; height <= 1024; ++height) {
        if (const auto& mine = f.downloader.Requests().HeightsOf(2); mine.empty()) f.Ask(2);
        f.Deliver(2, height);
    }
    CHECK(f.downloader.Requests().HeightsOf(2).empty());
    CHECK(f.downloader.Judge(1, f.now + 60 * kMicros, 0) == Verdict::kFine); // no peer waits yet
    CHECK(f.Ask(2).empty());
    CHECK(f.downloader.Judge(1, f.now + 2 * kMicros, 0) == Verdict::kFine);
    CHECK(f.downloader.Judge(2, f.now + 3 * kMicros, 0) == Verdict::kFine);
    CHECK(f.downloader.Judge(1, f.now + 2 * kMicros + 1, 0) == Verdict::kStalling);
    CHECK(f.downloader.CurrentStallTimeout() == 4 * kMicros);
    f.downloader.Disconnected(1);
    CHECK(f.Ask(2) == Heights(1, 16));
    CHECK(f.Ask(3).empty());
    f.Deliver(2, 16); // a peer that delivers does not stall
    CHECK(f.downloader.Judge(2, f.now + 10 * kMicros, 0) == Verdict::kFine);
    for (int32_t height = 1; height <= 15; ++height) f.Deliver(2, height);
    CHECK(f.downloader.CurrentStallTimeout() == 4 * kMicros); // received blocks are not connected
                                                              // yet
    CHECK(f.downloader.ShortenStallTimeout());
    CHECK(f.downloader.CurrentStallTimeout() == 3 * kMicros);
    CHECK(f.downloader.ShortenStallTimeout());
    CHECK(f.downloader.CurrentStallTimeout() == 2 * kMicros);
    CHECK_FALSE(f.downloader.ShortenStallTimeout());
    CHECK(f.Ask(3) == Heights(1025, 1040));
}

TEST_CASE("a peer that delays the others is slow, not silent, if it sends", "[block_downloader]")
{
    for (const bool sends : {false, true}) {
        Fixture f(1100, true);
        CHECK(f.Ask(1) == Heights(1, 16));
        CHECK(f.downloader.Judge(1, f.now, 1'000'000) == Verdict::kFine); // before it delays
        f.now += kMicros;
        for (int32_t height = 17; height <= 1024; ++height) {
            if (f.downloader.Requests().CountTo(2) == 0) f.Ask(2);
            f.Deliver(2, height);
        }
        CHECK(f.Ask(2).empty());
        const int64_t speed = BlockDownloader::kSlowest + (sends ? 1 : 0);
        const auto after = [&](int64_t seconds) {
            const auto received = uint64_t(1'000'000 + seconds * speed);
            return f.downloader.Judge(1, f.now + seconds * kMicros, received);
        };
        CHECK(after(2) == Verdict::kFine);
        CHECK(after(3) == (sends ? Verdict::kFine : Verdict::kStalling));
        CHECK(after(60) == (sends ? Verdict::kFine : Verdict::kStalling));
        CHECK(after(61) == Verdict::kStalling);
    }
}

namespace {

/** A downloader with a window in IBD. Peer 1 delivers a block each two seconds, peer 2 a hundred a
 *  second; peer 3 none. */
struct Hurried : Fixture {
    explicit Hurried(int blocks) : Fixture(blocks, true) {}
    std::vector<int32_t> Ask(PeerId peer)
    {
        BlockDownloader::Source source{peer, &chain.BestHeader()};
        source.hurried = true;
        return AskAs(source);
    }
    void Run(int seconds)
    {
        for (int i = 0; i < 100 * seconds; ++i) {
            now += kMicros / 100;
            for (const PeerId peer : {1, 2}) {
                const bool due = peer == 2 || i % 200 == 199;
                const auto heights = downloader.Requests().HeightsOf(peer);
                if (due && !heights.empty()) {
                    Deliver(peer, heights.front());
                    downloader.Stored(At(heights.front()), now);
                }
                Ask(peer);
            }
        }
    }
};

} // namespace

TEST_CASE("in a hurry peers share a window by their rates", "[block_downloader]")
{
    Hurried f(5000);
    CHECK(f.Ask(1).size() == BlockDownloader::kMinInFlight);
    CHECK(f.Ask(2).size() == BlockDownloader::kMinInFlight);
    f.Run(20);
    CHECK(f.downloader.Requests().CountTo(2) > 250);
    CHECK(f.downloader.Requests().CountTo(2) <= BlockDownloader::kMaxInFlight);
    // The old requests of the slow peer have ended; it has those of a few seconds.
    CHECK(f.downloader.Requests().CountTo(1) <= 5);
    CHECK(f.goal.WindowEnd() > kDownloadWindow + 500);
}

TEST_CASE("in a hurry a window does not wait for a silent peer", "[block_downloader]")
{
    Hurried f(1030);
    CHECK(f.Ask(3) == Heights(1, 16));
    f.Run(14);
    CHECK(f.goal.NextMissing(-1) == nullptr);
    CHECK(f.downloader.Requests().CountTo(3) == 0);
    // What the others delivered in its place is no excuse.
    CHECK(f.downloader.Requests().FindLoad(3)->stalling_since != 0);
}

TEST_CASE("a peer in whose place others delivered has time to deliver one", "[block_downloader]")
{
    Hurried f(3000);
    CHECK(f.Ask(3) == Heights(1, 16));
    f.Run(14);
    REQUIRE(f.downloader.Requests().FindLoad(3)->stalling_since != 0);
    REQUIRE(f.downloader.Requests().CountTo(3) == 0);
    f.Run(10);
    CHECK(f.downloader.Judge(3, f.now, 5'000) == Verdict::kFine); // no request is open
    CHECK_FALSE(f.Ask(3).empty());
    CHECK(f.downloader.Judge(3, f.now, 5'000) == Verdict::kFine);
    CHECK(f.downloader.Judge(3, f.now + 2 * kMicros, 5'000) == Verdict::kFine);
    CHECK(f.downloader.Judge(3, f.now + 3 * kMicros, 40'000) == Verdict::kFine); // it sends
    CHECK(f.downloader.Judge(3, f.now + 3 * kMicros, 5'000) == Verdict::kStalling);
    f.Deliver(3, f.downloader.Requests().HeightsOf(3).front());
    CHECK(f.downloader.Judge(3, f.now + 60 * kMicros, 5'000) == Verdict::kFine);
}

TEST_CASE("near the tip the blocks of a silent peer are not asked of others", "[block_downloader]")
{
    Fixture f(20, true);
    CHECK(f.Ask(1) == Heights(1, 16));
    CHECK(f.Ask(2) == Heights(17, 20));
    for (int32_t height = 17; height <= 20; ++height) f.Deliver(2, height);
    f.now += 500 * kMicros;
    CHECK(f.Ask(2).empty());
}

TEST_CASE("a block has an interval's time, and more with others", "[block_downloader]")
{
    Fixture f(100, true);
    f.Ask(1);
    CHECK(f.downloader.Judge(1, f.now + 600 * kMicros, 0) == Verdict::kFine);
    CHECK(f.downloader.Judge(1, f.now + 600 * kMicros + 1, 0) == Verdict::kTimeout);
    f.Ask(2);
    CHECK(f.downloader.Judge(1, f.now + 900 * kMicros, 0) == Verdict::kFine);
    CHECK(f.downloader.Judge(1, f.now + 900 * kMicros + 1, 0) == Verdict::kTimeout);
    f.now += 500 * kMicros;
    f.Deliver(1, 1);
    CHECK(f.downloader.Judge(1, f.now + 900 * kMicros, 0) == Verdict::kFine);
    CHECK(f.downloader.Judge(7, f.now, 0) == Verdict::kFine);
}

TEST_CASE("without a window fast peers get more, and others help", "[block_downloader]")
{
    Fixture f(3000, false);
    CHECK(f.Ask(1) == Heights(1, 16));
    CHECK(f.Ask(2) == Heights(17, 32));
    size_t most = 0;
    for (int tenth = 0; tenth < 100; ++tenth) {
        f.now += kMicros / 10;
        for (int i = 0; i < 10; ++i) { // a hundred blocks a second; 1 gives none
            f.Deliver(2, f.downloader.Requests().HeightsOf(2).front());
            f.Ask(2);
        }
        most = std::max(most, f.downloader.Requests().HeightsOf(2).size());
    }
    CHECK(most >= 300); // of three seconds
    CHECK(most <= 310);
    CHECK(f.downloader.Requests().HeightsOf(1).size() == 16);
    while (f.downloader.Requests().CountTo(2) > 0) {
        f.now += kMicros / 100;
        f.Deliver(2, f.downloader.Requests().HeightsOf(2).front());
        f.Ask(2);
    }
    CHECK(f.goal.NextMissing(-1) == nullptr); // the pending blocks of 1, too
    f.now = kStart * kMicros + 10 * kMicros;
    CHECK(f.downloader.Judge(1, f.now + 51 * kMicros, 0) == Verdict::kStalling); // silent
    // A block that could not be read is no fault of a peer.
    f.downloader.Excuse(1, f.now + 51 * kMicros);
    CHECK(f.downloader.Judge(1, f.now + 60 * kMicros, 0) == Verdict::kFine);
}

TEST_CASE("a peer that needs minutes for a block is kept while it sends", "[block_downloader]")
{
    Fixture f(20, false);
    f.Ask(1);
    const uint64_t slow = 2 * BlockDownloader::kSlowest; // bytes a second
    uint64_t received = 0;
    for (int second = 0; second < 300; ++second) {
        CHECK(f.downloader.Judge(1, f.now, received) == Verdict::kFine);
        f.now += kMicros;
        received += slow;
    }
    f.Deliver(1, f.downloader.Requests().HeightsOf(1).front());
    int silent = 0;
    while (f.downloader.Judge(1, f.now + silent * kMicros, received) == Verdict::kFine) ++silent;
    CHECK(silent == 61);
}

TEST_CASE("a peer of which nothing is known is asked for one block of another on trial",
          "[block_downloader]")
{
    Fixture f(20, false);
    CHECK(f.Ask(1) == Heights(1, 16));
    CHECK(f.Ask(2) == Heights(17, 20));
    CHECK(f.Ask(3).empty());
    f.now += BlockDownloader::kTrialAfter;
    CHECK(f.Ask(3).size() == 1);
    CHECK(f.Ask(4).size() == 1);
    f.now += 2 * BlockDownloader::kHelpAfter;
    CHECK(f.Ask(3).empty());
    CHECK(f.Ask(2).empty()); // it has not brought any of its own
}

TEST_CASE("peers in league do not hold blocks back, however many were asked", "[block_downloader]")
{
    Fixture f(400, false);
    // 9 is fast and sends all blocks but those pending at 1 to 8, which were as fast until now.
    for (PeerId peer = 1; peer <= 9; ++peer) f.Ask(peer);
    f.now += kMicros / 2;
    for (PeerId peer = 1; peer <= 9; ++peer)
        f.Deliver(peer, f.downloader.Requests().HeightsOf(peer).front());
    for (PeerId peer = 1; peer <= 8; ++peer) f.Ask(peer);
    const auto finish = [&] {
        for (int tenth = 0; f.downloader.Requests().CountTo(9) > 0; ++tenth) {
            f.now += kMicros / 10;
            for (int i = 0; i < 10 && f.downloader.Requests().CountTo(9) > 0; ++i) {
                f.Deliver(9, f.downloader.Requests().HeightsOf(9).front());
                f.Ask(9);
            }
        }
    };
    finish();
    // The others help one another before 9 is asked, which does not help.
    for (int round = 0; round < 30 && f.goal.NextMissing(-1); ++round) {
        for (PeerId peer = 1; peer <= 9; ++peer) f.Ask(peer);
        f.now += kMicros / 10;
        finish();
    }
    CHECK(f.goal.NextMissing(-1) == nullptr);
}

TEST_CASE("a peer has room for what it carries now, not for what it carried", "[block_downloader]")
{
    Fixture f(3000, false);
    f.Ask(1);
    for (int tenth = 0; tenth < 50; ++tenth) {
        f.now += kMicros / 10;
        for (int i = 0; i < 10; ++i) {
            f.Deliver(1, f.downloader.Requests().HeightsOf(1).front());
            f.Ask(1);
        }
    }
    const auto owed = f.downloader.Requests().HeightsOf(1);
    REQUIRE(owed.size() > 190);
    // It falls silent, and gives a block now and then.
    for (int i = 0; i < 100; ++i) {
        f.now += 2 * kMicros;
        f.Deliver(1, f.downloader.Requests().HeightsOf(1).front());
        CHECK(f.Ask(1).empty());
    }
    // When no other blocks are left, its pending blocks are requested from another peer: all but
    // the next.
    f.Ask(2);
    while (f.downloader.Requests().CountTo(2) > 0) {
        f.now += kMicros / 100;
        f.Deliver(2, f.downloader.Requests().HeightsOf(2).front());
        f.Ask(2);
    }
    size_t left = 0;
    for (const int32_t height : f.downloader.Requests().HeightsOf(1))
        left += !f.goal.Have(f.At(height));
    CHECK(left <= 1);
}

TEST_CASE("at the end fast peers take over at once what slow ones would bring later",
          "[block_downloader]")
{
    Fixture f(64, false);
    CHECK(f.Ask(1) == Heights(1, 16));
    CHECK(f.Ask(2) == Heights(17, 32));
    f.now += kMicros;
    for (int32_t height = 1; height <= 4; ++height) f.Deliver(1, height);
    CHECK(f.Ask(1) == Heights(33, 36)); // four a second, sixteen are pending
    for (;;) {                          // the other all that is left, at once
        f.Deliver(2, f.downloader.Requests().HeightsOf(2).front());
        if (f.downloader.Requests().CountTo(2) == 0) break;
        f.Ask(2);
    }
    CHECK(f.Ask(3) == std::vector<int32_t>{5 + 11}); // on trial: the block requested last
    f.now += BlockDownloader::kHelpInterval;
    const std::vector<int32_t> taken = f.Ask(2);
    // Those due in less than half a second are waited for.
    CHECK(taken.size() >= 12);
    CHECK(std::count(taken.begin(), taken.end(), f.downloader.Requests().HeightsOf(1).front()) ==
          0);
}

TEST_CASE("an idle peer takes over only what it brings in half the time", "[block_downloader]")
{
    Fixture f(20, false);
    CHECK(f.Ask(1) == Heights(1, 16));
    CHECK(f.Ask(2) == Heights(17, 20));
    f.now += kMicros;
    for (int32_t height = 1; height <= 6; ++height) f.Deliver(1, height);
    for (int32_t height = 17; height <= 20; ++height) f.Deliver(2, height);
    // Rates of six and four blocks a second: the last block is due in 10/6 of a second and could be
    // received in 1/4; the one before is due in 9/6, against 2/4; for the next 8/6 is less than
    // twice 3/4.
    CHECK(f.Ask(2) == std::vector<int32_t>{16, 15});
    CHECK(f.Ask(2).empty());
}

TEST_CASE("what a peer spoilt is asked of others alone", "[block_downloader]")
{
    for (const bool windowed : {true, false}) {
        Fixture f(20, windowed);
        SpoiltBlocks spoilt;
        for (const int32_t height : {1, 18}) REQUIRE(spoilt.Add(f.At(height)));
        const BlockDownloader::Source liar{1, &f.chain.BestHeader(), false, false, &spoilt};
        CHECK(f.AskAs(liar) == Heights(2, 17)); // it does not stop at what it may not be asked
        for (int32_t height = 2; height <= 17; ++height) f.Deliver(1, height);
        CHECK(f.AskAs(liar) == Heights(19, 20));
        f.Deliver(1, 19);
        f.Deliver(1, 20);
        CHECK(f.AskAs(liar).empty());
        f.downloader.GoalChanged();
        CHECK(f.AskAs(liar).empty());
        CHECK(f.Ask(2) == std::vector<int32_t>{1, 18});
        f.downloader.Disconnected(2);
        f.now += 100 * kMicros;
        CHECK(f.AskAs(liar).empty());
    }
}

TEST_CASE("blocks of one height on two branches are both asked for again", "[block_downloader]")
{
    Fixture f(5, true);
    const HeaderNode& other = f.chain.Extend(5, &f.At(0), 7, false);
    const HeaderNode& best = f.chain.BestHeader();
    REQUIRE(&other != &best);
    f.downloader.Ask({1, &best}, f.chain.Tip(), f.now);
    f.downloader.Ask({2, &other}, f.chain.Tip(), f.now);
    REQUIRE(f.downloader.Requests().CountTo(1) == 5);
    REQUIRE(f.downloader.Requests().CountTo(2) == 5);
    f.downloader.Disconnected(1);
    f.downloader.Disconnected(2);
    f.goal.delivered = {}; // nothing came
    CHECK(f.downloader.Ask({3, &best}, f.chain.Tip(), f.now).size() == 5);
    CHECK(f.downloader.Ask({4, &other}, f.chain.Tip(), f.now).size() == 5);
}

TEST_CASE("a whole chain comes from peers of every kind", "[block_downloader]")
{
    int departures = 0;
    for (int run = 0; run < 20; ++run) {
        const bool windowed = run % 2 == 0;
        Fixture f(1500, windowed);
        sim::Rng& rng = TestRng();
        std::map<PeerId, int> kinds; // 0 silent, 1 slow, 2 fast, 3 liar, 4 dies
        PeerId next = 0;
        // With a window requests for the last blocks may be pending at a silent peer for ten
        // minutes, and so may the peers asked after it.
        for (int step = 0; step < 200'000 && f.goal.NextMissing(-1); ++step) {
            const bool has_fast = std::any_of(kinds.begin(), kinds.end(),
                                              [](const auto& peer) { return peer.second == 2; });
            if (!has_fast) kinds[next++] = 2;
            while (kinds.size() < 5) kinds[next++] = int(rng() % 5);
            f.now += kMicros / 10;
            for (auto it = kinds.begin(); it != kinds.end();) {
                const auto [peer, kind] = *it;
                f.Ask(peer);
                const int gives = kind == 0 ? 0 : kind == 1 ? int(rng() % 20 == 0) : 10;
                bool gone = f.downloader.Judge(peer, f.now, 0) != Verdict::kFine;
                for (int i = 0; i < gives && !gone; ++i) {
                    const auto in_flight = f.downloader.Requests().HeightsOf(peer);
                    if (in_flight.empty()) break;
                    const HeaderNode& node = f.At(in_flight[rng() % in_flight.size()]);
                    CHECK(f.downloader.Received(peer, node, f.now));
                    if (kind == 3 && rng() % 4 == 0) {
                        if (!f.goal.Have(node)) f.downloader.Refused(node, f.now);
                        gone = true;
                    } else {
                        f.goal.delivered.insert(&node);
                    }
                    if (kind == 4 && rng() % 40 == 0) gone = true;
                }
                if (gone) {
                    f.downloader.Disconnected(peer);
                    ++departures;
                    it = kinds.erase(it);
                } else {
                    ++it;
                }
            }
        }
        CHECK(f.goal.NextMissing(-1) == nullptr);
    }
    CHECK(departures > 20);
}

} // namespace ibd
