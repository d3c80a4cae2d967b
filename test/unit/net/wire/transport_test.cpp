// Transports: messages of any type and size through pairs of them, the bytes in pieces of any size;
// messages that v1 refuses or drops; detection of the version.
#include "net/wire/v1_transport.h"
#include "net/wire/v2_transport.h"

#include "net/transport_support.h"
#include "util/hex.h"

#include <algorithm>

#include "support/catch.h"

namespace ibd {

using namespace test;

namespace {

const std::string kVerackHeader = "f9beb4d9"
                                  "76657261636b000000000000"
                                  "00000000"
                                  "5df6e0e2";

/** The result of a v1 transport for these bytes, given one at a time: type and size of a message,
 *  of one dropped the problem, of the end the error. */
std::string V1Says(const std::string& hex)
{
    V1Transport transport(kMagic);
    std::string out;
    const Bytes bytes = *FromHex(hex);
    for (const uint8_t byte : bytes) {
        ByteSpan one(&byte, 1);
        const auto result = transport.Receive(one);
        if (!result) return out + result.Message();
        CHECK(one.empty());
        if (!transport.HasMessage()) continue;
        const ReceivedMessage message = transport.TakeMessage();
        out += message.problem.empty() ? fmt::format("{} {} {};", message.type,
                                                     message.payload.size(), message.wire_size)
                                       : message.problem + ";";
    }
    return out;
}

} // namespace

TEST_CASE("v1 messages on the wire", "[transport]")
{
    V1Transport transport(kMagic);
    OutgoingMessage verack{"verack", {}};
    REQUIRE(transport.Send(verack));
    CHECK(ToHex(transport.GetToSend(false).bytes) == kVerackHeader);
    CHECK_FALSE(transport.GetToSend(false).more);
    CHECK(transport.GetToSend(true).more);
    CHECK_FALSE(transport.Send(verack)); // not before the first is written
    transport.MarkSent(24);
    CHECK(transport.GetToSend(false).bytes.empty());
    CHECK(transport.SendMemory() == 0);

    OutgoingMessage ping = MakeOutgoing(PingMessage{1});
    REQUIRE(transport.Send(ping));
    CHECK(ToHex(transport.GetToSend(false).bytes) == "f9beb4d9"
                                                     "70696e670000000000000000"
                                                     "08000000"
                                                     "08533f6b"
                                                     "0100000000000000");
    CHECK_FALSE(transport.GetToSend(false).more);
    CHECK(transport.GetToSend(false).type == "ping");
    transport.MarkSent(32);

    // A long payload is not copied behind its header.
    OutgoingMessage block{"block", Bytes(5'000, 7)};
    REQUIRE(transport.Send(block));
    CHECK(transport.GetToSend(false).bytes.size() == 24);
    CHECK(transport.GetToSend(false).more);
    transport.MarkSent(24);
    CHECK(transport.GetToSend(false).bytes.size() == 5'000);
    CHECK_FALSE(transport.GetToSend(false).more);
    transport.MarkSent(5'000);

    // A message with checksums of its own has no other.
    OutgoingMessage hints{"hintsdata", Bytes(2, 1)};
    REQUIRE(transport.Send(hints));
    CHECK(ToHex(transport.GetToSend(false).bytes) == "f9beb4d9"
                                                     "68696e747364617461000000"
                                                     "02000000"
                                                     "00000000"
                                                     "0101");
    CHECK(transport.Info().ProtocolName() == std::string("v1"));
    CHECK_FALSE(transport.ShouldReconnectV1());
}

TEST_CASE("what v1 takes, drops and ends a connection for", "[transport]")
{
    CHECK(V1Says(kVerackHeader + kVerackHeader) == "verack 0 24;verack 0 24;");
    CHECK(V1Says("ffffffff") == "");
    CHECK(V1Says("ffffffff" + kVerackHeader.substr(8)) ==
          "Header error: Wrong MessageStart ffffffff received");
    const std::string badmsg = "f9beb4d9"
                               "6261646d7367000000000000";
    CHECK(V1Says(badmsg +
                 "02000000"
                 "ffffffff"
                 "0101" +
                 kVerackHeader) ==
          "Header error: Wrong checksum (badmsg, 2 bytes), expected 632f30a6 was "
          "ffffffff;verack 0 24;");
    CHECK(V1Says(badmsg + "01093d00"
                          "ffffffff") == "Header error: Size too large (badmsg, 4000001 bytes)");
    CHECK(V1Says(badmsg + "00093d00"
                          "ffffffff") == "");
    CHECK(V1Says("f9beb4d9"
                 "62ff646d7367000000000000"
                 "00000000"
                 "5df6e0e2" +
                 kVerackHeader) ==
          "Header error: Invalid message type (bdmsg, 0 bytes);verack 0 24;");
    CHECK(V1Says("f9beb4d9"
                 "62610064000000000000"
                 "0000"
                 "00000000"
                 "5df6e0e2") == "Header error: Invalid message type (ba, 0 bytes);");
    CHECK(V1Says("f9beb4d9"
                 "6162636465666768696a6b6c"
                 "00000000"
                 "5df6e0e2") == "abcdefghijkl 0 24;");
    // A block is proven by its contents.
    CHECK(V1Says("f9beb4d9"
                 "626c6f636b00000000000000"
                 "02000000"
                 "ffffffff"
                 "0101") == "block 2 26;");
    CHECK(V1Says("f9beb4d9"
                 "68696e747364617461000000"
                 "02000000"
                 "ffffffff"
                 "0101") == "hintsdata 2 26;");
}

TEST_CASE("the longest message, whole, in pieces that end anywhere", "[transport]")
{
    V1Transport transport(kMagic);
    const Bytes header = *FromHex("f9beb4d9"
                                  "626c6f636b00000000000000"
                                  "00093d00"
                                  "00000000");
    ByteSpan bytes(header);
    REQUIRE(transport.Receive(bytes).Ok());
    const Bytes part(100'000);
    size_t given = 0;
    while (!transport.HasMessage()) {
        bytes = part;
        REQUIRE(transport.Receive(bytes).Ok());
        given += part.size() - bytes.size();
    }
    CHECK(given == kMaxPayload);
    CHECK(transport.TakeMessage().payload == Bytes(kMaxPayload));
}

TEST_CASE("pairs of transports carry the same messages", "[transport]")
{
    for (int round = 0; round < 60; ++round) {
        // v1 to v1, v2 to v2, and v1 to one that takes both.
        const bool caller_v2 = round % 3 == 1, called_v2 = round % 3 != 0;
        const auto make = [](bool v2, bool initiator) -> std::unique_ptr<Transport> {
            if (v2) return MakeV2(initiator);
            return std::make_unique<V1Transport>(kMagic);
        };
        const std::unique_ptr<Transport> caller = make(caller_v2, true);
        const std::unique_ptr<Transport> called = make(called_v2, false);
        TransportPair pair(*caller, *called);
        for (int i = 0; i < 30; ++i) {
            OutgoingMessage message = RandomMessage();
            if (i == 0) message = {"version", RandomBytes(100)}; // by which v1 is known
            pair.Queue(i > 0 && RandomBelow(2) == 0, std::move(message));
        }
        REQUIRE(pair.RunToEnd() == "");
        CHECK(pair.Received(false) == pair.Sent(true));
        CHECK(pair.Received(true) == pair.Sent(false));
        const TransportInfo info = caller->Info();
        CHECK(info.ProtocolName() == std::string(caller_v2 ? "v2" : "v1"));
        CHECK(info.session_id == called->Info().session_id);
        CHECK(info.session_id.has_value() == caller_v2);
        CHECK(called->Info().protocol == info.protocol);
        CHECK(caller->SendMemory() == 0);
        CHECK_FALSE(caller->ShouldReconnectV1());
        CHECK_FALSE(called->ShouldReconnectV1());
    }
}

} // namespace ibd
