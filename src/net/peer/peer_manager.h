// PeerManager: the protocol with peers: handshake, pings, headers, blocks in both directions, and
// disconnections. It has no socket, no thread and no clock, so that a simulated network runs from
// one seed: messages come in by Received(), answers leave by a PeerLink; time, randomness and the
// chain are interfaces. Rules and numbers are Bitcoin Core's.
//
// Owned by the node or a test; one thread. Memory: that of its peers (peer.h).
#pragma once

#include "net/peer/address_book.h"
#include "net/peer/block_downloader.h"
#include "net/peer/block_sink.h"
#include "net/peer/headers_told.h"
#include "net/peer/hints_downloader.h"
#include "net/peer/peer.h"
#include "net/peer/peer_chain.h"
#include "net/wire/message_capture.h"
#include "util/warnings.h"

#include <functional>
#include <limits>
#include <map>
#include <optional>

namespace ibd {

// Periods, in microseconds unless a name says otherwise.
inline constexpr int64_t kSecond = 1'000'000;
inline constexpr int64_t kNever = std::numeric_limits<int64_t>::max();
inline constexpr int64_t kPingInterval = 120 * kSecond;
/** A peer silent for this long is considered gone. */
inline constexpr int64_t kPeerTimeout = 20 * 60 * kSecond;
/** Wait for the answer to a getheaders before the next is sent. */
inline constexpr int64_t kHeadersResponseTime = 120 * kSecond;
inline constexpr int64_t kHeadersTimeoutBase = 15 * 60 * kSecond;
inline constexpr int64_t kHeadersTimeoutPerHeader = kSecond / 1000;
inline constexpr int64_t kChainCheckSeconds = 20 * 60;

// Limits.
inline constexpr int kMaxProtectedPeers = 4;                 //!< from replacement because of an old
                                                             //!< chain
inline constexpr size_t kMaxAnnouncements = 8;               //!< headers in an announcement
inline constexpr int32_t kMaxCompactDepth = 5;               //!< blocks served by cmpctblock
inline constexpr int32_t kMaxBlockTxnDepth = 10;             //!< blocks served by blocktxn
inline constexpr int32_t kMaxCompactAhead = 2;               //!< blocks above the tip to complete
inline constexpr size_t kMaxCompactDownloads = 3;            //!< peers that complete one block at a
                                                             //!< time
inline constexpr size_t kMaxGetBlocks = 500;                 //!< hashes in an answer to getblocks
inline constexpr int64_t kStaleBlockAge = 30 * 24 * 60 * 60; //!< seconds; older ones off the active
                                                             //!< chain are not served
/** Older blocks count as history, which is served within -maxuploadtarget. */
inline constexpr int64_t kHistoricalAge = 7 * 24 * 60 * 60; //!< seconds
inline constexpr int kLimitedBlocks = 288; //!< blocks of a node with NODE_NETWORK_LIMITED
/** The payload of one is the block. */
inline constexpr std::string_view kBlockType = "block";
inline constexpr size_t kMaxTimeOffsets = 50;      //!< stored samples
inline constexpr size_t kMinTimeOffsets = 5;       //!< least samples for a median
inline constexpr int64_t kMaxClockError = 10 * 60; //!< seconds; above it the user is warned
inline constexpr int kLimitedConnectDepth = 144;   //!< blocks behind the tip, to accept a limited
                                                   //!< peer

struct PeerOptions {
    uint64_t services = kNodeNetwork | kNodeWitness | kNodeNetworkLimited | kNodeP2pV2;
    std::string user_agent;
    Arith256 minimum_work;          //!< least work of a chain to download (-minimumchainwork)
    bool blocks_only = false;       //!< transactions are a violation (-blocksonly)
    bool log_addresses = false;     //!< -logips
    int64_t handshake_seconds = 60; //!< -peertimeout
    bool prune_mode = false;
    // Slots of automatic outbound peers.
    size_t max_full_relay = 8;
    size_t max_block_relay = 2;
    bool may_want_more = true; //!< one more peer may be connected when the tip is old
};

/** The objects that it uses; they outlive it. */
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
};

