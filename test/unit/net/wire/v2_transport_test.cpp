// BIP324: its vectors of packets, decoys and garbage, and every way in which a handshake or a
// packet can be wrong. The other side is written out here over V2Cipher.
#include "net/wire/v2_transport.h"

#include "crypto/secp256k1.h"
#include "net/transport_support.h"
#include "support/hex_array.h"
#include "util/hex.h"
#include "util/strings.h"

#include "support/catch.h"

namespace ibd {

using namespace test;

namespace {

/** The other side of a connection, free to send what it likes. */
class ScriptedPeer {
public:
    ScriptedPeer(V2Transport& transport, bool initiator)
        : m_transport(transport), m_initiator(initiator), m_secrets(TestSecrets(0)),
          m_key(MakeEllSwiftKey(m_secrets.key, m_secrets.entropy))
    {
    }

    /** Gives bytes to the transport; returns its error, "" for none. */
    std::string Give(ByteSpan bytes)
    {
        while (!bytes.empty()) {
            const auto result = m_transport.Receive(bytes);
            if (!result) return result.Message();
            if (!m_transport.HasMessage()) continue;
            const ReceivedMessage message = m_transport.TakeMessage();
            if (!message.problem.empty()) return message.problem;
            m_got += fmt::format("{}:{} ", message.type, ToHex(message.payload));
        }
        return "";
    }

    std::string GiveKey() { return Give(m_key); }

    /** Reads what the transport has to send. */
    Bytes Read()
    {
        Bytes out;
        for (;;) {
            const ByteSpan bytes = m_transport.GetToSend(false).bytes;
            if (bytes.empty()) return out;
            Append(out, bytes);
            m_transport.MarkSent(bytes.size());
        }
    }

    /** From the transport's first bytes. */
    void MakeCipher(ByteSpan first)
    {
        EllSwiftKey theirs;
        std::copy_n(first.begin(), theirs.size(), theirs.begin());
        m_cipher.emplace(kMagic, m_secrets.key, m_key, theirs, m_initiator);
    }

    Bytes Packet(Bytes contents, ByteSpan extra = {}, bool decoy = false)
    {
        Bytes out(V2Cipher::kLengthSize + V2Cipher::kHeaderSize);
        const auto tag = m_cipher->Encrypt(out, contents, extra, decoy);
        Append(out, contents);
        Append(out, tag);
        return out;
    }

    Bytes Terminator() const
    {
        return {m_cipher->SendTerminator().begin(), m_cipher->SendTerminator().end()};
    }

    /** Both keys exchanged, no garbage of ours, version packet sent. */
    void Shake()
    {
        if (m_initiator) REQUIRE(GiveKey() == "");
        const Bytes first = Read();
        MakeCipher(first);
        if (!m_initiator) REQUIRE(GiveKey() == "");
        REQUIRE(Give(Terminator()) == "");
        REQUIRE(Give(Packet({})) == "");
    }

