// Network: peers without sockets - PeerManagers joined by links that have a latency and a
// bandwidth, on one clock and one thread, so that a whole sync repeats exactly. Events at the same
// moment happen in the order of their causes. Memory: the messages in transit.
#pragma once

#include "chain/chain.h"
#include "net/peer/peer_manager.h"
#include "net/seeded_env.h"
#include "sim/rng.h"

#include <functional>
#include <map>
#include <set>

namespace ibd::sim {

/** Properties of a link, the same in both directions. */
struct LinkQuality {
    int64_t latency = 20'000;              //!< microseconds each way
    int64_t bytes_per_second = 10'000'000; //!< each way
    int64_t jitter = 0;     //!< microseconds that a message is late at most; order is kept
    int64_t stalls_ppm = 0; //!< chance that a message is lost and sent again, in millionths
    int64_t stall = 0;      //!< microseconds until then; later messages wait
};

/** A complete chain that does not change. */
class ServedChain final : public PeerChain, public HeaderSink, public BlockProvider {
public:
    /** `blocks`: by height, from genesis; outlive this. */
    ServedChain(const ChainParams& params, std::span<const Bytes> blocks);

    const HeaderNode& Tip() const override { return *m_active.Tip(); }
    const HeaderNode& BestHeader() const override { return *m_active.Tip(); }
    const HeaderNode* Find(const BlockHash& hash) const override { return m_tree.Find(hash); }
    BlockFacts Facts(const HeaderNode&) const override { return {true, false, true}; }
    bool IsInitialBlockDownload() const override { return false; }
    bool IsImporting() const override { return false; }
    RuleResult AcceptHeaders(std::span<const BlockHeader> headers,
                             const HeaderNode** last) override;
    Result<Bytes> ReadBlock(const HeaderNode& node) override;

private:
    HeaderTree m_tree;
    ibd::Chain m_active;
    const std::span<const Bytes> m_blocks;
};

class Network;

/** A node of the network: a PeerManager and the ends of its links. */
class Host final : public PeerLink {
public:
    /** The objects that a PeerManager uses; all outlive the host. */
    struct World {
        const ChainParams& params;
        PeerChain& chain;
        HeaderSink& headers;
        BlockProvider& blocks;
        PeerPool* pool = nullptr; //!< null: it relays no transactions
    };
    Host(Network& network, const World& world, PeerOptions options, uint64_t seed);

    PeerManager& Peers() { return m_peers; }
    /** It has something to do now. */
    void WorkSoon();
    /** It loses its links and says nothing more. */
    void Die();

    /** May change a message before it is sent; false: it is not sent. Set it before the host is
     *  connected. */
    std::function<bool(OutgoingMessage&)> tamper;
    /** Gets each arriving message before the PeerManager; true: the PeerManager does not get it. */
    std::function<bool(PeerId, const OutgoingMessage&)> hear;
    std::set<std::string> discouraged; //!< addresses

    void Send(PeerId peer, OutgoingMessage message) override;
    bool SendPaused(PeerId peer) const override;
    void Consumed(PeerId, size_t) override {}
    void Disconnect(PeerId peer) override;
    void Discourage(const NetAddress& address) override { discouraged.insert(address.ToString()); }
    PeerTraffic Traffic(PeerId peer) const override;

private:
    friend class Network;
    struct End {
        Host* other = nullptr;
        PeerId id_there = -1;
        LinkQuality quality;
        int64_t free_at = 0; //!< when what was sent before has left
        int64_t there_at = 0; //!< when it has arrived
        size_t queued = 0;   //!< bytes that have not left
        uint64_t sent = 0;   //!< bytes, with those that have not left
        PeerTraffic traffic;
    };
    /** More has to leave before more is made. */
    static constexpr size_t kSendBuffer = 1'000'000;

    void Work();
    int64_t ArrivalOn(End& end, size_t size);
    uint64_t BytesFrom(const End& end) const;
    void Arrive(PeerId peer, OutgoingMessage message, size_t size);
    void Lose(PeerId peer);

    Network& m_network;
    Rng m_rng;
    test::SeededEnv m_env;
    const std::unique_ptr<Logger> m_log;
    std::map<PeerId, End> m_ends;
    bool m_work_due = false;
    PeerManager m_peers;
};

class Network {
public:
    explicit Network(int64_t start_seconds) : m_now(start_seconds * kSecond) {}

    int64_t Now() const { return m_now; } //!< microseconds since 1970
    /** Adds an event, after the ones already added for the same time. */
    void At(int64_t when, std::function<void()> what);
    /** Processes the next event. False: there will be none. */
    bool Step();
    /** Things that have happened. */
    uint64_t Steps() const { return m_steps; }
    /** Bytes of a message on a line; by default those that it has. Blocks of a chain of small ones
     *  can take the time of large ones. Set it before hosts are connected. */
    std::function<size_t(const OutgoingMessage&)> weigh;

    struct Link {
        PeerId from = -1; //!< what `from` calls its peer
        PeerId to = -1;   //!< likewise
    };
    /** `from` makes a connection of this kind to `address`, the address of `to`; `to` sees it as
     *  the remote address as well. */
    Link Connect(Host& from, Host& to, ConnectionKind kind, const std::string& address,
                 const LinkQuality& quality);
    /** The interval at which a host runs its periodic work for peers. */
    void Tick(Host& host, int64_t micros);

private:
    std::multimap<int64_t, std::function<void()>> m_events; //!< equal ones in order of insertion
    int64_t m_now;
    uint64_t m_steps = 0;
    PeerId m_next_id = 0;
};

} // namespace ibd::sim
