// Calls about peers and the network. One .cpp file per group.
#pragma once

#include "net/network.h"
#include "rpc/chain_context.h"
#include "rpc/table.h"

namespace ibd {

struct NetContext {
    ChainContext& chain;
    /** Null while the node starts or when it has stopped; set by it while callers run. */
    std::atomic<PeerNetwork*> network = nullptr;

    /** -31 if there is none. */
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

/** Adds a call that needs peers and headers only, so that it is answered while the booster works.
 */
void AddNetMethod(RpcTable& table, RpcMethod method);

/** The networks that addresses may be of, in Core's order. */
inline constexpr AddressNetwork kPublicNetworks[] = {AddressNetwork::kIpv4, AddressNetwork::kIpv6,
                                                     AddressNetwork::kOnion, AddressNetwork::kI2p,
                                                     AddressNetwork::kCjdns};

/** Members "<name>" in hex and "<name>names" of a set of services. */
void PushServices(UniValue& out, const std::string& name, uint64_t services);
/** What Core answers to some wrong arguments: the help of the call. */
[[noreturn]] void ThrowHelp(const RpcTable& table, const std::string& method, RpcCode code);

} // namespace ibd
