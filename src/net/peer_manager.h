// PeerManager: what is said to peers and made of what they say - handshake, pings, headers, blocks
// for them and from them, and who is sent away. It has no socket, no thread and no clock, so that a
// network of them runs from one seed: messages come by Received(), answers leave by a PeerLink,
// time, chance and the chain come in through interfaces. Rules and numbers are Bitcoin Core's.
//
// Owned by the node or a test; one thread. Memory: that of its peers (peer.h).
#pragma once

#include "net/address_book.h"
#include "net/block_downloader.h"
#include "net/block_sink.h"
#include "net/headers_told.h"
#include "net/hints_downloader.h"
#include "net/message_capture.h"
#include "net/peer.h"
#include "net/peer_chain.h"
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
/** A peer that is silent for so long is gone. */
inline constexpr int64_t kPeerTimeout = 20 * 60 * kSecond;
/** So long the answer to a getheaders is waited for before the next is sent. */
inline constexpr int64_t kHeadersResponseTime = 120 * kSecond;
inline constexpr int64_t kHeadersTimeoutBase = 15 * 60 * kSecond;
inline constexpr int64_t kHeadersTimeoutPerHeader = kSecond / 1000;
inline constexpr int64_t kChainCheckSeconds = 20 * 60;

// Bounds.
inline constexpr int kMaxProtectedPeers = 4;                 //!< from replacement for an old chain
inline constexpr size_t kMaxAnnouncements = 8;               //!< headers in an announcement
inline constexpr int32_t kMaxCompactDepth = 5;               //!< blocks served by cmpctblock
inline constexpr int32_t kMaxBlockTxnDepth = 10;             //!< likewise by blocktxn
inline constexpr int32_t kMaxCompactAhead = 2;               //!< blocks above the tip, to complete
inline constexpr size_t kMaxCompactDownloads = 3;            //!< peers that complete one block
inline constexpr size_t kMaxGetBlocks = 500;                 //!< hashes in answer to a getblocks
inline constexpr int64_t kStaleBlockAge = 30 * 24 * 60 * 60; //!< seconds; older ones are not served
/** Older blocks count as history, which is served as far as -maxuploadtarget goes. */
inline constexpr int64_t kHistoricalAge = 7 * 24 * 60 * 60; //!< seconds
inline constexpr int kLimitedBlocks = 288; //!< that a node with NODE_NETWORK_LIMITED has
/** The payload of one is the block. */
inline constexpr std::string_view kBlockType = "block";
inline constexpr size_t kMaxTimeOffsets = 50;      //!< kept
inline constexpr size_t kMinTimeOffsets = 5;       //!< below it there is no median
inline constexpr int64_t kMaxClockError = 10 * 60; //!< seconds, before the user is warned
inline constexpr int kLimitedConnectDepth = 144; //!< blocks behind, to be content with such a peer

struct PeerOptions {
    uint64_t services = kNodeNetwork | kNodeWitness | kNodeNetworkLimited | kNodeP2pV2;
    std::string user_agent;
    Arith256 minimum_work;          //!< of a chain that is synced to (-minimumchainwork)
    bool blocks_only = false;       //!< transactions are a violation (-blocksonly)
    bool log_addresses = false;     //!< -logips
    int64_t handshake_seconds = 60; //!< -peertimeout
    bool prune_mode = false;
    // Slots of those whom we choose.
    size_t max_full_relay = 8;
    size_t max_block_relay = 2;
    bool may_want_more = true; //!< one more may be called when the tip is old
};

/** All that it works on; they outlive it. */
struct PeerSurroundings {
    Env& env; //!< for chance
    Logger& log;
    const ChainParams& params;
    PeerChain& chain;
    HeaderSink& headers;
    BlockProvider& blocks;
    PeerLink& link;
    std::function<int64_t()> now;     //!< microseconds since 1970, as tests may set it
    AddressBook* addresses = nullptr; //!< null: there is no gossip
    /** What a compact block may be completed with; null: nothing. */
    const TransactionSource* transactions = nullptr;
    MessageCapture* capture = nullptr; //!< null: messages are not kept
    NodeWarnings* warnings = nullptr;  //!< null: nobody is warned
    HintsProvider* hints = nullptr;    //!< that peers may have; null: none
};

class PeerManager {
public:
    PeerManager(PeerSurroundings surroundings, PeerOptions options);

    /** Blocks that the goal misses are fetched into the sink from now on. Both outlive this, or are
     *  replaced by another call. */
    void DownloadInto(DownloadGoal& goal, BlockSink& sink);
    /** Nothing is fetched any more; what comes still is dropped. */
    void StopDownload();

    /** From now on those whom we call are told that hints are wanted, and what they have is
     *  fetched. The goal outlives this, or StopHints(). Before that nothing is called again. */
    void FetchHints(HintsGoal& goal, int64_t offer_time = kHintsOfferTime);
    void StopHints() { m_hints.reset(); }
    /** The hints that the goal has completed are refused: those of the next best offer. */
    void NextHints(const std::string& why)
    {
        if (m_hints) m_hints->Next(why, Now());
    }
    /** Those of which these hints came were wrong: they are sent away. */
    void PunishForHints(const Uint256& id);