class PeerManager {
public:
    PeerManager(PeerSurroundings surroundings, PeerOptions options);

    /** Fetches the blocks missing from the goal into the sink from now on. Both outlive this, or
     *  are replaced by another call. */
    void DownloadInto(DownloadGoal& goal, BlockSink& sink);
    /** Ends fetching; blocks that come before the next download are dropped. */
    void StopDownload();

    /** From now on outbound peers learn that hints are wanted, and offered files are fetched. The
     *  goal outlives this, or StopHints(). Do not call it again before StopHints(). */
    void FetchHints(HintsGoal& goal, int64_t offer_time = kHintsOfferTime);
    void StopHints() { m_hints.reset(); }
    /** The hints that the goal has completed are refused: fetches the next best offer. */
    void NextHints(const std::string& why)
    {
        if (m_hints) m_hints->Next(why, Now());
    }
    /** Disconnects the peers that offered these wrong hints. */
    void PunishForHints(const Uint256& id);

    // Events of connections.

    void Connected(NewPeer connection);
    /** A message to be read in turn; PeerLink::Consumed() reports that. */
    void Received(PeerId peer, ReceivedMessage message);
    void Disconnected(PeerId peer);

    // Events of the chain.

    /** The active chain ends in `tip`, and left the old one at `fork`. */
    void TipChanged(const HeaderNode& tip, const HeaderNode& fork);

    /** Reads at most one message of each peer and does its due work. Returns whether more can be
     *  done at once; otherwise call it after an arrival, and ten times a second. */
    bool Work();

    // For the user.

    void PingAll();
    /** Logs "`why`, disconnecting peer=3". False: no such peer. */
    bool Disconnect(PeerId peer, const std::string& why);
    /** Sends any message, to test the other side. False: no such peer has sent verack. */
    bool SendTo(PeerId peer, OutgoingMessage message);
    /** Requests a block from a peer, even if others were asked for it. The error is Core's
     *  sentence. */
    Result<> FetchBlock(PeerId peer, const HeaderNode& node);
    std::vector<PeerInfo> Info() const;
    size_t Count() const { return m_peers.size(); }
    /** Asks the peers for their last headers. */
    HeadersTold AskForLastHeaders();
    /** Seconds that the clocks of outbound peers are ahead of ours: the median, once there are some
     *  samples. */
    int64_t TimeOffset() const;
    /** The tip is so old that another peer may know a better one: one more should be connected. */
    bool WantsAnother() const { return m_wants_another; }
    /** The chain was synced once: occasionally a new peer is asked for its headers. */
    bool IsSynced() const { return m_synced; }
    /** Number of peers that have sent verack. */
    size_t CountEstablished(ConnectionKind kind) const;
    /** Whether a peer with these services deserves a slot. */
    bool IsDesirable(uint64_t services) const
    {
        return (DesirableServices(services) & ~services) == 0;
    }

private:
    // peer_manager.cpp
    bool ReadOne(Peer& peer);
    void Handle(Peer& peer, ReceivedMessage& message);
    void HandleEstablished(Peer& peer, ReceivedMessage& message);
    bool HandleUpkeep(Peer& peer, const ReceivedMessage& message);
    void HandlePong(Peer& peer, ByteSpan payload);
    void HandleTransactions(Peer& peer, const ReceivedMessage& message);
    void HandleFilterRequest(Peer& peer, const ReceivedMessage& message);
    void Maintain(Peer& peer);
    void MaintainPing(Peer& peer);
    bool IsInactive(const Peer& peer) const;
    bool PunishIfMisbehaved(Peer& peer);
    PeerInfo InfoOf(const Peer& peer) const;

