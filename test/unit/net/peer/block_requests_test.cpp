// The account of requested blocks: the pending blocks of each peer, in order, and the blocks that
// were given back.
#include "net/peer/block_requests.h"

#include "net/peer_support.h"

#include "support/catch.h"

namespace ibd {

using namespace test;

namespace {

struct RequestsKit {
    RequestsKit() : params(RegtestParams()), chain(params) { chain.Extend(10); }
    const HeaderNode& At(int height) { return *chain.Tip().Ancestor(height); }
    std::vector<PeerId> AskedOf(int height)
    {
        const auto peers = requests.AskedOf(At(height));
        return {peers.begin(), peers.end()};
    }
    /** Heights of the blocks to be requested again, and the time of the request. */
    std::map<int32_t, int64_t> GivenBack()
    {
        std::map<int32_t, int64_t> out;
        for (const auto& [key, since] : requests.GivenBack()) out[key.first] = since;
        return out;
    }

    const ChainParams params;
    TestChain chain;
    BlockRequests requests;
};

} // namespace

TEST_CASE("a peer that helps is the first one asked when that one is gone", "[block_requests]")
{
    RequestsKit kit;
    CHECK(kit.requests.OnlyHelps(2)); // it has no requests
    kit.requests.Add(1, {&kit.At(3), &kit.At(2)}, 100);
    kit.requests.Add(2, {&kit.At(2)}, 200);
    CHECK_FALSE(kit.requests.OnlyHelps(1));
    CHECK(kit.requests.OnlyHelps(2));
    kit.requests.RemovePeer(1);
    CHECK_FALSE(kit.requests.OnlyHelps(2));
}

TEST_CASE("each request counts once, for its peer and its block", "[block_requests]")
{
    RequestsKit kit;
    CHECK(kit.requests.Empty());
    kit.requests.Add(1, {&kit.At(3), &kit.At(2)}, 100);
    kit.requests.Add(2, {&kit.At(2)}, 200);
    CHECK(kit.requests.HeightsOf(1) == std::vector<int32_t>{3, 2});
    CHECK(kit.requests.CountTo(2) == 1);
    CHECK(kit.AskedOf(2) == std::vector<PeerId>{1, 2});
    CHECK(kit.requests.Blocks().size() == 2);
    CHECK(kit.requests.Blocks().at(&kit.At(2)).since == 100);
    CHECK(kit.requests.IsAskedOf(1, kit.At(3)));
    CHECK_FALSE(kit.requests.IsAskedOf(2, kit.At(3)));

    kit.requests.Remove(2, kit.At(3), 300); // not asked for it: nothing changes
    CHECK(kit.requests.IsAsked(kit.At(3)));
    kit.requests.RemoveAll(kit.At(2), 300);
    CHECK_FALSE(kit.requests.IsAsked(kit.At(2)));
    CHECK(kit.requests.HeightsOf(1) == std::vector<int32_t>{3});
    CHECK(kit.requests.CountTo(2) == 0);
    kit.requests.Remove(1, kit.At(3), 400);
    CHECK(kit.requests.Empty());
    CHECK(kit.GivenBack().empty());
}

TEST_CASE("a request that ends tells when the next one is awaited", "[block_requests]")
{
    RequestsKit kit;
    kit.requests.Add(1, {&kit.At(1), &kit.At(2), &kit.At(3)}, 100);
    BlockRequests::Load& load = kit.requests.LoadOf(1);
    CHECK(load.first_since == 100);
    load.stalling_since = 150;
    kit.requests.Remove(1, kit.At(2), 200); // not the first: that is awaited as before
    CHECK(load.first_since == 100);
    CHECK(load.last_received == 200);
    CHECK(load.stalling_since == 0);
    kit.requests.Remove(1, kit.At(1), 300);
    CHECK(load.first_since == 300);
    CHECK(kit.requests.FindLoad(2) == nullptr);
}

TEST_CASE("blocks of a peer that leaves are owed since their first request", "[block_requests]")
{
    RequestsKit kit;
    kit.requests.Add(1, {&kit.At(1), &kit.At(2)}, 100);
    kit.requests.Add(2, {&kit.At(2)}, 200);
    kit.requests.RemovePeer(1);
    CHECK(kit.GivenBack() == std::map<int32_t, int64_t>{{1, 100}}); // the other is still expected
    CHECK(kit.AskedOf(2) == std::vector<PeerId>{2});
    CHECK(kit.requests.FindLoad(1) == nullptr);
    kit.requests.Add(3, {&kit.At(1)}, 300);
    CHECK(kit.GivenBack().empty());
    CHECK(kit.requests.Blocks().at(&kit.At(1)).since == 100);
    kit.requests.RemovePeer(4); // was never asked
    CHECK(kit.requests.Blocks().size() == 2);
}

TEST_CASE("a partial block belongs to one request and ends with it", "[block_requests]")
{
    RequestsKit kit;
    kit.requests.Add(1, {&kit.At(1)}, 100);
    kit.requests.Add(2, {&kit.At(1)}, 100);
    CHECK_FALSE(kit.requests.Partial(1, kit.At(1)));
    auto& partial = kit.requests.Partial(1, kit.At(1));
    partial = std::make_unique<PartialBlock>();
    CHECK(kit.requests.Partial(1, kit.At(1)));
    CHECK_FALSE(kit.requests.Partial(2, kit.At(1)));
    kit.requests.Remove(1, kit.At(1), 200);
    kit.requests.Add(1, {&kit.At(1)}, 300);
    CHECK_FALSE(kit.requests.Partial(1, kit.At(1)));
}

} // namespace ibd
