// NetAddress: the address of a peer on any network that Bitcoin uses, with the rules that depend on
// it (routable, local, group). Endpoint: an address with a port. PeerAddress: an endpoint with the
// data of address gossip. Values; no name resolution, no sockets. Encodings: doc/formats/p2p.md.
#pragma once

#include "net/address/payload_reader.h"

#include <array>
#include <compare>
#include <optional>
#include <string>

namespace ibd {

/** In Core's order: groups, hashes and sorting of addresses use these numbers. */
enum class AddressNetwork : uint8_t {
    kUnroutable, //!< a classification, never stored in an address
    kIpv4,
    kIpv6,
    kOnion, //!< Tor version 3
    kI2p,
    kCjdns,
    kInternal, //!< represents a name, such as that of a DNS seed; never sent to others
};
inline constexpr size_t kAddressNetworkCount = 7;

/** "ipv4", "onion", "not_publicly_routable", .... */
const char* AddressNetworkName(AddressNetwork network);
/** Parses the names that -onlynet accepts, ignoring case. */
std::optional<AddressNetwork> ParseAddressNetwork(std::string_view name);

/** Byte number `index` of a mask of `bits` ones. */
constexpr uint8_t ByteOfMask(size_t bits, size_t index)
{
    if (bits >= 8 * (index + 1)) return 0xff;
    return bits <= 8 * index ? 0 : static_cast<uint8_t>(0xff << (8 - bits % 8));
}

class NetAddress {
public:
    static constexpr size_t kLongest = 32;    //!< bytes of an address (Tor, I2P)
    static constexpr size_t kMaxV2Size = 512; //!< bytes of an address on an unknown network
                                              //!< (BIP155)

    /** "::", which is not a valid address. */
    NetAddress() = default;
    static NetAddress FromIpv4(const std::array<uint8_t, 4>& bytes);
    /** IPv6 as in sockets and `addr` messages: IPv4 and internal addresses are recognised by their
     *  prefixes; those of Tor version 2 are invalid and give "::". */
    static NetAddress FromIpv6(const std::array<uint8_t, 16>& bytes, uint32_t scope = 0);
    /** Represents `name`, which must not be empty. */
    static NetAddress Internal(std::string_view name);
    /** Parses, like Core without DNS: every numeric IPv4 or IPv6 address that the system accepts,
     *  X.onion (version 3), X.b32.i2p. With `brackets` also "[v6]". */
    static std::optional<NetAddress> Parse(std::string_view text, bool brackets = true);

    std::string ToString() const;

    AddressNetwork Network() const { return m_network; }
    /** The address bytes: 4, 16, 32 or 10. */
    ByteSpan Raw() const { return ByteSpan(m_bytes).first(SizeOf(m_network)); }
    uint32_t Scope() const { return m_scope; } //!< of a link-local IPv6 address, else 0
    /** 16 bytes if `addr` messages can carry it, else Raw(). */
    Bytes KeyBytes() const;

    // Classification.
    bool Is(AddressNetwork network) const { return m_network == network; }
    bool IsValid() const;    //!< could name a host
    bool IsRoutable() const; //!< also from anywhere
    bool IsLocal() const;    //!< loopback
    bool IsBindAny() const;  //!< 0.0.0.0 or ::
    bool IsInternal() const { return Is(AddressNetwork::kInternal); }
    bool IsPrivacyNetwork() const; //!< Tor or I2P
    /** Whether it may be relayed to other peers, even if we cannot reach it. */
    bool IsRelayable() const { return !IsInternal(); }
    bool FitsV1() const; //!< whether an `addr` message can carry it
    bool HasCjdnsPrefix() const { return m_bytes[0] == 0xfc; }

    /** Its network; kUnroutable if it is not routable. */
    AddressNetwork RoutableNetwork() const;
    /** The same, but IPv6 that embeds an IPv4 address counts as IPv4. */
    AddressNetwork NetworkClass() const;
    /** The IPv4 address that it is or embeds, as a number; only if it is routable. */
    std::optional<uint32_t> LinkedIpv4() const;
    /** How well a peer at `partner` can reach this address: 0 (not at all) to 6. */
    int ReachabilityFrom(const NetAddress& partner) const;
    /** IPv6 in fc00::/8 becomes a CJDNS address if CJDNS is reachable; others are unchanged. */
    NetAddress WithCjdns(bool cjdns_reachable) const;
    /** The address with its first `bits` bits, the others zero: the start of the range. */
    NetAddress FirstOfRange(size_t bits) const;

    // Serialization, without port.
    /** 16 bytes for `addr`; zeros if it does not fit. */
    std::array<uint8_t, 16> ToV1() const;
    void EncodeV2(Writer& writer) const;
    /** BIP155: an unknown network gives the invalid address; a known one with the wrong size is
     *  refused, as is one longer than kMaxV2Size. */
    static NetAddress DecodeV2(PayloadReader& reader);

    /** Compares network, then bytes; ignores the scope. */
    std::strong_ordering operator<=>(const NetAddress& other) const;
    bool operator==(const NetAddress& other) const { return (*this <=> other) == 0; }

private:
    static constexpr size_t SizeOf(AddressNetwork network)
    {
        switch (network) {
        case AddressNetwork::kIpv4: return 4;
        case AddressNetwork::kOnion:
        case AddressNetwork::kI2p: return 32;
        case AddressNetwork::kInternal: return 10;
        default: return 16;
        }
    }
    NetAddress(AddressNetwork network, ByteSpan bytes);
    static std::optional<NetAddress> ParseOnion(std::string_view text);
    static std::optional<NetAddress> ParseI2p(std::string_view text);

    AddressNetwork m_network = AddressNetwork::kIpv6;
    std::array<uint8_t, kLongest> m_bytes{}; //!< zeros after Raw()
    uint32_t m_scope = 0;
};

struct Endpoint {
    NetAddress address;
    uint16_t port = 0;

    /** "1.2.3.4", "1.2.3.4:5", "[::1]:5", "x.onion:5"; never a name. `default_port`: if the text
     *  has none. As in Core, port 0 is accepted. */
    static std::optional<Endpoint> Parse(std::string_view text, uint16_t default_port);
    /** Always with port; brackets around addresses with colons. */
    std::string ToString() const;
    /** KeyBytes() and the port, big-endian: the input of hashes in address tables. */
    Bytes Key() const;

    void EncodeV1(Writer& writer) const;
    static Endpoint DecodeV1(PayloadReader& reader);
    void EncodeV2(Writer& writer) const;
    static Endpoint DecodeV2(PayloadReader& reader);

    auto operator<=>(const Endpoint&) const = default;
    bool operator==(const Endpoint&) const = default;
};

struct PeerAddress {
    Endpoint endpoint;
    uint64_t services = 0;       //!< ServiceFlags
    uint32_t time = 100'000'000; //!< last seen, seconds since 1970; this value is Core's "never"

    /** Entries of `addr` (BIP155: of `addrv2`). */
    void EncodeV1(Writer& writer) const;
    static PeerAddress DecodeV1(PayloadReader& reader);
    void EncodeV2(Writer& writer) const;
    static PeerAddress DecodeV2(PayloadReader& reader);

    bool operator==(const PeerAddress&) const = default;
};

} // namespace ibd
