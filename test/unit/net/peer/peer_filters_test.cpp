// Block filters for peers (BIP157): answers, bounds, violations, order and the wait for the index.
#include "net/peer/filter_provider.h"
#include "net/peer_support.h"
#include "net/wire/protocol.h"

#include "support/catch.h"

using namespace ibd;
using namespace ibd::test;

namespace {

constexpr int kBlocks = 2'500;

/** Filters that name their block. */
class FakeFilters final : public FilterProvider {
public:
    static Uint256 HashOf(const HeaderNode& block) { return Uint256(Sha256Of(block.hash.Span())); }
    static Uint256 HeaderOf(const HeaderNode& block) { return Uint256(Sha256d(block.hash.Span())); }

    Found<Entry> FilterEntry(const HeaderNode& block) override
    {
        if (block.height > indexed) return std::nullopt;
        return Entry{HashOf(block), HeaderOf(block)};
    }
    Found<Bytes> Filter(const HeaderNode& block) override
    {
        ++read;
        if (block.height > indexed) return std::nullopt;
        return Bytes(block.hash.Span().begin(), block.hash.Span().end());
    }

    int indexed = INT32_MAX; //!< height
    int read = 0;
};

struct Serving {
    explicit Serving(uint64_t services = kNodeNetwork | kNodeWitness | kNodeCompactFilters)
        : node(RegtestParams(), WithServices(services), 1, nullptr, nullptr, nullptr, nullptr,
               &filters)
    {
        node.chain.Extend(kBlocks);
        peer = node.Befriend(ConnectionKind::kInbound);
    }
    const HeaderNode& At(int height) { return *node.chain.Tip().Ancestor(height); }

    template <typename Message>
    Message Request(uint32_t start, const BlockHash& stop, uint8_t type = 0)
    {
        Message out;
        out.filter_type = type;
        out.start_height = start;
        out.stop = stop;
        return out;
    }
    template <typename Message>
    void Ask(uint32_t start, int stop)
    {
        node.Say(peer, Request<Message>(start, At(stop).hash));
    }

    FakeFilters filters;
    TestNode node;
    PeerId peer = -1;
};

} // namespace

