// PeerNetwork::Impl: the members of PeerNetwork and the work of its thread net-msg: it serves the
// peers after each arrival, and ten times a second, and runs commands in between. See network.h.
//
// Members below "net-msg" are used by that thread alone while it runs, otherwise by the holder of
// m_quiet.
#pragma once

#include "net/address/address_files.h"
#include "net/address/local_addresses.h"
#include "net/address/resolver.h"
#include "net/address/seed_plan.h"
#include "net/net_inbox.h"
#include "net/network.h"
#include "net/peer/address_book.h"
#include "net/peer/outbound_plan.h"
#include "net/peer/peer_manager.h"
#include "net/socket/connections.h"
#include "net/socket/port_mapper.h"
#include "net/socket/tor_control.h"
#include "net/socket/upload_meter.h"
#include "util/thread_log.h"

#include <future>

namespace ibd {

class PeerNetwork::Impl final : private ConnectionEvents, private PeerLink, private AddressBook {
public:
    static constexpr std::chrono::milliseconds kRound{100};
    static constexpr size_t kMaxAnswers = 256;
    static constexpr size_t kAnswerPercent = 23; //!< part of the known addresses in an answer to
                                                 //!< getaddr
    static constexpr int kRoundsAtOnce = 16;     //!< of messages, before other work
    static constexpr int64_t kPlanInterval = kSecond / 2;
    static constexpr size_t kMaxFetches = 1'000; //!< nodes waiting to be asked for addresses
    static constexpr size_t kMaxOfSeed = 32;     //!< addresses used from one DNS seed
    static constexpr int kMaxAdded = 8;          //!< simultaneous connections to -addnode peers
    static constexpr size_t kMaxCalls = 256;     //!< running attempts
    /** Bounds the nodes added by RPC. */
    static constexpr size_t kMaxAddedNodes = 10'000;
    static constexpr int64_t kSaveInterval = 15 * 60 * kSecond; //!< of peers.dat
    static constexpr int64_t kMapHealthInterval = 24 * 60 * 60 * kSecond;

    Impl(PeerNetworkSurroundings surroundings, const PeerNetworkOptions& options);
    ~Impl() override;

    // network_impl.cpp: life.
    Result<> LoadAddresses();
    Result<> Start();
    void Interrupt() { m_interrupted = true; }
    void Stop();
    void Run(const std::function<void()>& body);
    void Wake() { m_inbox.Wake(); }
    void TipChanged(const HeaderNode& tip, const HeaderNode& fork);

    // network_peers.cpp: connected peers. From here on, on net-msg.

    /** Data of a connection besides PeerManager's. */
    struct Link {
        NewPeer peer;
        std::string destination; //!< as the user gave it; empty: by address
        bool added = false;      //!< from AddNode()
        bool closing = false;
        bool prefer_evict = false; //!< was discouraged on arrival
        uint64_t group = 0;        //!< its network group, keyed
    };
    /** A connection to make. */
    struct Call {
        ConnectionKind kind = ConnectionKind::kManual;
        std::string destination; //!< a name or an address from the user; empty: use the next member
        PeerAddress address;
        bool v2 = false;
        bool count_failure = false; //!< in the address manager
        bool added = false;         //!< from AddNode()
        /** Callers that wait for the end of the attempt wait until this is released. */
        std::shared_ptr<std::promise<void>> over = {};
    };
    PeerNetwork::Counts ConnectionCounts() const;
    HeadersTold AskForLastHeaders() { return m_peers.AskForLastHeaders(); }
    bool Disconnect(PeerId peer, const std::string& why);
    bool Disconnect(const std::string& name);
    void DisconnectRange(const Subnet& range);
    void SetActive(bool active);

    // network_calls.cpp: outbound connections.
    /** False: not attempted, or known to be in vain. */
    bool Connect(Call call);
    bool AddConnection(const std::string& address, Call call);
    /** Releases all callers that wait for attempts. */
    void ReleaseWaitingCalls();