    // peer_handshake.cpp
    void SendVersion(Peer& peer);
    void HandleVersion(Peer& peer, ByteSpan payload);
    bool AcceptVersion(Peer& peer, const VersionMessage& message);
    void NoteTimeOffset(Peer& peer, int64_t seconds);
    void CheckClock();
    void AnswerVersion(Peer& peer);
    void HandleVerack(Peer& peer);
    bool HandleNegotiation(Peer& peer, const ReceivedMessage& message);
    void HandleFeature(Peer& peer, ByteSpan payload);
    void HandleSendCompact(Peer& peer, ByteSpan payload);
    bool IsOwnNonce(uint64_t nonce) const;
    uint64_t DesirableServices(uint64_t services) const;

    // peer_hints.cpp
    void AskForHints(Peer& peer);
    bool TakeHintsFeature(Peer& peer, const FeatureMessage& feature);
    void OfferHints(Peer& peer);
    bool HandleHintsMessage(Peer& peer, const ReceivedMessage& message);
    void HandleHints(Peer& peer, ByteSpan payload);
    void HandleGetHints(Peer& peer, ByteSpan payload);
    void HandleHintsData(Peer& peer, ByteSpan payload);
    void ServeHints(Peer& peer);
    void MaintainHints();
    void WrongHints(Peer& peer, const std::string& why);

    // peer_addresses.cpp
    int64_t RandomDelay(int64_t mean);
    bool EnableGossip(Peer& peer);
    void StartGossip(Peer& peer);
    void HandleGetAddr(Peer& peer);
    void HandleAddresses(Peer& peer, const ReceivedMessage& message);
    void TakeAddresses(Peer& peer, std::vector<PeerAddress> list);
    bool TakeAddress(Peer& peer, PeerAddress& address, bool may_relay);
    void RelayAddress(PeerId from, const PeerAddress& address, bool reachable);
    void PushAddress(Peer& peer, const PeerAddress& address);
    void SendAddresses(Peer& peer, const std::vector<PeerAddress>& list);
    void TellOfOurselves(Peer& peer);
    void MaintainAddresses(Peer& peer);

    // peer_extra.cpp
    void MaintainExtra();
    void CheckStaleTip();
    void SetWantsAnother(bool wanted);
    bool MayEvict(const Peer& peer) const;
    void EvictExtraBlockRelay();
    void EvictExtraFullRelay();

    // peer_bloom.cpp
    void HandleBloom(Peer& peer, const ReceivedMessage& message);
    void LoadBloom(Peer& peer, ByteSpan payload);
    void AddToBloom(Peer& peer, ByteSpan payload);
    void SetBloom(Peer& peer, std::optional<BloomFilter> filter);
    void SendFiltered(Peer& peer, const BlockView& block);

    // peer_headers.cpp
    void HandleHeaders(Peer& peer, ByteSpan payload);
    void ProcessHeaders(Peer& peer, std::vector<BlockHeader> headers);
    bool CheckHeaders(Peer& peer, const std::vector<BlockHeader>& headers,
                      const std::vector<BlockHash>& hashes);
    void LogPresync(const HeaderSync& sync);
    bool ContinueHeaderSync(Peer& peer, std::vector<BlockHeader>& headers,
                            const std::vector<BlockHash>& hashes);
    bool StartHeaderSync(Peer& peer, const HeaderNode& start, std::vector<BlockHeader>& headers,
                         const std::vector<BlockHash>& hashes);
    void StoreHeaders(Peer& peer, const std::vector<BlockHeader>& headers, bool is_new,
                      bool may_have_more, bool syncing);
    void PunishForHeader(Peer& peer, const RuleViolation& why, bool via_compact = false);
    void LogNewHeader(const Peer& peer, const HeaderNode& node, bool via_compact) const;
    void HeadersStored(Peer& peer, const HeaderNode& last, bool may_have_more);
    bool RequestHeaders(Peer& peer, const std::vector<BlockHash>& locator);
    void MaintainHeaders(Peer& peer);
    void StartSync(Peer& peer);
    void AskForBestHeader(Peer& peer);
    void CheckHeadersTimeout(Peer& peer);
    void CheckChain(Peer& peer);
    void HandleGetHeaders(Peer& peer, ByteSpan payload);
    void NoteAnnounced(Peer& peer, const BlockHash& hash);
    void ResolveUnknown(Peer& peer);
    Arith256 WorkThreshold() const;
    bool IsOnBestOrActive(const HeaderNode* node) const;

