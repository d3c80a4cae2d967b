// PeerNetwork: the facade of all networking. It owns the sockets (thread net-io), the peers and all
// decisions about them (thread net-msg), and the name resolver (thread net-dns). Owned by the node.
//
// Any method may be called on any thread but those three, and never while holding a lock of the
// chain: all but a few marked ones wait until net-msg has run them between two messages. Before
// Start() and after Stop() the caller's thread runs them.
//
// Memory: for each connection -maxreceivebuffer, -maxsendbuffer and the transport's unfinished
// message; the queue of net-msg is within those bounds, plus one command for each caller.
#pragma once

#include "net/network_options.h"
#include "net/peer/headers_told.h"
#include "net/peer/peer_chain.h"
#include "net/peer/peer_info.h"
#include "util/warnings.h"

#include <functional>

namespace ibd {

class BlockSink;
class DownloadGoal;
class HintsGoal;
class HintsProvider;

/** The objects that it uses; they outlive it. */
struct PeerNetworkSurroundings {
    Env& env;
    Logger& log;
    const ChainParams& params;
    PeerChain& chain; //!< called on net-msg, like the two below
    HeaderSink& headers;
    BlockProvider& blocks;
    std::function<int64_t()> now; //!< microseconds since 1970, possibly mocked; any thread
    /** The bans changed and must be saved; net-msg. May be empty. */
    std::function<void(const std::map<Subnet, BanEntry>&)> save_bans;
    NodeWarnings* warnings = nullptr; //!< may be null
    HintsProvider* hints = nullptr;   //!< hints offered to peers; net-msg; may be null
};

class PeerNetwork {
public:
    PeerNetwork(PeerNetworkSurroundings surroundings, PeerNetworkOptions options);
    ~PeerNetwork();
    PeerNetwork(const PeerNetwork&) = delete;
    PeerNetwork& operator=(const PeerNetwork&) = delete;

    // Life cycle; on one thread.

    /** Reads peers.dat, unless done before. The error is Core's sentence. */
    Result<> LoadAddresses();
    /** Listens, and starts to connect. The error is Core's sentence. */
    Result<> Start();
    /** Returns at once; no new connections are made. */
    void Interrupt();
    /** Closes all connections, ends the threads, and writes peers.dat and anchors.dat. */
    void Stop();

    // Events of the chain. The first two do not wait.

    /** The active chain ends in `tip`, and left the old one at `fork`. */
    void TipChanged(const HeaderNode& tip, const HeaderNode& fork);
    /** Something that peers wait for may have changed: room in the sink, a block to announce. */
    void Wake();
    /** See BlockRelay. On return, the earlier goal and sink are no longer used. */
    void DownloadInto(DownloadGoal& goal, BlockSink& sink);
    void StopDownload();
    /** See HintsExchange. When the second returns, the goal is no longer used. */
    void FetchHints(HintsGoal& goal, int64_t offer_time);
    void StopHints();
    void NextHints(const std::string& why);
    void PunishForHints(const Uint256& id);

    // Queries (getpeerinfo and others).

    std::vector<PeerInfo> Peers();
    struct Counts {
        size_t in = 0;
        size_t out = 0;
    };
    Counts ConnectionCounts(); //!< of admitted peers
    /** Asks the peers for their last headers, and returns how many have sent all of them. */
    HeadersTold AskForLastHeaders();
    struct UploadTarget {
        int64_t timeframe = 0; //!< seconds
        uint64_t target = 0;   //!< bytes; 0: no limit
        bool reached = false;
        bool serves_historical = true;
        uint64_t bytes_left = 0;
        int64_t seconds_left = 0;
    };
    struct Totals {
        uint64_t received = 0; //!< bytes
        uint64_t sent = 0;     //!< bytes
        UploadTarget upload;
    };
    Totals TotalTraffic();
    struct OwnAddress {
        Endpoint address;
        int score = 0; //!< certainty (LocalAddresses)
    };
    std::vector<OwnAddress> OwnAddresses();
    /** Listening addresses; ports of 0 are replaced by those chosen by the system. */
    std::vector<Endpoint> Listening();
    /** Seconds that the clocks of outbound peers are ahead: the median. */
    int64_t TimeOffset();
    NetworkWays Ways();
    const PeerNetworkOptions& Options() const { return m_options; }

    // Commands of the user.

    void SetActive(bool active); //!< false: disconnects all peers and makes no connections
    bool IsActive();
    void PingAll(); //!< soon
    /** False: it was added before. */
    bool AddNode(const std::string& name, bool v2);
    /** False: it was not added. */
    bool RemoveNode(const std::string& name);
    /** Connects once, unless connected; returns when the attempt has ended. */
    void TryNode(const std::string& name, bool v2);
    struct AddedNode {
        std::string name;
        bool v2 = false;
        Endpoint address; //!< if connected
        bool connected = false;
        bool inbound = false;
    };
    std::vector<AddedNode> AddedNodes();
    /** For tests: an automatic connection of that kind to a given address; returns when the attempt
     *  has ended. False: no slot is free. */
    bool AddConnection(const std::string& address, ConnectionKind kind, bool v2);
    /** By id, or by name as in Peers(); false: no such peer. */
    bool Disconnect(PeerId peer);
    bool Disconnect(const std::string& name);
    /** False: no such peer, or it has not sent verack. */
    bool SendMessage(PeerId peer, const std::string& type, Bytes payload);
    /** Requests a block from that peer; the error is Core's sentence. */
    Result<> FetchBlock(PeerId peer, const HeaderNode& node);
    /** Number of block-relay slots beyond Core's two, while the booster syncs. */
    void SetExtraBlockPeers(int count);

    // Bans. Each change is saved, and banned peers are disconnected.

    /** See BanList::Ban(). */
    bool Ban(const Subnet& range, int64_t seconds, bool absolute);
    bool Unban(const Subnet& range);
    void ClearBans();
    bool IsBanned(const Subnet& range);
    bool IsBanned(const NetAddress& address);
    std::map<Subnet, BanEntry> Bans();

    // The address manager.

    /** At most `count` (0: all), without banned ones. */
    std::vector<PeerAddress> KnownAddresses(size_t count, std::optional<AddressNetwork> network);
    enum class AddResult { kOk, kNotAddedToNew, kNotAddedToTried };
    AddResult AddPeerAddress(const Endpoint& address, bool tried);
    struct TableSizes {
        size_t in_new = 0;
        size_t in_tried = 0;
    };
    /** Of one network, or of all. */
    TableSizes AddressCounts(std::optional<AddressNetwork> network);
    std::vector<std::pair<AddrInfo, AddrMan::Position>> AddressTable(bool tried);

private:
    void Run(const std::function<void()>& body);
    /** Runs `body` on net-msg and returns its result. */
    template <typename Body>
    auto Ask(const Body& body)
    {
        std::optional<decltype(body())> value;
        Run([&] { value.emplace(body()); });
        return std::move(*value);
    }

    const PeerNetworkOptions m_options;
    class Impl;
    std::unique_ptr<Impl> m_impl;
};

} // namespace ibd
