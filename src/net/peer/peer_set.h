// PeerSet: the connected peers, and the operations that all topics need: find, send, disconnect. It
// has no socket, no thread and no clock: answers leave by a PeerLink; time, randomness and the
// chain are interfaces. Owned by PeerManager, thread of the peers. Memory: that of its peers
// (peer.h).
#pragma once

#include "net/peer/address_book.h"
#include "net/peer/peer.h"
#include "net/peer/peer_chain.h"
#include "net/peer/peer_options.h"
#include "net/peer/peer_pool.h"
#include "net/peer/peer_topic.h"
#include "net/wire/message_capture.h"
#include "util/warnings.h"

#include <functional>
#include <limits>
#include <map>
#include <optional>

namespace ibd {

class FilterProvider;
class HintsProvider;

inline constexpr int64_t kSecond = 1'000'000; //!< microseconds
/** Work for one message of a peer is interrupted after this time, so that other peers are served:
 *  50,000 announcements take longer than a block may wait. */
inline constexpr int64_t kTurn = 500; //!< microseconds
inline constexpr int64_t kNever = std::numeric_limits<int64_t>::max();
/** Blocks of a node with NODE_NETWORK_LIMITED. */
inline constexpr int kLimitedBlocks = 288;

/** The objects that the peers use; they must outlive the peers. */
struct PeerSurroundings {
    Env& env; //!< for randomness
    Logger& log;
    const ChainParams& params;
    PeerChain& chain;
    HeaderSink& headers;
    BlockProvider& blocks;
    PeerLink& link;
    std::function<int64_t()> now;     //!< microseconds since 1970, possibly mocked
    AddressBook* addresses = nullptr; //!< null: no gossip
    /** Transactions for completing compact blocks; may be null. */
    const TransactionSource* transactions = nullptr;
    MessageCapture* capture = nullptr; //!< null: messages are not stored
    NodeWarnings* warnings = nullptr;  //!< may be null
    HintsProvider* hints = nullptr;    //!< hints offered to peers; null: none
    PeerPool* pool = nullptr;          //!< null: transactions are not relayed
    FilterProvider* filters = nullptr; //!< null: there are no block filters
    /** Whether the chain lacks old blocks, so that the node offers only the last ones; null: the
     *  options decide. */
    const std::atomic<bool>* lacks_history = nullptr;
};

class PeerSet {
public:
    PeerSet(PeerSurroundings surroundings, PeerOptions options);
    PeerSet(const PeerSet&) = delete;
    PeerSet& operator=(const PeerSet&) = delete;

    const PeerSurroundings& At() const { return m_at; }
    const PeerOptions& Options() const { return m_options; }
    int64_t Now() const { return m_at.now(); }
    int64_t NowSeconds() const { return m_at.now() / kSecond; }
    uint64_t Random64() const;

    // Topics. They are set before the first peer.

    /** The order in which each event reaches them; events of private peers reach only those of
     *  `for_private`. They outlive the set's peers. */
    void SetTopics(std::vector<PeerTopic*> topics, std::vector<PeerTopic*> for_private)
    {
        m_topics = std::move(topics);
        m_private_topics = std::move(for_private);
    }
    const std::vector<PeerTopic*>& Topics() const { return m_topics; }
    const std::vector<PeerTopic*>& TopicsOf(const Peer& peer) const
    {
        return peer.IsPrivate() ? m_private_topics : m_topics;
    }
    /** Reserves a place for a topic's state in each peer; used by PeerStates. */
    size_t AddSlot(std::function<std::unique_ptr<PeerSlot>()> make);

    // Peers.

    Peer& Add(NewPeer connection);
    void Remove(const Peer& peer) { m_peers.erase(peer.Id()); }
    Peer* Find(PeerId id);
    const std::map<PeerId, std::unique_ptr<Peer>>& All() const { return m_peers; }
    /** Number of peers that have sent verack. */
    size_t CountEstablished(ConnectionKind kind) const;
    /** "peer=3", with the address if logging allows it. */
    std::string NameOf(const Peer& peer) const;

    // Messages.

    template <typename Message>
    void Send(Peer& peer, const Message& message)
    {
        SendRaw(peer, MakeOutgoing(message));
    }
    void SendRaw(Peer& peer, OutgoingMessage message);
    /** During the handshake: sends a feature (BIP434), unless the connection is too brief or the
     *  peer too old for one. Returns whether it was sent. */
    bool SendFeature(Peer& peer, std::string_view id, Bytes data);
    /** Decodes the message; nothing after an error, which is logged. */
    template <typename Message>
    std::optional<Message> Read(ByteSpan payload) const
    {
        auto message = Decode<Message>(payload);
        if (message) return std::move(*message);
        LogRefused(Message::kType, payload.size(), message.Message());
        return std::nullopt;
    }
    /** For a message that is not used: whether it can be decoded. Decodes only if the log shows
     *  errors. */
    template <typename Message>
    bool IsReadable(ByteSpan payload) const
    {
        if (!m_at.log.Wants(LogLevel::kDebug, LogCategory::kNet)) return true;
        return Read<Message>(payload).has_value();
    }
    void LogRefused(std::string_view type, size_t size, const std::string& why) const;
    void LogUnknown(const Peer& peer, std::string_view type) const;

    // Ends.

    /** Logs "`why`, disconnecting peer=3", and disconnects. */
    void Drop(Peer& peer, const std::string& why, bool always_log = false);
    void Close(Peer& peer);
    /** The peer is punished before its next message is read. */
    void Misbehaving(Peer& peer, const std::string& why) const;

    /** Whether the peer may send and announce transactions. */
    bool MaySendTxs(const Peer& peer) const;

    // Views of the chain.

    bool IsActive(const HeaderNode& node) const;
    /** The services that a peer must have to be useful. `services`: those that it has. When our
     *  chain is nearly complete, serving the last blocks suffices. */
    uint64_t DesirableServices(uint64_t services) const;
    bool IsDesirable(uint64_t services) const
    {
        return (DesirableServices(services) & ~services) == 0;
    }

private:
    const PeerSurroundings m_at;
    const PeerOptions m_options;
    std::vector<PeerTopic*> m_topics;
    std::vector<PeerTopic*> m_private_topics;
    std::vector<std::function<std::unique_ptr<PeerSlot>()>> m_slots;
    std::map<PeerId, std::unique_ptr<Peer>> m_peers;
};

/** A topic's state of each peer; it lives as long as the peer. */
template <typename State>
class PeerStates {
public:
    explicit PeerStates(PeerSet& peers)
        : m_slot(peers.AddSlot([] { return std::make_unique<Slot>(); }))
    {
    }
    State& operator[](Peer& peer) const { return static_cast<Slot&>(*peer.slots[m_slot]).state; }
    const State& operator[](const Peer& peer) const
    {
        return static_cast<const Slot&>(*peer.slots[m_slot]).state;
    }

private:
    struct Slot final : PeerSlot {
        State state;
    };
    const size_t m_slot;
};

/** Whether `node` is on the branch that ends in `tip`. */
bool IsAncestor(const HeaderNode& node, const HeaderNode& tip);

} // namespace ibd
