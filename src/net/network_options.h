// PeerNetworkOptions: what the options about peers say, read and checked. Made by node, handed to
// PeerNetwork; values.
#pragma once

#include "net/addr_man.h"
#include "net/ban_list.h"
#include "net/peer_manager.h"
#include "net/permissions.h"
#include "util/env.h"

namespace ibd {

/** A SOCKS5 server. */
struct ProxyServer {
    Endpoint address;
    std::string unix_path;  //!< of a socket, in place of the address, if not empty
    bool randomize = false; //!< another login for each connection (-proxyrandomize)

    bool IsSet() const { return !unix_path.empty() || address.address.IsValid(); }
    /** "127.0.0.1:9050" or "unix:/path"; empty if it is not set. */
    std::string ToString() const;
};

/** An onion service of the node's own; see tor_control.h. */
struct OnionServiceOptions {
    std::string control_name; //!< -torcontrol, as written
    Endpoint control;         //!< not valid: that led nowhere
    std::string password;     //!< -torpassword
    Endpoint target;          //!< where we listen for it
    bool find_proxy = false;  //!< no -onion: Tor's own is used
    bool may_connect = true;  //!< then connections to onion services are made (-onlynet)
};

/** By which networks peers can be connected to, and how. */
struct NetworkWays {
    NetworkSet reachable;
    std::map<AddressNetwork, ProxyServer> proxies;
};

struct PeerNetworkOptions {
    PeerOptions peers; //!< services, user agent, -peertimeout, -logips, ...
    Path folder;       //!< of peers.dat and anchors.dat: the network's
    NetGroups groups;  //!< by -asmap

    // Being called.
    bool listen = true;
    std::vector<Binding> binds; //!< -bind, -whitebind, those of the onion service; in this order
    bool bind_any = true;       //!< and any address: neither -bind nor -whitebind was given
    uint16_t listen_port = 0;   //!< of `bind_any`, and as told to peers
    int max_connections = 125;  //!< automatic ones: -maxconnections, less where files are few
    std::optional<OnionServiceOptions> onion_service; //!< -listenonion
    bool map_port = false; //!< -natpmp
    bool discover = true;
    std::vector<Endpoint> external; //!< -externalip
    std::vector<Whitelisted> whitelist;
    bool whitelist_relay = true;       //!< permission of those for whom none were named
    bool whitelist_forcerelay = false; //!< likewise

    // Calling.
    bool active = true;               //!< -networkactive
    bool connect_only = false;        //!< -connect or -noconnect was given:
    std::vector<std::string> connect; //!< ... these and no others, as written
    std::vector<std::string> added;   //!< -addnode, as written
    /** False: the user has it that there is no network (-connect=0 and nothing else). */
    bool MayHavePeers() const
    {
        return !connect_only || !connect.empty() || !added.empty() || listen;
    }
    std::vector<std::string> seed_nodes;
    NetworkSet reachable{AddressNetwork::kIpv4, AddressNetwork::kIpv6, AddressNetwork::kOnion,
                         AddressNetwork::kI2p, AddressNetwork::kCjdns}; //!< by -onlynet and proxies
    bool only_net = false;                                              //!< -onlynet was given
    bool cjdns_reachable = false;
    std::map<AddressNetwork, ProxyServer> proxies;
    Endpoint i2p_bridge;           //!< -i2psam, which is in `proxies` too; not valid: none
    bool i2p_accept = true;        //!< others may call by I2P
    ProxyServer name_proxy; //!< looks names up for us, if it is set
    bool names = true;      //!< DNS may be asked (-dns)
    bool dns_seed = true;
    bool force_dns_seed = false;
    bool fixed_seeds = true;
    int64_t connect_milliseconds = 5000; //!< -timeout

    // Bounds.
    size_t max_receive_buffer = 5'000'000; //!< bytes received from a peer and unread
    size_t max_send_buffer = 1'000'000;    //!< bytes queued for a peer above which it must wait
    uint64_t max_upload = 0;               //!< bytes a day (-maxuploadtarget); 0: no bound

    bool capture_messages = false; //!< all that peers send and are sent is kept in files

    // Addresses and bans.
    int64_t ban_time = BanList::kDefaultBanTime; //!< seconds
    std::map<Subnet, BanEntry> bans;             //!< as on disk
    uint32_t check_addrman = 0;                  //!< one call in so many is checked; 0: none
    bool fixed_addrman_key = false;              //!< -test=addrman
};

} // namespace ibd