    // From the connections.

    void Connected(NewPeer connection);
    /** A message that will be read when its turn comes; PeerLink::Consumed() says so. */
    void Received(PeerId peer, ReceivedMessage message);
    void Disconnected(PeerId peer);

    // From the chain.

    /** The active chain ends in `tip`, and has left the old one at `fork`. */
    void TipChanged(const HeaderNode& tip, const HeaderNode& fork);

    /** Reads at most one message of each peer and does for each what is due. Returns whether more
     *  can be done at once; otherwise call it when something has come in, and ten times a second.
     */
    bool Work();

    // For the user.

    void PingAll();
    /** Logs "`why`, disconnecting peer=3". False: there is no such peer. */
    bool Disconnect(PeerId peer, const std::string& why);
    /** Any message, as a test of the other side. False: no such peer has said verack. */
    bool SendTo(PeerId peer, OutgoingMessage message);
    /** Asks a peer for a block, whoever else was asked for it. The error is Core's sentence. */
    Result<> FetchBlock(PeerId peer, const HeaderNode& node);
    std::vector<PeerInfo> Info() const;
    size_t Count() const { return m_peers.size(); }
    /** Asks the peers for the last headers that they have. */
    HeadersTold AskForLastHeaders();
    /** Seconds that the clocks of those whom we called are ahead of ours: the median, once there
     *  are a few. */
    int64_t TimeOffset() const;
    /** The tip is so old that somebody else may know a better one: call one more. */
    bool WantsAnother() const { return m_wants_another; }
    /** The chain was synced once: a new peer now and then is asked for its headers. */
    bool IsSynced() const { return m_synced; }
    /** Peers that have said verack. */
    size_t CountEstablished(ConnectionKind kind) const;
    /** Whether one who offers these is worth a slot. */
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
    /** The message, or nothing after saying so in the log. */
    template <typename Message>
    std::optional<Message> Read(const Peer& /*peer*/, ByteSpan payload)
    {
        auto message = Decode<Message>(payload);
        if (message) return std::move(*message);
        LogRefused(Message::kType, payload.size(), message.Message());
        return std::nullopt;
    }
    /** Of a message that is of no use here: whether it can be decoded, where the log may say so. */
    template <typename Message>
    bool IsReadable(const Peer& peer, ByteSpan payload)
    {
        if (!m_at.log.Wants(LogLevel::kDebug, LogCategory::kNet)) return true;
        return Read<Message>(peer, payload).has_value();
    }
    void LogRefused(std::string_view type, size_t size, const std::string& why);
    /** Logs "`why`, disconnecting peer=3", and does. */
    void Drop(Peer& peer, const std::string& why, bool always_log = false);
    void Close(Peer& peer);
    void Misbehaving(Peer& peer, const std::string& why);
    Peer* Find(PeerId id);
    /** "peer=3", with the address if it may be logged. */
    std::string NameOf(const Peer& peer) const;
    bool IsActive(const HeaderNode& node) const;
    int64_t Now() const { return m_at.now(); }
    int64_t NowSeconds() const { return m_at.now() / kSecond; }
    uint64_t Random64();

    const PeerSurroundings m_at;
    const PeerOptions m_options;
    const SipKey m_relay_key; //!< chance: decides who is told which addresses
    std::map<PeerId, std::unique_ptr<Peer>> m_peers;
    std::optional<BlockDownloader> m_downloader; //!< there is one when there is a sink
    BlockSink* m_sink = nullptr;
    static constexpr size_t kMaxNamedAddresses = 1024;
    /** Of peers that the user named, by address. */
    std::map<std::string, std::shared_ptr<SpoiltBlocks>> m_spoilt_by_named;
    static constexpr size_t kMaxDeparted = 64;
    /** Of those of them that left last. */
    std::deque<std::pair<PeerId, std::shared_ptr<SpoiltBlocks>>> m_spoilt_of_departed;
    std::optional<HintsDownloader> m_hints; //!< while hints are wanted
    CompactAnnouncers m_announcers;
    /** A block that was lately sent or asked for as a compact one. */
    struct CompactForm {
        const HeaderNode* node = nullptr;
        Bytes raw;
        BlockView view;        //!< of `raw`
        Bytes compact_message; //!< payload of its cmpctblock
    };
    CompactForm m_compact_form;
    int64_t m_presync_told = -kSecond; //!< when its progress was last in the log
    int32_t m_announced_early = 0;     //!< highest block that was announced before it was connected
    // Of those beyond the slots; seconds since 1970.
    int64_t m_next_extra_check = 0;
    int64_t m_next_stale_check = 0;
    int64_t m_last_tip_change = 0;
    bool m_wants_another = false;
    bool m_synced = false;
    std::deque<int64_t> m_time_offsets; //!< seconds, the newest last
    BlockHash m_last_inv_sync; //!< block whose inv last made us ask one more peer for headers
};

/** Whether `node` lies on the branch that ends in `tip`. */
bool IsAncestor(const HeaderNode& node, const HeaderNode& tip);

} // namespace ibd
