// See option_table.h. Options about peers, the pool of transactions and mining.
#include "node/option_table.h"

namespace ibd {

namespace {

constexpr unsigned kHidden = OptionSpec::kHidden;
constexpr unsigned kNetworkOnly = OptionSpec::kNetworkOnly;

constexpr OptionRow kConnection[] = {
    {"-addnode", "=<ip>", "Peer to stay connected to; may be repeated", kNetworkOnly},
    {"-asmap", "=<file>", "Map of networks to providers by which peers are spread"},
    {"-bantime", "=<n>", "Seconds a ban made by hand lasts (default: 86400)"},
    {"-bind", "=<addr>[:<port>][=onion]",
     "Address to listen at (default: 0.0.0.0); =onion marks its connections as coming from Tor",
     kNetworkOnly},
    {"-cjdnsreachable", "", "This host is in the CJDNS network (default: 0)"},
    {"-connect", "=<ip>", "Connect to these peers only; -noconnect: to none", kNetworkOnly},
    {"-discover", "", "Find out own addresses (default: 1 when listening)"},
    {"-dns", "", "Look names of hosts up (default: 1)"},
    {"-dnsseed", "", "Ask DNS for peers when few are known (default: 1)"},
    {"-externalip", "=<ip>", "Own address as peers see it"},
    {"-fixedseeds", "", "Use built-in addresses where DNS has none (default: 1)"},
    {"-forcednsseed", "", "Always ask DNS for peers (default: 0)"},
    {"-i2pacceptincoming", "", "Take connections from I2P (default: 1)"},
    {"-i2psam", "=<ip:port>", "SAM proxy of I2P"},
    {"-listen", "", "Take connections from outside (default: 1)"},
    {"-listenonion", "", "Make an onion service (default: 1)"},
    {"-maxconnections", "=<n>", "Most connections to peers (default: 125)"},
    {"-maxreceivebuffer", "=<n>", "Thousands of bytes to receive for a peer (default: 5000)"},
    {"-maxsendbuffer", "=<n>", "Thousands of bytes to send to a peer (default: 1000)"},
    {"-maxuploadtarget", "=<n>",
     "Bytes to send in a day, with k, K, m, M, g, G, t or T, small letters for powers of 1000 "
     "(default: 0M, no bound)"},
    {"-natpmp", "", "Have the router forward the port, by PCP or NAT-PMP (default: 1)"},
    {"-networkactive", "", "Talk to peers at all (default: 1)"},
    {"-onion", "=<ip:port|path>", "SOCKS5 proxy for onion services (default: -proxy)"},
    {"-onlynet", "=<net>", "Connect by ipv4, ipv6, onion, i2p or cjdns only; may be repeated"},
    {"-peerblockfilters", "", "Serve block filters (BIP157) (default: 0)"},
    {"-peerbloomfilters", "", "Serve Bloom filters (BIP37) (default: 0)"},
    {"-peertimeout", "=<n>", "Seconds until a silent peer is left (default: 60)", kHidden},
    {"-port", "=<port>",
     "Port to listen at (default: 8333, testnet3: 18333, testnet4: 48333, signet: 38333, regtest: "
     "18444)",
     kNetworkOnly},
    {"-proxy", "=<ip>[:<port>]|unix:<path>[=<network>]", "SOCKS5 proxy; -noproxy: none",
     OptionSpec::kNoElision},
    {"-proxyrandomize", "", "Another login at the proxy for each connection (default: 1)"},
    {"-seednode", "=<ip>", "Host to ask for peers; may be repeated"},
    {"-timeout", "=<n>", "Milliseconds to wait for a connection (default: 5000)"},
    {"-torcontrol", "=<ip>:<port>", "Control port of Tor (default: 127.0.0.1:9051)"},
    {"-torpassword", "=<pass>", "Its password", OptionSpec::kSensitive},
    {"-txreconciliation", "", "Agree on transactions by sketches (BIP330) (default: 0)", kHidden},
    {"-v2transport", "", "Encrypted connections (BIP324) (default: 1)"},
    {"-whitebind", "=<[permissions@]addr>", "Address to listen at for peers with permissions"},
    {"-whitelist", "=<[permissions@]IP address or network>", "Peers with permissions"},
};

constexpr OptionRow kRelay[] = {
    {"-acceptnonstdtxn", "", "Take transactions that are not standard; not on main", kHidden},
    {"-bytespersigop", "=<n>", "Bytes that a signature operation counts as (default: 20)"},
    {"-datacarrier", "", "Relay transactions that carry data (default: 1)"},
    {"-datacarriersize", "=<n>", "Most bytes of data in a transaction (default: 100000)"},
    {"-dustrelayfee", "=<amt>", "Fee rate that defines dust, BTC/kvB", kHidden},
    {"-incrementalrelayfee", "=<amt>", "Step of fee rates, BTC/kvB", kHidden},
    {"-minrelaytxfee", "=<amt>", "Fee rate below which is none, BTC/kvB (default: 0.000001)"},
    {"-permitbaremultisig", "", "Relay bare multisig outputs (default: 1)"},
    {"-privatebroadcast", "", "Send own transactions by Tor or I2P only (default: 0)"},
    {"-whitelistforcerelay", "", "Permission forcerelay for listed peers (default: 0)"},
    {"-whitelistrelay", "", "Permission relay for listed peers (default: 1)"},
};

constexpr OptionRow kMining[] = {
    {"-blockmaxweight", "=<n>", "Most weight of a block template (default: 4000000)", kHidden},
    {"-blockmintxfee", "=<amt>", "Lowest fee rate in a template, BTC/kvB (default: 0.00000001)"},
    {"-blockreservedweight", "=<n>", "Weight kept for header and coinbase (default: 8000)"},
    {"-blockversion", "=<n>", "Version of made blocks", kHidden},
};

} // namespace

void AddConnectionOptions(ArgsManager& args)
{
    AddRows(args, OptionGroup::kConnection, kConnection);
}

void AddPolicyOptions(ArgsManager& args)
{
    AddRows(args, OptionGroup::kRelay, kRelay);
    AddRows(args, OptionGroup::kMining, kMining);
}

} // namespace ibd
