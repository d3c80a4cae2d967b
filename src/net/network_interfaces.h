// The interfaces of PeerNetwork for other threads, one for each kind of user: each method is a
// query or command that the thread of the peers runs between two rounds, while the caller waits.
// See network.h for the rules. Owned by PeerNetwork.
#pragma once

#include "net/address/addr_man.h"
#include "net/address/ban_list.h"
#include "net/network_options.h"
#include "net/network_values.h"
#include "net/peer/header_answers.h"
#include "net/peer/orphan_pool.h"
#include "net/peer/peer_info.h"
#include "net/peer/private_queue.h"

namespace ibd {

class AccessRules;
class AutomaticPeers;
class BlockSink;
class Connections;
class DownloadGoal;
class HintsGoal;
class NamedPeers;
class NodeAddresses;
class OutboundCalls;
class PeerManager;
class SocketLink;
struct NetworkState;
struct OutboundCall;

/** The data about peers and our own addresses that users see. */
class PeerInfoSource {
public:
    PeerInfoSource(NetworkState& state, const PeerManager& manager, const Connections& connections,
                   SocketLink& link, const NodeAddresses& addresses)
        : m_state(state), m_manager(manager), m_connections(connections), m_link(link),
          m_addresses(addresses)
    {
    }

    std::vector<PeerInfo> Peers();
    PeerCounts Counts();
    TrafficTotals Traffic();
    std::vector<OwnAddress> OwnAddresses();
    /** Listening addresses; ports of 0 are replaced by those chosen by the system. */
    std::vector<Endpoint> Listening();
    /** Seconds that the clocks of outbound peers are ahead: the median. */
    int64_t TimeOffset();
    NetworkWays Ways();
    bool IsActive();
    /** The services in our version message. */
    uint64_t Services() const;

private:
    NetworkState& m_state;
    const PeerManager& m_manager;
    const Connections& m_connections;
    SocketLink& m_link;
    const NodeAddresses& m_addresses;
};

/** Commands of the user about connections. */
class ConnectionControl {
public:
    ConnectionControl(NetworkState& state, PeerManager& manager, OutboundCalls& calls,
                      NamedPeers& named)
        : m_state(state), m_manager(manager), m_calls(calls), m_named(named)
    {
    }

    void SetActive(bool active); //!< false: disconnects all peers and makes no connections
    /** Whether the chain starts from an unproven snapshot, so that only the last blocks are
     *  offered. */
    void LimitServices(bool limited);
    void PingAll();              //!< soon
    /** False: it was added before. */
    bool AddNode(const std::string& name, bool v2);
    /** False: it was not added. */
    bool RemoveNode(const std::string& name);
    /** Connects once, unless connected; returns when the attempt has ended. */
    void TryNode(const std::string& name, bool v2);
    std::vector<AddedNode> AddedNodes();
    /** For tests: an automatic connection of that kind to a given address; returns when the attempt
     *  has ended. False: no slot is free. */
    bool AddConnection(const std::string& address, ConnectionKind kind, bool v2);
    /** By id, or by name as in PeerInfoSource::Peers(); false: no such peer. */
    bool Disconnect(PeerId peer);
    bool Disconnect(const std::string& name);
    /** False: no such peer, or it has not sent verack. */
    bool SendMessage(PeerId peer, const std::string& type, Bytes payload);

private:
    NetworkState& m_state;
    PeerManager& m_manager;
    OutboundCalls& m_calls;
    NamedPeers& m_named;
};

/** Each change is saved, and banned peers are disconnected. */
class BanControl {
public:
    BanControl(NetworkState& state, PeerManager& manager, AccessRules& access)
        : m_state(state), m_manager(manager), m_access(access)
    {
    }

    /** See BanList::Ban(). */
    bool Ban(const Subnet& range, int64_t seconds, bool absolute);
    bool Unban(const Subnet& range);
    void Clear();
    bool IsBanned(const Subnet& range);
    bool IsBanned(const NetAddress& address);
    std::map<Subnet, BanEntry> All();

private:
    void DisconnectRange(const Subnet& range);

    NetworkState& m_state;
    PeerManager& m_manager;
    AccessRules& m_access;
};

/** The address manager. */
class AddressControl {
public:
    AddressControl(NetworkState& state, NodeAddresses& addresses)
        : m_state(state), m_addresses(addresses)
    {
    }

    /** At most `count` (0: all), without unwanted ones. */
    std::vector<PeerAddress> Known(size_t count, std::optional<AddressNetwork> network);
    /** See NodeAddresses::Add(). */
    AddAddressResult Add(const Endpoint& address, bool tried);
    /** Numbers for one network, or for all. */
    AddressCounts Counts(std::optional<AddressNetwork> network);
    std::vector<std::pair<AddrInfo, AddrMan::Position>> Table(bool tried);
    /** Writes peers.dat, on the caller's thread, so that peers do not wait for a slow disk. One
     * call at a time, and none during Stop(). */
    void Save();

private:
    NetworkState& m_state;
    NodeAddresses& m_addresses;
};

/** Headers and blocks from peers. */
class BlockFetching {
public:
    BlockFetching(NetworkState& state, PeerManager& manager, AutomaticPeers& automatic)
        : m_state(state), m_manager(manager), m_automatic(automatic)
    {
    }

    /** See BlockRelay. On return, the earlier goal and sink are no longer used. */
    void DownloadInto(DownloadGoal& goal, BlockSink& sink);
    void StopDownload();
    /** Requests a block from that peer; the error is Core's sentence. */
    Result<> FetchBlock(PeerId peer, const HeaderNode& node);
    /** Number of block-relay slots beyond Core's two, while the booster syncs. */
    void SetExtraPeers(int count);
    /** Asks the peers for their last headers, and returns how many have sent all of them. */
    HeaderAnswers AskForLastHeaders();
    /** Number of peers that send the coins that a block spends (BIP455). */
    size_t CountSpentCoinsPeers();

private:
    NetworkState& m_state;
    PeerManager& m_manager;
    AutomaticPeers& m_automatic;
};

/** Hints from peers; see HintsExchange. */
class HintsFetching {
public:
    HintsFetching(NetworkState& state, PeerManager& manager) : m_state(state), m_manager(manager) {}

    void Fetch(HintsGoal& goal, int64_t offer_time);
    /** On return, the goal is no longer used. */
    void Stop();
    void Next(const std::string& why);
    void Punish(const Uint256& id);

private:
    NetworkState& m_state;
    PeerManager& m_manager;
};

/** Relay of transactions. */
class TxControl {
public:
    TxControl(NetworkState& state, PeerManager& manager) : m_state(state), m_manager(manager) {}

    /** Announces a transaction of the pool to peers. */
    void Announce(const TransactionRef& tx);
    /** Announces again users' transactions that no peer has fetched yet. */
    void AnnounceAgain();
    std::vector<OrphanPool::Orphan> Orphans();

    // Without the pool (-privatebroadcast); see PrivateRelay.

    PrivateAddition SendPrivately(const TransactionRef& tx);
    std::vector<PrivateTx> PrivateTxs();
    std::vector<TransactionRef> AbortPrivate(const Uint256& id);
    void FindStalePrivate();

private:
    NetworkState& m_state;
    PeerManager& m_manager;
};

} // namespace ibd