    // peer_blocks.cpp
    bool MustWait(const Peer& peer, const ReceivedMessage& message) const;
    void HandleBlock(Peer& peer, Bytes raw);
    void EndRequest(const Peer& peer, ByteSpan raw);
    void Deliver(Peer& peer, PeerBlock block);
    bool MayAddHeader(Peer& peer, const BlockHeader& header, ByteSpan raw);
    void CheckUnwanted(Peer& peer, const HeaderNode& node, ByteSpan raw);
    bool IsWorthTaking(const HeaderNode& node) const;
    void MaintainBlocks(Peer& peer);
    void ShortenStallTimeout(int32_t blocks_connected);
    void LogStallTimeout(const char* what) const;
    void FetchDirectly(Peer& peer, const HeaderNode& last);
    void AskForBlocks(Peer& peer, const std::vector<const HeaderNode*>& nodes,
                      InventoryType type = kInvWitnessBlock);
    bool MayAskForBlocks(const Peer& peer) const;
    bool IsCaughtUp() const;
    std::string FirstInFlight(const Peer& peer) const;
    void HandleVerdicts();
    void HandleRefused(const RefusedBlock& refused);
    void ShareSpoilt(Peer& peer);
    void KeepSpoilt(const Peer& peer);
    SpoiltBlocks* FindSpoilt(PeerId id);
    void NoteSpoilt(PeerId id, const HeaderNode& node, const char* how);
    void PunishUndecodable(Peer& peer);

    // peer_compact.cpp
    bool MaySendCompact(const Peer& peer) const;
    void HandleCompactBlock(Peer& peer, ByteSpan payload);
    const HeaderNode* AcceptCompactHeader(Peer& peer, const BlockHeader& header);
    void TakeCompactBlock(Peer& peer, const HeaderNode& node, const CompactBlockMessage& message);
    void StartPartial(Peer& peer, const HeaderNode& node, const CompactBlockMessage& message);
    PartialBlock::Status InitPartial(PartialBlock& partial, const HeaderNode& node,
                                     const CompactBlockMessage& message) const;
    void FillAtOnce(Peer& peer, const HeaderNode& node, const CompactBlockMessage& message);
    void HandleBlockTxn(Peer& peer, ByteSpan payload);
    void FillPartial(Peer& peer, const HeaderNode& node, std::span<const TransactionRef> txs);
    PartialBlock::Status FillBlock(PartialBlock& partial, const HeaderNode& node,
                                   std::span<const TransactionRef> txs, Bytes& raw) const;
    void AskInFull(Peer& peer, const HeaderNode& node);
    bool IsFirstAsked(const Peer& peer, const HeaderNode& node) const;
    bool IsOutbound(PeerId id) const;
    void BroughtBlock(PeerId id);
    bool LoadCompactForm(const HeaderNode& node);
    bool SendCompact(Peer& peer, const HeaderNode& node);
    void AnnounceEarly(const HeaderNode& node);
    void HandleGetBlockTxn(Peer& peer, ByteSpan payload);
    void SendBlockTxn(Peer& peer, const GetBlockTxnMessage& request, const BlockView& block);

    // peer_serving.cpp
    void HandleInv(Peer& peer, ByteSpan payload);
    void AskForHeadersOf(Peer& peer, const BlockHash& block);
    void HandleGetData(Peer& peer, ByteSpan payload);
    void ServeRequests(Peer& peer);
    bool AwaitsChain(const Peer& peer) const;
    void ServeBlock(Peer& peer, const InventoryItem& item);
    void HandleGetBlocks(Peer& peer, ByteSpan payload);
    bool SendBlock(Peer& peer, const InventoryItem& item, const HeaderNode& node);
    void Announce(Peer& peer);
    static bool HasHeader(const Peer& peer, const HeaderNode& node);
    bool CollectAnnouncement(const Peer& peer, std::vector<BlockHeader>& out) const;
    void SendInventory(Peer& peer);
    bool MayServe(const HeaderNode& node) const;
    const HeaderNode& ForkWithActive(const std::vector<BlockHash>& locator) const;

