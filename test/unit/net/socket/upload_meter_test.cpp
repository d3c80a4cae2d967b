// -maxuploadtarget: the rest of a day's budget, and the requests refused when it is short.
#include "net/socket/upload_meter.h"

#include "net/peer_support.h"

#include "support/catch.h"

namespace ibd {

using namespace test;

TEST_CASE("a day's upload", "[upload]")
{
    constexpr uint64_t kDayOfBlocks = 144 * 4'000'000ULL;
    UploadMeter none(0);
    none.Update(1'000'000'000'000, 1'000'000);
    CHECK_FALSE(none.IsReached());
    CHECK(none.ServesHistorical(1'000'000));
    CHECK(none.SecondsLeft(1'000'000) == 0);

    UploadMeter meter(kDayOfBlocks + 1'000);
    CHECK(meter.SecondsLeft(1'000'000) == 86'400); // nothing was sent yet
    CHECK(meter.ServesHistorical(1'000'000));
    meter.Update(999, 1'000'000);
    CHECK(meter.ServesHistorical(1'000'000));
    meter.Update(1'000, 1'000'000);
    CHECK_FALSE(meter.ServesHistorical(1'000'000)); // the rest is for new blocks
    CHECK(meter.ServesHistorical(1'000'600));       // of which one less can come
    CHECK(meter.BytesLeft() == kDayOfBlocks);
    CHECK_FALSE(meter.IsReached());
    meter.Update(kDayOfBlocks + 1'000, 1'080'000);
    CHECK(meter.IsReached());
    CHECK(meter.BytesLeft() == 0);
    CHECK(meter.SecondsLeft(1'080'000) == 6'400);
    CHECK(meter.SecondsLeft(2'000'000) == 0);
    meter.Update(kDayOfBlocks + 1'001, 1'086'401); // another day
    CHECK_FALSE(meter.IsReached());
    CHECK(meter.BytesLeft() == kDayOfBlocks + 999);

    UploadMeter small(1'000'000); // never enough for all blocks of a day
    CHECK_FALSE(small.ServesHistorical(1'000'000));
}

TEST_CASE("requests for old blocks when they may not be uploaded", "[upload]")
{
    TestNode node(RegtestParams());
    node.chain.first_time = kStart - 30 * 86'400;
    const HeaderNode& old = node.chain.Extend(2);
    node.chain.first_time = kStart - 1'000;
    const HeaderNode& fresh = node.chain.Extend(1);
    const auto served = [&](const HeaderNode& block, uint32_t permissions, bool may) {
        node.link.may_upload_history = may;
        const PeerId id = node.Befriend(ConnectionKind::kInbound, "8.8.8.8:1", permissions);
        node.Say(id, RequestFor(kInvWitnessBlock, {block.hash}));
        const auto types = node.Types(id);
        CHECK(node.IsClosed(id) == types.empty());
        return types == std::vector<std::string>{"block"};
    };
    CHECK(served(old, kPermitNone, true));
    CHECK_FALSE(served(old, kPermitNone, false));
    CHECK(served(old, kPermitDownload, false));
    CHECK(served(fresh, kPermitNone, false));
}

} // namespace ibd