TEST_CASE("filters of a range, one message each, up to a thousand", "[filters]")
{
    Serving s;
    s.Ask<GetCFiltersMessage>(0, 0);
    auto sent = s.node.Take<CFilterMessage>(s.peer);
    REQUIRE(sent.size() == 1);
    CHECK(sent[0].block == s.At(0).hash);
    s.Ask<GetCFiltersMessage>(1'001, 2'000);
    sent = s.node.Take<CFilterMessage>(s.peer);
    REQUIRE(sent.size() == kMaxBlockFilters);
    for (size_t i = 0; i < sent.size(); ++i) {
        const HeaderNode& block = s.At(1'001 + int(i));
        CHECK((sent[i].filter_type == 0 && sent[i].block == block.hash));
        CHECK(AsChars(sent[i].filter) == AsChars(block.hash.Span()));
    }
    CHECK_FALSE(s.node.IsClosed(s.peer));
}

TEST_CASE("headers of filters and checkpoints", "[filters]")
{
    Serving s;
    s.Ask<GetCFHeadersMessage>(0, 1'999);
    auto sent = s.node.Take<CFHeadersMessage>(s.peer);
    REQUIRE(sent.size() == 1);
    CHECK(sent[0].previous_header.IsNull());
    REQUIRE(sent[0].filter_hashes.size() == kMaxFilterHeaders);
    CHECK(sent[0].filter_hashes[7] == FakeFilters::HashOf(s.At(7)));
    s.Ask<GetCFHeadersMessage>(500, 501);
    sent = s.node.Take<CFHeadersMessage>(s.peer);
    REQUIRE(sent.size() == 1);
    CHECK(sent[0].stop == s.At(501).hash);
    CHECK(sent[0].previous_header == FakeFilters::HeaderOf(s.At(499)));
    CHECK(sent[0].filter_hashes ==
          std::vector{FakeFilters::HashOf(s.At(500)), FakeFilters::HashOf(s.At(501))});
    for (const auto& [stop, count] : {std::pair{0, 0}, {999, 0}, {1'000, 1}, {2'499, 2}}) {
        s.node.Say(s.peer, GetCFCheckptMessage{0, s.At(stop).hash});
        const auto points = s.node.Take<CFCheckptMessage>(s.peer);
        REQUIRE(points.size() == 1);
        REQUIRE(points[0].headers.size() == size_t(count));
        CHECK(points[0].stop == s.At(stop).hash);
        if (count > 0) CHECK(points[0].headers[0] == FakeFilters::HeaderOf(s.At(1'000)));
    }
}

TEST_CASE("peers with impossible requests for filters are dropped", "[filters]")
{
    Serving s;
    const auto dropped = [&](const auto& request) {
        const PeerId peer = s.node.Befriend(ConnectionKind::kInbound, "9.9.9.9:8333");
        s.node.Say(peer, request);
        CHECK(s.node.Types(peer).empty());
        return s.node.IsClosed(peer);
    };
    const BlockHash tip = s.At(kBlocks).hash;
    const BlockHash unknown = Uint256(Sha256d(Bytes{1}));
    const BlockHash stale = s.node.chain.Extend(1, &s.At(5), 9, false).hash; // a young one
    using Filters = GetCFiltersMessage;
    using Headers = GetCFHeadersMessage;
    CHECK(dropped(s.Request<Filters>(kBlocks - 1'000, tip)));
    CHECK(dropped(s.Request<Headers>(kBlocks - 2'000, tip)));
    CHECK(dropped(s.Request<Filters>(kBlocks + 1, tip)));
    CHECK(dropped(s.Request<Headers>(UINT32_MAX, tip)));
    CHECK(dropped(s.Request<Filters>(0, unknown)));
    CHECK(dropped(s.Request<Filters>(kBlocks, tip, 1)));
    CHECK(dropped(GetCFCheckptMessage{1, tip}));
    CHECK(dropped(GetCFCheckptMessage{0, unknown}));
    const PeerId curious = s.node.Befriend(ConnectionKind::kInbound, "9.9.9.9:8333");
    s.node.Say(curious, s.Request<Filters>(6, stale));
    CHECK(s.node.Take<CFilterMessage>(curious).size() == 1);
    CHECK_FALSE(s.node.IsClosed(s.peer));

    Serving without(kNodeNetwork | kNodeWitness);
    without.Ask<Filters>(5, 5);
    CHECK(without.node.IsClosed(without.peer));
    CHECK(without.filters.read == 0);
}

TEST_CASE("filters leave while the peer takes them, and before its next request is read",
          "[filters]")
{
    Serving s;
    s.node.link.paused.insert(s.peer);
    s.Ask<GetCFiltersMessage>(1, 100);
    s.node.Say(s.peer, PingMessage{77});
    CHECK(s.filters.read == 0);
    s.node.link.paused.clear();
    s.node.Run();
    std::vector<std::string> expected(100, "cfilter");
    expected.emplace_back("pong");
    CHECK(s.node.Types(s.peer) == expected);
}

TEST_CASE("a request for the newest filters waits for the index, for a while", "[filters]")
{
    Serving s;
    s.filters.indexed = kBlocks - 1;
    s.Ask<GetCFHeadersMessage>(kBlocks - 1, kBlocks);
    CHECK(s.node.Types(s.peer).empty());
    SECTION("it comes")
    {
        s.filters.indexed = kBlocks;
        s.node.Run();
        CHECK(s.node.Take<CFHeadersMessage>(s.peer).size() == 1);
    }
    SECTION("it does not come: no answer, but the peer is read again")
    {
        s.node.MoveTime(FilterServing::kAwaitTime / kSecond + 1);
        s.node.Say(s.peer, PingMessage{77});
        CHECK(s.node.Take<CFHeadersMessage>(s.peer).empty());
        CHECK_FALSE(s.node.IsClosed(s.peer));
        s.Ask<GetCFHeadersMessage>(kBlocks - 10, kBlocks - 1);
        CHECK(s.node.Take<CFHeadersMessage>(s.peer).size() == 1);
    }
    SECTION("far below the tip there is no wait")
    {
        Serving far;
        far.filters.indexed = 5;
        far.Ask<GetCFiltersMessage>(1, 100);
        far.node.Say(far.peer, PingMessage{77});
        CHECK(far.node.Types(far.peer) == std::vector<std::string>{"pong"});
    }
}