    // network_named.cpp: peers named by the user.
    bool AddNode(const std::string& name, bool v2);
    bool RemoveNode(const std::string& name);
    std::vector<AddedNode> AddedNodes() const;

    // network_addresses.cpp
    std::vector<PeerAddress> KnownAddresses(size_t count, std::optional<AddressNetwork> network,
                                            size_t percent = 0);
    AddResult AddPeerAddress(const Endpoint& address, bool tried);
    void LogMapHealth();

    // network_info.cpp
    std::vector<PeerInfo> Peers();
    Totals TotalTraffic();
    void BansChanged();
    AddressFileContext Files() const;

    const PeerNetworkSurroundings& At() const { return m_at; }
    PeerManager& Manager() { return m_peers; }
    BanList& Bans() { return m_bans; }
    AddrMan& Addresses() { return *m_addresses; }
    LocalAddresses& Local() { return m_local; }
    bool IsActive() const { return m_active; }
    const NetworkWays& Ways() const { return m_ways; }
    const std::vector<Endpoint>& Listening() const { return m_connections.Listening(); }
    int64_t NowSeconds() const { return m_at.now() / kSecond; }
    void SetExtraBlockPeers(int count) { m_extra_block_peers = count; }

private:
    // ConnectionEvents; net-io.
    void Accepted(Caller caller) override;
    void Dialled(DialResult result) override;
    void Received(PeerId peer, std::vector<ReceivedMessage> messages) override;
    void Relieved(PeerId) override { Wake(); }
    void Closed(PeerId peer, bool speaks_v1) override;
    void Reachable(const Endpoint& own, bool on) override;

    // PeerLink; net-msg.
    void Send(PeerId peer, OutgoingMessage message) override;
    bool SendPaused(PeerId peer) const override { return m_connections.SendPaused(peer); }
    void Consumed(PeerId peer, size_t bytes) override { m_connections.Consumed(peer, bytes); }
    void Disconnect(PeerId peer) override;
    void Discourage(const NetAddress& address) override { m_bans.Discourage(address); }
    PeerTraffic Traffic(PeerId peer) const override { return m_connections.Traffic(peer); }
    bool MayUploadHistory() const override;
    bool MayUpload() const override;
    UploadMeter UploadNow(int64_t now) const;
    Bytes GroupOf(const NetAddress& address) const override
    {
        return m_options.groups.GroupOf(address);
    }

    // AddressBook; net-msg. network_addresses.cpp
    void Heard(const std::vector<PeerAddress>& addresses, const NetAddress& source,
               int64_t penalty) override;
    void Good(const Endpoint& endpoint) override;
    void SetServices(const Endpoint& endpoint, uint64_t services) override;
    void Connected(const Endpoint& endpoint) override;
    bool IsUnwanted(const NetAddress& address) const override;
    bool IsReachable(const NetAddress& address) const override;
    std::vector<PeerAddress> Answer(const NewPeer& asker, bool trusted) override;
    bool Listens() const override { return m_options.listen; }
    void SeenAs(const Endpoint& endpoint) override;
    std::optional<Endpoint> OwnAddressFor(const NewPeer& peer, const Endpoint& seen_as) override;

    // network_impl.cpp
    void TellOfWork();
    void Loop();
    void Tick();
    void TellTip();
    Result<> Listen();
    void FindLocalAddresses();
    void MakeOnionService();
    void MakePortMapper();
    void UseTor(const Endpoint& socks);
    void SavePeersFile();
    void SaveAddresses();

    // network_peers.cpp
    void HandleAccepted(const Caller& caller);
    void HandleClosed(PeerId peer, bool speaks_v1);
    bool MayLetIn(const Caller& caller, uint32_t permissions, bool& prefer_evict);
    bool EvictInbound();
    void AddLink(SocketId socket, Link link, Connections::Speech speech);
    uint32_t WithWhitelist(uint32_t permissions, const NetAddress* address, bool incoming) const;
    bool IsConnectedTo(const NetAddress& address) const;
    bool IsConnectedTo(const Endpoint& endpoint) const;
    bool IsConnectedByName(const std::string& name) const;
    size_t CountOf(ConnectionKind kind) const;
    uint64_t KeyedGroup(const NetAddress& address) const;

