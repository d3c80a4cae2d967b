// PeerNetwork: everything that talks to peers, behind one door. It owns the sockets (thread
// net-io), the peers with all that decides about them (thread net-msg), and the thread that looks
// names up (net-dns). Owned by the node.
//
// Any method may be called on any thread but those three, and by nobody who holds a lock of the
// chain: all but the few that say otherwise wait until net-msg has run them between two messages.
// Before Start() and after Stop() the caller's thread runs them.
//
// Memory: for each connection -maxreceivebuffer, -maxsendbuffer and what the transport is in the
// middle of; what waits for net-msg is in those bounds, plus one command for each caller.
#pragma once

#include "net/network_options.h"

namespace ibd {

/** All that it works on; they outlive it. */
struct PeerNetworkSurroundings {
    Env& env;
    Logger& log;
    const ChainParams& params;
    PeerChain& chain; //!< called on net-msg, as the two below
    HeaderSink& headers;
    BlockProvider& blocks;
    std::function<int64_t()> now; //!< microseconds since 1970, as tests may set it; any thread
    /** The bans changed and are to be written; net-msg. May be empty. */
    std::function<void(const std::map<Subnet, BanEntry>&)> save_bans;
    NodeWarnings* warnings = nullptr; //!< null: nobody is warned
    HintsProvider* hints = nullptr;   //!< that peers may have; net-msg; null: none
};

class PeerNetwork {
public:
    PeerNetwork(PeerNetworkSurroundings surroundings, PeerNetworkOptions options);
    ~PeerNetwork();
    PeerNetwork(const PeerNetwork&) = delete;
    PeerNetwork& operator=(const PeerNetwork&) = delete;

    // Its life. On one thread.

    /** Reads peers.dat, if that was not done yet. The error is Core's sentence. */
    Result<> LoadAddresses();
    /** Listens, and starts to connect. The error is Core's sentence. */
    Result<> Start();
    /** Returns at once; nobody is connected to any more. */
    void Interrupt();
    /** Ends all connections and threads, and writes peers.dat and anchors.dat. */
    void Stop();

    // From the chain. Neither of the first two waits.

    /** The active chain ends in `tip`, and has left the old one at `fork`. */
    void TipChanged(const HeaderNode& tip, const HeaderNode& fork);
    /** Something that the peers wait for may have come: room in the sink, a block to announce. */
    void Wake();
    /** See PeerManager. When it returns, the goal and sink of before are no longer used. */
    void DownloadInto(DownloadGoal& goal, BlockSink& sink);
    void StopDownload();
    /** See PeerManager. When the second returns, the goal is no longer used. */
    void FetchHints(HintsGoal& goal, int64_t offer_time);
    void StopHints();
    void NextHints(const std::string& why);
    void PunishForHints(const Uint256& id);

    // What is so (getpeerinfo and others).

    std::vector<PeerInfo> Peers();
    struct Counts {
        size_t in = 0;
        size_t out = 0;
    };
    Counts ConnectionCounts(); //!< of peers that are let in
    /** Asks the peers for the last headers that they have, and says how many have told all. */
    HeadersTold AskForLastHeaders();
    struct UploadTarget {
        int64_t timeframe = 0; //!< seconds
        uint64_t target = 0;   //!< bytes; 0: none
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
        int score = 0; //!< how sure it is (LocalAddresses)
    };
    std::vector<OwnAddress> OwnAddresses();
    /** Where it listens; ports of 0 are replaced by those that the system chose. */
    std::vector<Endpoint> Listening();
    /** Seconds that the clocks of those whom we called are ahead: the median. */
    int64_t TimeOffset();
    NetworkWays Ways();
    const PeerNetworkOptions& Options() const { return m_options; }

    // What the user wants.

    void SetActive(bool active); //!< false: leaves all peers and calls nobody
    bool IsActive();
    void PingAll(); //!< soon
    /** False: it was added already. */
    bool AddNode(const std::string& name, bool v2);
    /** False: it was not added. */
    bool RemoveNode(const std::string& name);
    /** Connects once, if it is not connected; returns when that is over, well or not. */
    void TryNode(const std::string& name, bool v2);
    struct AddedNode {
        std::string name;
        bool v2 = false;
        Endpoint address; //!< if connected
        bool connected = false;
        bool inbound = false;
    };
    std::vector<AddedNode> AddedNodes();
    /** For tests: an automatic connection of that kind to an address of the tester's choice;
     *  returns when that is over, well or not. False: no slot is free. */
    bool AddConnection(const std::string& address, ConnectionKind kind, bool v2);
    /** By id or by name as Peers() has them; false: there is no such peer. */
    bool Disconnect(PeerId peer);
    bool Disconnect(const std::string& name);
    /** False: there is no such peer, or it has not said verack. */
    bool SendMessage(PeerId peer, const std::string& type, Bytes payload);
    /** Asks that peer for a block; the error is Core's sentence. */
    Result<> FetchBlock(PeerId peer, const HeaderNode& node);
    /** Block-relay slots from now on beyond Core's two, while the booster syncs. */
    void SetExtraBlockPeers(int count);

    // Bans. Each that changes them has them saved, and peers that are banned disconnected.

    /** See BanList::Ban(). */
    bool Ban(const Subnet& range, int64_t seconds, bool absolute);
    bool Unban(const Subnet& range);
    void ClearBans();
    bool IsBanned(const Subnet& range);
    bool IsBanned(const NetAddress& address);
    std::map<Subnet, BanEntry> Bans();

    // The address manager.

    /** At most `count` (0: all), banned ones left out. */
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
    /** `body`'s value, from net-msg. */
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
