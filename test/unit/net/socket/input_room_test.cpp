// InputRoom: long messages of strangers have room reserved, in order of arrival, for a time.
#include "net/socket/input_room.h"

#include "net/seeded_env.h"
#include "net/wire/protocol.h"

#include "support/catch.h"

namespace ibd {

using namespace test;

namespace {

constexpr size_t kShort = InputRoom::kShortMessage;

struct Sender final : RoomUser {
    explicit Sender(InputRoom& room) { message.emplace(room, *this); }
    void EndIfSlow(int64_t now) override
    {
        if (message && message->IsOverdue(now)) message.reset();
    }
    /** The bytes of a message of `size` bytes that may be received. */
    size_t Send(size_t size, size_t left = 1) { return message->MayReceive(size, left); }

    std::optional<MessageRoom> message;
};

} // namespace

TEST_CASE("InputRoom: short messages need no room, long ones wait for theirs in order", "[net]")
{
    SeededEnv env(1);
    InputRoom room = InputRoom::Strangers(env);
    std::deque<Sender> peers;
    for (int i = 0; i < 6; ++i) peers.emplace_back(room);
    CHECK(peers[0].Send(0, 0) == kShort);
    CHECK(peers[0].Send(kShort, kShort) == kShort);
    CHECK(room.Bytes() == 0);
    for (size_t i = 0; i < 3; ++i) {
        CHECK(peers[i].Send(kMaxPayload, 100'000) == 100'000 + kShort);
        CHECK(peers[i].Send(kMaxPayload, 1'000) == 1'000 + kShort); // once
    }
    CHECK(room.Bytes() == 3 * kMaxPayload);
    CHECK(peers[3].Send(kMaxPayload) == 0);
    CHECK(peers[4].Send(kShort + 1) == 0); // it would fit, but another waits
    CHECK(peers[3].Send(kMaxPayload) == 0);
    CHECK(peers[5].Send(kShort) == kShort);

    peers[1].message->Arrived();
    CHECK(room.Bytes() == 2 * kMaxPayload);
    CHECK(peers[1].Send(kMaxPayload) == 0); // its next one
    CHECK(peers[4].Send(kShort + 1) == 0);
    CHECK(peers[3].Send(kMaxPayload) == 1 + kShort);
    CHECK(peers[4].Send(kShort + 1) == 1 + kShort);

    // Unread messages of any sender count.
    room.Add(kMaxPayload);
    peers[0].message->Arrived();
    CHECK(peers[1].Send(kMaxPayload) == 0);
    room.Subtract(kMaxPayload);
    CHECK(peers[1].Send(kMaxPayload) == 1 + kShort);
}

TEST_CASE("InputRoom: a peer that leaves, or sends no message, gives its room back", "[net]")
{
    SeededEnv env(1);
    InputRoom room = InputRoom::Strangers(env);
    Sender first(room), second(room), third(room);
    room.Add(InputRoom::kStrangersBytes - kMaxPayload);
    CHECK(first.Send(kMaxPayload) > 0);
    CHECK(second.Send(kMaxPayload) == 0);
    CHECK(third.Send(kMaxPayload) == 0);
    second.message.reset(); // it does not hold up those behind it
    first.message.reset();
    CHECK(third.Send(kMaxPayload) > 0);
    // Another packet follows, of which none becomes a message.
    CHECK(third.Send(kMaxPayload / 2) > 0);
    CHECK(room.Bytes() == InputRoom::kStrangersBytes - kMaxPayload / 2);
    third.message.reset();
    CHECK(room.Bytes() == InputRoom::kStrangersBytes - kMaxPayload);
}

TEST_CASE("InputRoom: a long message has its time, and more if none waits", "[net]")
{
    SeededEnv env(1);
    InputRoom room = InputRoom::Strangers(env);
    std::deque<Sender> peers;
    for (int i = 0; i < 5; ++i) peers.emplace_back(room);
    for (size_t i = 0; i < 3; ++i) REQUIRE(peers[i].Send(kMaxPayload) > 0);
    peers[2].message->Arrived();
    env.micros_for_a_look = InputRoom::kPatience / 2;
    REQUIRE(peers[2].Send(kMaxPayload) > 0);
    CHECK(peers[3].Send(kMaxPayload) > 0); // in place of the slow ones
    CHECK_FALSE(peers[0].message);
    CHECK_FALSE(peers[1].message);
    CHECK(peers[2].message);
    env.micros_for_a_look = 0;
    CHECK(peers[4].Send(kMaxPayload) > 0);
}

TEST_CASE("InputRoom: short messages leave room for a long one", "[net]")
{
    SeededEnv env(1);
    InputRoom room = InputRoom::Strangers(env);
    Sender peer(room);
    room.Add(InputRoom::kStrangersPause);
    CHECK_FALSE(room.IsFull());
    room.Add(1);
    CHECK(room.IsFull());
    CHECK(peer.Send(kMaxPayload) > 0);
}

} // namespace ibd