    // network_calls.cpp
    struct PendingCall {
        Call call;
        std::vector<DialTarget> targets;
    };
    bool MayCall(const Call& call);
    bool IsCalling(const Call& call) const;
    void LookUpAndDial(Call call, const std::string& host, uint16_t port);
    void DialNamed(Call call, const std::vector<NetAddress>& found, uint16_t port);
    void Dial(PendingCall pending);
    void HandleDialled(const DialResult& result);
    DialTarget TargetOf(const Endpoint& endpoint) const;
    uint16_t DefaultPort(const std::string& name) const;
    bool IsProxy(const NetAddress& address) const;
    size_t CallsOf(ConnectionKind kind) const;
    int AutomaticOutbound() const;

    // network_outbound.cpp
    void MakePlans();
    void TickOutbound(int64_t now);
    void TickSeeds(int64_t now);
    void CallForAddresses();
    void CallNextChoice();
    void AskSeed(const std::string& seed);
    void TakeSeeds(const std::string& seed, const std::string& host,
                   const std::vector<NetAddress>& found);
    void FetchFrom(const std::string& name);
    bool HasEmptyNetwork() const;
    void AddFixedSeeds();

    // network_named.cpp
    void TickNamed(int64_t now);
    void CallNextAdded(int64_t now);
    void CallNextOfConnect(int64_t now);

    const PeerNetworkSurroundings m_at;
    const PeerNetworkOptions& m_options;
    std::atomic<bool> m_interrupted{false};
    std::atomic<bool> m_active;
    NetInbox m_inbox;
    Mutex m_quiet;
    Mutex m_tip_mutex;
    struct NewTip {
        const HeaderNode* tip;
        const HeaderNode* fork;
    };
    std::optional<NewTip> m_new_tip IBD_GUARDED_BY(m_tip_mutex);

    // net-msg
    RandomStream m_chance;
    const SipKey m_group_key; //!< random
    BanList m_bans;
    std::unique_ptr<AddrMan> m_addresses; //!< set by LoadAddresses()
    NetworkWays m_ways;                   //!< those of the options, until Tor reports more
    LocalAddresses m_local;
    struct CachedAnswer {
        std::vector<PeerAddress> addresses;
        int64_t until = 0; //!< seconds since 1970
    };
    std::map<Bytes, CachedAnswer> m_answers; //!< by kind of connection; at most kMaxAnswers
    UploadMeter m_upload;
    std::map<PeerId, Link> m_links;
    std::map<SocketId, PendingCall> m_calls; //!< name look-ups and dials
    PeerId m_next_peer = 0;
    struct Added {
        std::string name;
        bool v2;
    };
    std::vector<Added> m_added;
    // Next connection to a named peer; microseconds, monotonic.
    std::deque<Added> m_added_round;
    int64_t m_next_added = 0;
    size_t m_connect_position = 0;
    int m_connect_round = 0;
    int64_t m_next_connect = 0;
    const OutboundLimits m_limits;
    std::optional<OutboundPlan> m_plan; //!< set by Start(), unless -connect is given
    std::optional<SeedPlan> m_seeds;    //!< set by Start()
    std::deque<std::string> m_fetches;  //!< names to connect to for addresses
    int64_t m_next_plan = 0;            //!< microseconds, monotonic
    int m_extra_block_peers = 0;
    int64_t m_last_save = 0;       //!< microseconds, monotonic
    int64_t m_last_map_health = 0; //!< likewise

    bool m_started = false;
    Resolver m_resolver;
    Connections m_connections;
    std::optional<MessageCapture> m_capture;
    PeerManager m_peers;
    std::deque<ThreadLines> m_lines; //!< of the work that runs from Start() to Stop()
    NamedThread m_thread;
};

} // namespace ibd
