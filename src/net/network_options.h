// PeerNetworkOptions: the checked options about peers. Made by node, passed to PeerNetwork; values.
#pragma once

#include "net/address/addr_man.h"
#include "net/address/ban_list.h"
#include "net/address/permissions.h"
#include "net/peer/peer_options.h"
#include "net/socket/proxy_server.h"
#include "util/env.h"

namespace ibd {

/** Our own onion service; see tor_control.h. */
struct OnionServiceOptions {
    std::string control_name; //!< -torcontrol, as written
    Endpoint control;         //!< invalid: the name could not be resolved
    std::string password;     //!< -torpassword
    Endpoint target;          //!< our listening address for it
    bool find_proxy = false;  //!< no -onion: Tor's own is used
    bool may_connect = true;  //!< whether to connect to onion services then (-onlynet)
};

/** The networks for connections to peers, and the proxies. */
struct NetworkWays {
    NetworkSet reachable;
    std::map<AddressNetwork, ProxyServer> proxies;
};

struct PeerNetworkOptions {
    PeerOptions peers; //!< services, user agent, -peertimeout, -logips, ...
    Path folder;       //!< the network's, for peers.dat and anchors.dat
    NetGroups groups;  //!< from -asmap

    // Inbound connections.
    bool listen = true;
    std::vector<Binding> binds; //!< -bind, -whitebind, the onion service; in this order
    bool bind_any = true;       //!< listen on all addresses: neither -bind nor -whitebind was given
    uint16_t listen_port = 0;   //!< port of `bind_any`, and the port announced to peers
    int max_connections = 125;  //!< automatic ones: -maxconnections, or fewer with a low limit on
                                //!< descriptors
    std::optional<OnionServiceOptions> onion_service; //!< -listenonion
    bool map_port = false;                            //!< -natpmp
    bool discover = true;
    std::vector<Endpoint> external; //!< -externalip
    std::vector<Whitelisted> whitelist;
    bool whitelist_relay = true;       //!< for implicit permissions
    bool whitelist_forcerelay = false; //!< for implicit permissions

    // Outbound connections.
    bool active = true;               //!< -networkactive
    bool connect_only = false;        //!< -connect or -noconnect was given:
    std::vector<std::string> connect; //!< ... only to these, as written
    std::vector<std::string> added;   //!< -addnode, as written
    /** False: the options forbid any connection (-connect=0 and nothing else). */
    bool MayHavePeers() const
    {
        return !connect_only || !connect.empty() || !added.empty() || listen;
    }
    std::vector<std::string> seed_nodes;
    NetworkSet reachable{AddressNetwork::kIpv4, AddressNetwork::kIpv6, AddressNetwork::kOnion,
                         AddressNetwork::kI2p, AddressNetwork::kCjdns}; //!< from -onlynet and
                                                                        //!< proxies
    bool only_net = false;                                              //!< -onlynet was given
    bool cjdns_reachable = false;
    std::map<AddressNetwork, ProxyServer> proxies;
    Endpoint i2p_bridge;    //!< -i2psam, which is in `proxies` too; invalid: none
    bool i2p_accept = true; //!< accept inbound I2P streams
    ProxyServer name_proxy; //!< resolves names if set
    bool names = true;      //!< DNS may be used (-dns)
    bool dns_seed = true;
    bool force_dns_seed = false;
    bool fixed_seeds = true;
    int64_t connect_milliseconds = 5000; //!< -timeout
    bool private_broadcast = false;      //!< -privatebroadcast
    /** At a time, beyond `max_connections`. */
    static constexpr int kMaxPrivatePeers = 64;
    int MaxPrivatePeers() const { return private_broadcast ? kMaxPrivatePeers : 0; }

    // Limits.
    size_t max_receive_buffer = 5'000'000; //!< unread bytes from a peer
    size_t max_send_buffer = 1'000'000;    //!< bytes queued for a peer; above it the peer must wait
    uint64_t max_upload = 0;               //!< bytes a day (-maxuploadtarget); 0: no limit

    bool capture_messages = false; //!< store all messages of peers in files

    // Addresses and bans.
    int64_t ban_time = BanList::kDefaultBanTime; //!< seconds
    std::map<Subnet, BanEntry> bans;             //!< from disk
    uint32_t check_addrman = 0;                  //!< one of this many calls is checked; 0: none
    bool fixed_addrman_key = false;              //!< -test=addrman
};

} // namespace ibd