    template <typename Message>
    void Send(Peer& peer, const Message& message)
    {
        SendRaw(peer, MakeOutgoing(message));
    }
    void SendRaw(Peer& peer, OutgoingMessage message);
    /** Decodes the message; nothing after an error, which is logged. */
    template <typename Message>
    std::optional<Message> Read(const Peer& /*peer*/, ByteSpan payload)
    {
        auto message = Decode<Message>(payload);
        if (message) return std::move(*message);
        LogRefused(Message::kType, payload.size(), message.Message());
        return std::nullopt;
    }
    /** For a message without use here: whether it can be decoded. Decodes only if the log shows
     *  errors. */
    template <typename Message>
    bool IsReadable(const Peer& peer, ByteSpan payload)
    {
        if (!m_at.log.Wants(LogLevel::kDebug, LogCategory::kNet)) return true;
        return Read<Message>(peer, payload).has_value();
    }
    void LogRefused(std::string_view type, size_t size, const std::string& why);
    /** Logs "`why`, disconnecting peer=3", and disconnects. */
    void Drop(Peer& peer, const std::string& why, bool always_log = false);
    void Close(Peer& peer);
    void Misbehaving(Peer& peer, const std::string& why);
    Peer* Find(PeerId id);
    /** "peer=3", with the address if logging allows it. */
    std::string NameOf(const Peer& peer) const;
    bool IsActive(const HeaderNode& node) const;
    int64_t Now() const { return m_at.now(); }
    int64_t NowSeconds() const { return m_at.now() / kSecond; }
    uint64_t Random64();

    const PeerSurroundings m_at;
    const PeerOptions m_options;
    const SipKey m_relay_key; //!< random: determines the peers to which an address is relayed
    std::map<PeerId, std::unique_ptr<Peer>> m_peers;
    std::optional<BlockDownloader> m_downloader; //!< exists from the first download on
    BlockSink* m_sink = nullptr;
    static constexpr size_t kMaxNamedAddresses = 1024;
    /** By address, for peers named by the user. */
    std::map<std::string, std::shared_ptr<SpoiltBlocks>> m_spoilt_by_named;
    static constexpr size_t kMaxDeparted = 64;
    /** Of the last disconnected peers among them. */
    std::deque<std::pair<PeerId, std::shared_ptr<SpoiltBlocks>>> m_spoilt_of_departed;
    std::optional<HintsDownloader> m_hints; //!< exists while hints are wanted
    CompactAnnouncers m_announcers;
    /** A block recently sent or requested as a compact block. */
    struct CompactForm {
        const HeaderNode* node = nullptr;
        Bytes raw;
        BlockView view;        //!< of `raw`
        Bytes compact_message; //!< payload of its cmpctblock
    };
    CompactForm m_compact_form;
    int64_t m_presync_told = -kSecond; //!< time of its last progress line in the log
    int32_t m_announced_early = 0;     //!< highest block announced before it was connected
    // For peers beyond the slots; seconds since 1970.
    int64_t m_next_extra_check = 0;
    int64_t m_next_stale_check = 0;
    int64_t m_last_tip_change = 0;
    bool m_wants_another = false;
    bool m_synced = false;
    std::deque<int64_t> m_time_offsets; //!< seconds, the newest last
    BlockHash m_last_inv_sync; //!< block whose inv last caused a request for headers from one more
                               //!< peer
};

/** Whether `node` lies on the branch that ends in `tip`. */
bool IsAncestor(const HeaderNode& node, const HeaderNode& tip);

} // namespace ibd
