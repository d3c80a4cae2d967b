// See option_rows.h.
#include "net/option_rows.h"

namespace ibd {

namespace {

constexpr unsigned kPlain = OptionSpec::kPlain;
constexpr unsigned kHidden = OptionSpec::kHidden;
constexpr unsigned kNetworkOnly = OptionSpec::kNetworkOnly;
constexpr unsigned kYesOrNo = OptionSpec::kYesOrNo;

constexpr int64_t kMost = 1'000'000;
constexpr int64_t kThousand = 1000;

constexpr OptionRow<PeerNetworkOptions> kConnection[] = {
    {"-addnode", "=<ip>", "Peer to stay connected to; may be repeated", kNetworkOnly,
     kTexts<&PeerNetworkOptions::added>},
    {"-asmap", "=<file>",
     "File that maps addresses to autonomous systems; the node spreads its "
     "peers over these"},
    {"-bantime", "=<n>", "Seconds that a manual ban lasts (default: 86400)", kPlain,
     kClamped<&PeerNetworkOptions::ban_time>},
    {"-bind", "=<addr>[:<port>][=onion]",
     "Address to listen at (default: 0.0.0.0); =onion marks its connections as coming from Tor",
     kNetworkOnly},
    {"-cjdnsreachable", "", "This host is in the CJDNS network (default: 0)", kPlain,
     kFlag<&PeerNetworkOptions::cjdns_reachable>},
    {"-connect", "=<ip>", "Connect to these peers only; -noconnect: to none", kNetworkOnly},
    {"-discover", "", "Find the node's own addresses (default: 1 when listening)", kPlain,
     kFlag<&PeerNetworkOptions::discover>},
    {"-dns", "", "Resolve host names (default: 1)", kPlain, kFlag<&PeerNetworkOptions::names>},
    {"-dnsseed", "", "Ask DNS seeds for peers if few are known (default: 1)", kPlain,
     kFlag<&PeerNetworkOptions::dns_seed>},
    {"-externalip", "=<ip>", "The node's own address as peers see it"},
    {"-fixedseeds", "", "Use built-in addresses if DNS seeds give none (default: 1)", kPlain,
     kFlag<&PeerNetworkOptions::fixed_seeds>},
    {"-forcednsseed", "", "Always ask DNS seeds for peers (default: 0)", kPlain,
     kFlag<&PeerNetworkOptions::force_dns_seed>},
    {"-i2pacceptincoming", "", "Accept connections from I2P (default: 1)", kPlain,
     kFlag<&PeerNetworkOptions::i2p_accept>},
    {"-i2psam", "=<ip:port>", "SAM proxy of I2P"},
    {"-listen", "", "Accept connections from peers (default: 1)", kPlain,
     kFlag<&PeerNetworkOptions::listen>},
    {"-listenonion", "", "Accept connections by a Tor onion service (default: 1)"},
    {"-maxconnections", "=<n>", "Maximum number of connections to peers (default: 125)", kPlain,
     kClamped<&PeerNetworkOptions::max_connections>.From(0, kMost)},
    {"-maxreceivebuffer", "=<n>",
     "Limit of unprocessed bytes from a peer, in thousands (default: "
     "5000)",
     kPlain, kClamped<&PeerNetworkOptions::max_receive_buffer>.From(0, kMost, "", kThousand)},
    {"-maxsendbuffer", "=<n>", "Limit of queued bytes to a peer, in thousands (default: 1000)",
     kPlain, kClamped<&PeerNetworkOptions::max_send_buffer>.From(0, kMost, "", kThousand)},
    {"-maxuploadtarget", "=<n>",
     "Limit of bytes to send per day, with the suffix k, K, m, M, g, G, t or T; small letters are "
     "powers of 1000, capitals of 1024; without a suffix M (default: 0M, no bound)"},
    {"-natpmp", "", "Ask the router to forward the port, by PCP or NAT-PMP (default: 1)", kPlain,
     kFlag<&PeerNetworkOptions::map_port>},
    {"-networkactive", "", "Enable all network activity with peers (default: 1)", kPlain,
     kFlag<&PeerNetworkOptions::active>},
    {"-onion", "=<ip:port|path>", "SOCKS5 proxy for onion services (default: -proxy)"},
    {"-onlynet", "=<net>",
     "Make connections only to ipv4, ipv6, onion, i2p or cjdns; may be repeated"},
    {"-peerblockfilters", "", "Serve block filters (BIP157); needs -blockfilterindex (default: 0)",
     kPlain, kBit<kNodeCompactFilters, &PeerNetworkOptions::peers, &PeerOptions::services>},
    {"-peerbloomfilters", "", "Serve Bloom filters (BIP37) (default: 0)", kPlain,
     kBit<kNodeBloom, &PeerNetworkOptions::peers, &PeerOptions::services>},
    {"-peerspentcoins", "",
     "Send the coins that a block spends to peers that ask (BIP455). Not with -prune (default: 0)",
     kYesOrNo, kFlag<&PeerNetworkOptions::peers, &PeerOptions::serve_spent_coins>},
    {"-peertimeout", "=<n>",
     "Seconds after which a peer that does not answer is disconnected "
     "(default: 60)",
     kHidden, kClamped<&PeerNetworkOptions::peers, &PeerOptions::handshake_seconds>},
    {"-port", "=<port>",
     "Port to listen at (default: 8333, testnet3: 18333, testnet4: 48333, signet: 38333, regtest: "
     "18444)",
     kNetworkOnly},
    {"-proxy", "=<ip>[:<port>]|unix:<path>[=<network>]", "SOCKS5 proxy; -noproxy: none",
     OptionSpec::kNoElision},
    {"-proxyrandomize", "", "Use other credentials at the proxy for each connection (default: 1)"},
    {"-seednode", "=<ip>", "Host to ask for peers; may be repeated", kPlain,
     kTexts<&PeerNetworkOptions::seed_nodes>},
    {"-timeout", "=<n>", "Milliseconds to wait for a connection (default: 5000)"},
    {"-torcontrol", "=<ip>:<port>", "Control port of Tor (default: 127.0.0.1:9051)"},
    {"-torpassword", "=<pass>", "Password of Tor's control port", OptionSpec::kSensitive},
    {"-txreconciliation", "",
     "Negotiate with peers to announce transactions by sketches (BIP330); sketches are not sent "
     "yet (default: 0)",
     kHidden, kFlag<&PeerNetworkOptions::peers, &PeerOptions::reconciles>},
    {"-v2transport", "", "Encrypted connections (BIP324) (default: 1)", kPlain,
     kBit<kNodeP2pV2, &PeerNetworkOptions::peers, &PeerOptions::services>},
    {"-whitebind", "=<[permissions@]addr>", "Address to listen at; its peers get the permissions"},
    {"-whitelist", "=<[permissions@]IP address or network>",
     "Addresses whose peers get the permissions"},
};

// Options about peers that help shows in other groups.

constexpr OptionRow<PeerNetworkOptions> kGeneral[] = {
    {"-blockcompression", "=<level>",
     "Level of zstd at which blocks (on slow lines) and transactions are packed for nodes of this "
     "project; 0: none are packed, and none are accepted (default: 0, up to 19)",
     kPlain, kNumber<&PeerNetworkOptions::peers, &PeerOptions::pack_level>.From(0, 19)},
    {"-blockcompressioncpu", "=<n>",
     "Percent of a core's time for packing blocks for peers; a fifth of it is added for "
     "transactions (default: 25)",
     kPlain, kNumber<&PeerNetworkOptions::peers, &PeerOptions::pack_percent>.From(0, 100)},
    {"-blockcompressionprivacy", "",
     "Announce -blockcompression also over Tor, I2P and proxies, which tells the nodes of this "
     "project apart (default: 0)",
     kYesOrNo, kFlag<&PeerNetworkOptions::peers, &PeerOptions::pack_anonymously>},
    {"-blockreconstructionextratxn", "=<n>",
     "Transactions outside the pool that are kept to rebuild compact blocks (default: 100)", kPlain,
     kClamped<&PeerNetworkOptions::peers, &PeerOptions::extra_txs>.From(0, UINT32_MAX)},
    {"-blocksonly", "",
     "Accept no transactions from peers without the permission relay (default: "
     "0)",
     kPlain, kFlag<&PeerNetworkOptions::peers, &PeerOptions::blocks_only>},
};

constexpr OptionRow<PeerNetworkOptions> kDebug[] = {
    {"-capturemessages", "", "Keep all messages of peers in message_capture/", kHidden,
     kFlag<&PeerNetworkOptions::capture_messages>},
    {"-checkaddrman", "=<n>", "Check the table of addresses in one of n calls", kHidden,
     kClamped<&PeerNetworkOptions::check_addrman>.From(0, kMost)},
    {"-logips", "", "Log addresses of peers (default: 0)", kPlain,
     kFlag<&PeerNetworkOptions::peers, &PeerOptions::log_addresses>},
};

constexpr OptionRow<PeerNetworkOptions> kRelay[] = {
    {"-privatebroadcast", "",
     "Send transactions of sendrawtransaction only over separate short connections through Tor or "
     "I2P, at most 64 in addition to -maxconnections. They enter the pool when a peer sends them "
     "back (default: 0)",
     kPlain, kFlag<&PeerNetworkOptions::private_broadcast>},
    {"-whitelistforcerelay", "", "Permission forcerelay for listed peers (default: 0)", kPlain,
     kFlag<&PeerNetworkOptions::whitelist_forcerelay>},
    {"-whitelistrelay", "", "Permission relay for listed peers (default: 1)", kPlain,
     kFlag<&PeerNetworkOptions::whitelist_relay>},
};

} // namespace

std::vector<PeerOptionTopic> PeerOptionTopics()
{
    return {{OptionGroup::kConnection, kConnection},
            {OptionGroup::kGeneral, kGeneral},
            {OptionGroup::kDebug, kDebug},
            {OptionGroup::kRelay, kRelay}};
}

} // namespace ibd
