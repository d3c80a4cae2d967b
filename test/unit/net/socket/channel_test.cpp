// Channel: when receiving pauses, for one connection and for all together.
#include "net/socket/channel.h"

#include "support/catch.h"

namespace ibd {

namespace {

constexpr size_t kMax = 5'000'000; //!< -maxreceivebuffer
constexpr size_t kLong = 4'000'000 - Channel::kMessageOverhead;

} // namespace

TEST_CASE("Channel: one connection receives until -maxreceivebuffer is unread", "[net]")
{
    UnreadTotal total;
    Channel channel(1, kMax, total);
    CHECK_FALSE(channel.AddUnread(kLong));
    CHECK(channel.AddUnread(kLong));
    CHECK(channel.Consumed(kLong));
    CHECK_FALSE(channel.Consumed(kLong));
}

TEST_CASE("Channel: with much unread in all, connections without any go on receiving", "[net]")
{
    UnreadTotal total;
    std::vector<std::unique_ptr<Channel>> channels;
    const auto add = [&] {
        channels.push_back(std::make_unique<Channel>(1, kMax, total));
        return channels.back()->AddUnread(kLong);
    };
    for (size_t bytes = 4'000'000; bytes <= UnreadTotal::kMaxBytes; bytes += 4'000'000) {
        CHECK_FALSE(add());
    }
    REQUIRE_FALSE(total.IsFull());
    CHECK(add()); // after one message each
    CHECK(add());
    REQUIRE(total.IsFull());
    // A short message pauses too, until it was processed.
    Channel late(1, kMax, total);
    CHECK(late.AddUnread(10));
    CHECK(late.AddUnread(20)); // of the same bytes received
    CHECK_FALSE(late.Consumed(10));
    CHECK(late.Consumed(20));
    CHECK(late.AddUnread(10));

    // A closed connection makes room for the others.
    channels.pop_back();
    CHECK(total.IsFull());
    channels.pop_back();
    CHECK_FALSE(total.IsFull());
    CHECK_FALSE(late.AddUnread(10));
    CHECK_FALSE(late.Consumed(10)); // it receives already
}

TEST_CASE("Channel: a pause ends when there is room for all again", "[net]")
{
    UnreadTotal total;
    Channel first(1, kMax, total);
    total.Add(UnreadTotal::kMaxBytes); // of others
    CHECK(first.AddUnread(1'000));
    CHECK(first.AddUnread(1'000));
    total.Subtract(2'000 + 2 * Channel::kMessageOverhead);
    CHECK(first.Consumed(1'000)); // although it has more unread
}

} // namespace ibd
