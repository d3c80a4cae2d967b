// Calls about peers and the network. One .cpp file per group.
#pragma once

#include "jsonrpc/table.h"
#include "net/network.h"
#include "rpc/chain_context.h"

namespace ibd {

struct NetContext {
    ChainContext& chain;
    // Satoshi for 1,000 virtual bytes.
    Amount relay_fee = 100;         //!< -minrelaytxfee
    Amount incremental_fee = 100;   //!< -incrementalrelayfee
    bool private_broadcast = false; //!< -privatebroadcast
    /** Null before the node sets it and after it stopped; callers may be running. */
    std::atomic<PeerNetwork*> network = nullptr;

    /** -31 without a network. */
    PeerNetwork& Network() const;
};

// `context` must outlive the table.

/** getnetworkinfo, getnettotals, setnetworkactive. */
void AddNetworkMethods(RpcTable& table, NetContext& context);
/** getpeerinfo, getconnectioncount, ping, disconnectnode, sendmsgtopeer, getblockfrompeer. */
void AddPeerMethods(RpcTable& table, NetContext& context);
/** addnode, getaddednodeinfo, addconnection. */
void AddNodeMethods(RpcTable& table, NetContext& context);
/** setban, listbanned, clearbanned. */
void AddBanMethods(RpcTable& table, NetContext& context);
/** getnodeaddresses, getaddrmaninfo, getrawaddrman, addpeeraddress, exportasmap. */
void AddPeerAddressMethods(RpcTable& table, NetContext& context);

/** getorphantxs. */
void AddTxRelayMethods(RpcTable& table, NetContext& context);
/** getprivatebroadcastinfo, abortprivatebroadcast. */
void AddPrivateBroadcastMethods(RpcTable& table, NetContext& context);

/** Adds a call that needs only peers and headers, so that it is answered while the booster works.
 */
void AddNetMethod(RpcTable& table, RpcMethod method);

/** The networks of public addresses, in Core's order. */
inline constexpr AddressNetwork kPublicNetworks[] = {AddressNetwork::kIpv4, AddressNetwork::kIpv6,
                                                     AddressNetwork::kOnion, AddressNetwork::kI2p,
                                                     AddressNetwork::kCjdns};

/** Members "<name>" in hex and "<name>names" of a set of services. */
void PushServices(UniValue& out, const std::string& name, uint64_t services);
/** Throws the call's help, as Core does for some wrong arguments. */
[[noreturn]] void ThrowHelp(const RpcTable& table, const std::string& method, RpcCode code);

} // namespace ibd
