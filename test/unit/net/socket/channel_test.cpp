// Channel: when receiving and sending pause, for one connection and for all together.
#include "net/socket/channel.h"

#include "net/seeded_env.h"

#include "support/catch.h"

namespace ibd {

namespace {

constexpr size_t kMax = 5'000'000; //!< -maxreceivebuffer, -maxsendbuffer
constexpr size_t kLong = 4'000'000 - Channel::kMessageOverhead;

struct Rooms {
    test::SeededEnv env{1};
    InputRoom input = InputRoom::Called(env);
    OutputRoom output;

    std::unique_ptr<Channel> NewChannel()
    {
        return std::make_unique<Channel>(kMax, kMax, input, output);
    }
};

} // namespace

TEST_CASE("Channel: one connection receives until -maxreceivebuffer is unread", "[net]")
{
    Rooms rooms;
    const auto channel = rooms.NewChannel();
    CHECK_FALSE(channel->AddUnread(kLong));
    CHECK(channel->AddUnread(kLong));
    CHECK(channel->Consumed(kLong));
    CHECK_FALSE(channel->Consumed(kLong));
}

TEST_CASE("Channel: with much unread in all, connections without any go on receiving", "[net]")
{
    Rooms rooms;
    std::vector<std::unique_ptr<Channel>> channels;
    const auto add = [&] {
        channels.push_back(rooms.NewChannel());
        return channels.back()->AddUnread(kLong);
    };
    for (size_t bytes = 4'000'000; bytes <= InputRoom::kCalledBytes; bytes += 4'000'000) {
        CHECK_FALSE(add());
    }
    REQUIRE_FALSE(rooms.input.IsFull());
    CHECK(add()); // after one message each
    CHECK(add());
    REQUIRE(rooms.input.IsFull());
    // A short message pauses too, until it was processed.
    const auto late = rooms.NewChannel();
    CHECK(late->AddUnread(10));
    CHECK(late->AddUnread(20)); // of the same bytes received
    CHECK_FALSE(late->Consumed(10));
    CHECK(late->Consumed(20));
    CHECK(late->AddUnread(10));

    // A closed connection makes room for the others.
    channels.pop_back();
    CHECK(rooms.input.IsFull());
    channels.pop_back();
    CHECK_FALSE(rooms.input.IsFull());
    CHECK_FALSE(late->AddUnread(10));
    CHECK_FALSE(late->Consumed(10)); // it receives already
}

TEST_CASE("Channel: a pause ends when there is room for all again", "[net]")
{
    Rooms rooms;
    const auto first = rooms.NewChannel();
    rooms.input.Add(InputRoom::kCalledBytes); // of others
    CHECK(first->AddUnread(1'000));
    CHECK(first->AddUnread(1'000));
    rooms.input.Subtract(2'000 + 2 * Channel::kMessageOverhead);
    CHECK(first->Consumed(1'000)); // although it has more unread
    rooms.input.Subtract(rooms.input.Bytes() - 1'000 - Channel::kMessageOverhead);
}

TEST_CASE("Channel: one connection is sent to until -maxsendbuffer is queued", "[net]")
{
    Rooms rooms;
    const auto channel = rooms.NewChannel();
    const auto queue = [](Channel& to) { (void)to.Queue({"block", Bytes(kLong)}); };
    queue(*channel);
    CHECK_FALSE(channel->SendPaused());
    queue(*channel);
    CHECK(channel->SendPaused());
    // The transport holds what it was given.
    CHECK(channel->Take()->payload.size() == kLong);
    channel->SetTransportMemory(2 * kLong);
    CHECK(channel->SendPaused());
    CHECK_FALSE(channel->TakeRelief());
    channel->SetTransportMemory(0);
    CHECK(channel->TakeRelief());
}

TEST_CASE("Channel: with much queued in all, a connection is sent one answer at a time", "[net]")
{
    Rooms rooms;
    std::vector<std::unique_ptr<Channel>> channels;
    while (!rooms.output.IsFull()) {
        channels.push_back(rooms.NewChannel());
        (void)channels.back()->Queue({"block", Bytes(kLong)});
    }
    for (const auto& channel : channels) CHECK(channel->SendPaused());
    const auto late = rooms.NewChannel();
    CHECK_FALSE(late->SendPaused());
    (void)late->Queue({"pong", Bytes(8)});
    CHECK(late->SendPaused());
    CHECK(late->Take());
    late->SetTransportMemory(32);
    CHECK(late->SendPaused());
    late->SetTransportMemory(0);
    CHECK(late->TakeRelief());

    // A closed connection frees its memory for the others, also that of queued and handed-over
    // messages.
    (void)late->Queue({"pong", Bytes(8)});
    REQUIRE(late->SendPaused());
    CHECK(channels.back()->Take());
    channels.back()->SetTransportMemory(kLong);
    (void)channels.back()->Queue({"pong", Bytes(8)});
    CHECK(late->SendPaused());
    channels.pop_back();
    CHECK_FALSE(late->SendPaused());
}

} // namespace ibd