    const std::string& Got() const { return m_got; }

private:
    V2Transport& m_transport;
    const bool m_initiator;
    V2Secrets m_secrets;
    EllSwiftKey m_key;
    std::optional<V2Cipher> m_cipher;
    std::string m_got;
};

V2Transport Called() { return V2Transport(kMagic, false, TestSecrets(100)); }

} // namespace

TEST_CASE("the vectors of BIP324", "[v2]")
{
    const auto path = TestData("bips/bip324-packet_encoding_test_vectors.csv");
    if (!path) return;
    const Bytes text = ReadTestFile(*path);
    const auto lines = Split(AsChars(text), '\n');
    const auto names = Split(Trim(lines[0]), ',');
    size_t run = 0;
    for (size_t i = 1; i < lines.size(); ++i) {
        const auto fields = Split(Trim(lines[i]), ',');
        if (fields.size() < names.size()) continue;
        const auto field = [&](std::string_view name) {
            return fields[size_t(std::find(names.begin(), names.end(), name) - names.begin())];
        };
        INFO("line " << i + 1);
        const auto secret = FromHexArray<Hash32>(field("in_priv_ours"));
        const auto ours = FromHexArray<EllSwiftKey>(field("in_ellswift_ours"));
        const auto theirs = FromHexArray<EllSwiftKey>(field("in_ellswift_theirs"));
        const bool initiator = field("in_initiating") == "1";
        CHECK(ToHex(Signer().XOnlyPublicKey(secret)) == field("mid_x_ours"));
        CHECK(ToHex(EllSwiftSharedSecret(secret, ours, theirs, initiator)) ==
              field("mid_shared_secret"));
        V2Cipher cipher(kMagic, secret, ours, theirs, initiator);
        CHECK(ToHex(cipher.SessionId()) == field("out_session_id"));
        CHECK(ToHex(cipher.SendTerminator()) == field("mid_send_garbage_terminator"));
        CHECK(ToHex(cipher.ReceiveTerminator()) == field("mid_recv_garbage_terminator"));

        Bytes head(4);
        for (int n = *ParseInteger<int>(field("in_idx")); n > 0; --n) cipher.Encrypt(head, {}, {});
        Bytes contents;
        for (int n = *ParseInteger<int>(field("in_multiply")); n > 0; --n) {
            Append(contents, *FromHex(field("in_contents")));
        }
        const auto tag =
            cipher.Encrypt(head, contents, *FromHex(field("in_aad")), field("in_ignore") == "1");
        const std::string packet = ToHex(head) + ToHex(contents) + ToHex(tag);
        if (!field("out_ciphertext").empty()) CHECK(packet == field("out_ciphertext"));
        CHECK(std::string_view(packet).ends_with(field("out_ciphertext_endswith")));
        ++run;
    }
    CHECK(run >= 5);
}

TEST_CASE("handshakes with garbage and decoys", "[v2]")
{
    for (const bool initiator : {false, true}) {
        for (const size_t size : {size_t{0}, size_t{1}, size_t{15}, size_t{500}, size_t{4095}}) {
            V2Transport transport(kMagic, !initiator, TestSecrets(4095 - size));
            ScriptedPeer peer(transport, initiator);
            if (initiator) REQUIRE(peer.GiveKey() == "");
            peer.MakeCipher(peer.Read());
            if (!initiator) REQUIRE(peer.GiveKey() == "");
            CHECK(transport.Info().ProtocolName() == std::string("detecting"));
            const Bytes garbage = RandomBytes(size);
            Bytes bytes = garbage;
            Append(bytes, peer.Terminator());
            // The first packet proves the garbage, decoy or not; then the version packet, whatever
            // it has; then decoys between messages.
            Append(bytes, peer.Packet(RandomBytes(50), garbage, true));
            Append(bytes, peer.Packet({}, {}, true));
            CHECK(peer.Give(bytes) == "");
            CHECK_FALSE(transport.Info().session_id);
            CHECK(peer.Give(peer.Packet(RandomBytes(7))) == "");
            CHECK(transport.Info().session_id);
            CHECK(peer.Give(peer.Packet({18, 1, 2}, {}, false)) == "");
            CHECK(peer.Give(peer.Packet({18, 3}, {}, true)) == "");
            CHECK(peer.Give(peer.Packet({19, 5})) == "");
            CHECK(peer.Got() == "ping:0102 pong:05 ");
        }
    }
}

TEST_CASE("garbage that is not proved, and packets that were changed", "[v2]")
{
    for (int round = 0; round < 20; ++round) {
        V2Transport transport = Called();
        ScriptedPeer peer(transport, true);
        REQUIRE(peer.GiveKey() == "");
        peer.MakeCipher(peer.Read());
        Bytes garbage = RandomBytes(10);
        const Bytes version = peer.Packet({}, garbage);
        garbage[RandomBelow(10)] ^= 1;
        CHECK(peer.Give(garbage) == "");
        CHECK(peer.Give(peer.Terminator()) == "");
        CHECK(peer.Give(version) == "V2 transport error: packet decryption failure (0 bytes)");
    }
    for (int round = 0; round < 100; ++round) {
        V2Transport transport = Called();
        ScriptedPeer peer(transport, true);
        peer.Shake();
        const size_t size = RandomBelow(60);
        Bytes packet = peer.Packet(RandomBytes(size));
        // Anywhere behind the length, which has no proof of its own.
        packet[3 + RandomBelow(packet.size() - 3)] ^= static_cast<uint8_t>(1 << RandomBelow(8));
        CHECK(peer.Give(packet) ==
              fmt::format("V2 transport error: packet decryption failure ({} bytes)", size));
        CHECK(peer.Got() == "");
    }
}

TEST_CASE("a peer that sends no terminator, or a packet above the limit, is disconnected", "[v2]")
{
    V2Transport transport = Called();
    ScriptedPeer peer(transport, true);
    REQUIRE(peer.GiveKey() == "");
    CHECK(peer.Give(Bytes(4095 + 15)) == "");
    CHECK(peer.Give(Bytes(1)) == "V2 transport error: missing garbage terminator");

    V2Transport another = Called();
    ScriptedPeer oversized(another, true);
    oversized.Shake();
    Bytes contents(1 + 12 + kMaxPayload);
    std::copy_n("block", 5, contents.begin() + 1);
    CHECK(oversized.Give(oversized.Packet(contents)) == "");
    CHECK(oversized.Got().size() == 6 + 2 * kMaxPayload + 1);
    contents.push_back(0);
    CHECK(oversized.Give(ByteSpan(oversized.Packet(contents)).first(3)) ==
          "V2 transport error: packet too large (4000014 bytes)");
}

TEST_CASE("message types in a byte and in full", "[v2]")
{
    V2Transport transport = Called();
    ScriptedPeer peer(transport, true);
    peer.Shake();
    const auto full = [](std::string_view type, const Bytes& payload) {
        Bytes out(1 + kMaxMessageType);
        std::copy(type.begin(), type.end(), out.begin() + 1);
        Append(out, payload);
        return out;
    };
    CHECK(peer.Give(peer.Packet({1, 7})) == "");
    CHECK(peer.Give(peer.Packet({28})) == "");
    CHECK(peer.Give(peer.Packet({37, 1})) == "");
    CHECK(peer.Give(peer.Packet({30, 1})) == ""); // reserved: an unknown type
    CHECK(peer.Give(peer.Packet(full("verack", {}))) == "");
    CHECK(peer.Give(peer.Packet(full("abcdefghijkl", {9}))) == "");
    CHECK(peer.Got() == "addr:07 addrv2: feature:01 :01 verack: abcdefghijkl:09 ");
    const auto wrong = [](size_t size) {
        return fmt::format("V2 transport error: invalid message type ({} bytes contents)", size);
    };
    CHECK(peer.Give(peer.Packet({})) == wrong(0));
    CHECK(peer.Give(peer.Packet({38})) == wrong(1));
    CHECK(peer.Give(peer.Packet({0xff, 1})) == wrong(2));
    CHECK(peer.Give(peer.Packet(Bytes(12))) == wrong(12));
    CHECK(peer.Give(peer.Packet(full(std::string("ab\0c", 4), {}))) == wrong(13));
    CHECK(peer.Give(peer.Packet(full("a\x1f", {}))) == wrong(13));
    // The connection continues.
    CHECK(peer.Give(peer.Packet({18})) == "");
    CHECK(peer.Got().ends_with("ping: "));
}

TEST_CASE("the called side finds out what is spoken", "[v2]")
{
    const Bytes v1_version = *FromHex("f9beb4d9"
                                      "76657273696f6e0000000000");
    for (size_t same = 0; same < v1_version.size(); ++same) {
        V2Transport transport = Called();
        Bytes bytes(v1_version.begin(), v1_version.begin() + std::ptrdiff_t(same));
        ByteSpan span(bytes);
        REQUIRE(transport.Receive(span).Ok());
        CHECK(transport.GetToSend(true).bytes.empty());
        CHECK(transport.Info().protocol == TransportInfo::Protocol::kDetecting);
        const uint8_t other = v1_version[same] ^ 1;
        span = {&other, 1};
        REQUIRE(transport.Receive(span).Ok());
        CHECK(transport.GetToSend(true).bytes.size() == 64 + 100); // its key and garbage
    }
    V2Transport transport = Called();
    ByteSpan span(v1_version);
    REQUIRE(transport.Receive(span).Ok());
    CHECK(transport.Info().protocol == TransportInfo::Protocol::kV1);
    OutgoingMessage verack{"verack", {}};
    REQUIRE(transport.Send(verack));
    CHECK(ToHex(transport.GetToSend(false).bytes).starts_with("f9beb4d9766572"));

    // A caller from another network that speaks v1.
    V2Transport third = Called();
    const Bytes other_network = *FromHex("0b110907"
                                         "76657273696f6e0000000000");
    span = other_network;
    CHECK(third.Receive(span).Message() ==
          "V2 transport error: V1 peer with wrong MessageStart 0b110907");
}

TEST_CASE("when to call again and speak v1", "[v2]")
{
    V2Transport transport(kMagic, true, TestSecrets(10));
    CHECK_FALSE(transport.ShouldReconnectV1());
    transport.MarkSent(23);
    CHECK_FALSE(transport.ShouldReconnectV1());
    transport.MarkSent(1);
    CHECK(transport.ShouldReconnectV1());
    OutgoingMessage ping = MakeOutgoing(PingMessage{});
    CHECK_FALSE(transport.Send(ping)); // not before the other side's key
    CHECK(ping.payload.size() == 8);
    const uint8_t byte = 1;
    ByteSpan span(&byte, 1);
    REQUIRE(transport.Receive(span).Ok());
    CHECK_FALSE(transport.ShouldReconnectV1());
}

TEST_CASE("secrets from chance", "[v2]")
{
    const auto env = MakePosixEnv();
    size_t longest = 0;
    for (int i = 0; i < 100; ++i) {
        const V2Secrets secrets = RandomV2Secrets(*env);
        CHECK(Signer::IsValidSecret(secrets.key));
        CHECK(secrets.garbage.size() <= V2Transport::kMaxGarbage);
        longest = std::max(longest, secrets.garbage.size());
    }
    CHECK(longest > 1000); // but for one in 10^60 runs
}

} // namespace ibd
