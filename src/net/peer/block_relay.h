// BlockRelay: blocks from peers. Their bytes go to the BlockSink unchanged: only the header is
// parsed and hashed here, to identify the block. Owned by PeerManager. Memory: that of a
// BlockDownloader and a SpoiltRecord.
#pragma once

#include "net/peer/block_announcing.h"
#include "net/peer/block_downloader.h"
#include "net/peer/block_sink.h"
#include "net/peer/header_download.h"
#include "net/peer/hints_exchange.h"
#include "net/peer/packed_asking.h"
#include "net/peer/spent_coins_asking.h"
#include "net/peer/spoilt_record.h"

namespace ibd {

class BlockRelay final : public PeerTopic, private HeaderListener {
public:
    BlockRelay(PeerSet& peers, KnownChains& chains, HeaderDownload& headers,
               BlockAnnouncing& announcing, const HintsExchange& hints,
               const PackingFeature& packing, const SpentCoinsFeature& spent_coins);

    /** Fetches the goal's missing blocks into the sink from now on. Both must outlive this object,
     *  or be replaced by another call. */
    void DownloadInto(DownloadGoal& goal, BlockSink& sink);
    /** Ends fetching; blocks received before the next download are dropped. */
    void StopDownload();
    /** Requests a block from a peer, even if it was requested from others. The error text is
     *  Core's. */
    Result<> FetchBlock(PeerId peer, const HeaderNode& node);
    /** Whether a message must wait: a block for which the sink has no space, and any message after
     *  a block that the sink is processing. Blocks do not wait for one another. */
    bool MustWait(const Peer& peer, const ReceivedMessage& message) const;

    void Connected(Peer& peer) override { m_spoilt.Connected(peer); }
    void Closed(Peer& peer) override;
    void Disconnected(Peer& peer) override;
    void Handle(Peer& peer, ReceivedMessage& message) override;
    void StartRound() override;
    void Maintain(Peer& peer) override;
    void TipChanged(const HeaderNode& tip, const HeaderNode& fork) override;
    void Describe(const Peer& peer, PeerInfo& info) const override;

    /** No block is requested from any peer. */
    bool IsIdle() const { return !m_downloader || m_downloader->Requests().Empty(); }
    /** Heights of the blocks requested from a peer. */
    std::vector<int32_t> InFlight(const Peer& peer) const;
    bool IsAsked(const Peer& peer) const
    {
        return m_downloader && m_downloader->Requests().CountTo(peer.Id()) > 0;
    }
    /** Seconds since 1970; 0: never. */
    int64_t LastBlockOf(const Peer& peer) const { return m_states[peer].last_block; }

    // For compact blocks (compact_relay.h), the other way to fetch a block.

    /** Null: blocks are not fetched. */
    BlockDownloader* Downloader() { return m_sink ? &*m_downloader : nullptr; }
    SpoiltRecord& Spoilt() { return m_spoilt; }
    void Deliver(Peer& peer, PeerBlock block);

private:
    struct State {
        int64_t last_block = 0;      //!< seconds since 1970, of its last block; 0: never
        bool awaits_verdict = false; //!< the sink may be processing one of its blocks
        bool was_compared = false;   //!< it once had a chain as good as ours, from which blocks are
                                     //!< fetched
    };
    void HeadersAdded() override;
    void HeadersTaken(Peer& peer, const HeaderNode& last) override;
    bool IsAnyMissing() const override;

    void TakeBlock(Peer& peer, Bytes raw);
    void TakePacked(Peer& peer, ByteSpan batch);
    void TakeSpentCoins(Peer& peer, Bytes coins);
    void TakeAnswer(Peer& peer, PeerBlock block);
    void EndRequest(Peer& peer, ByteSpan raw);
    void CheckUnwanted(Peer& peer, const HeaderNode& node, ByteSpan raw);
    bool IsWorthTaking(const HeaderNode& node) const;
    void ShortenStallTimeout(int32_t blocks_connected);
    void LogStallTimeout(const char* what) const;
    bool DropIfSlow(Peer& peer);
    void AskForBlocks(Peer& peer, const std::vector<const HeaderNode*>& nodes,
                      InventoryType type = kInvWitnessBlock);
    bool MayAskForBlocks(const Peer& peer) const;
    std::string FirstInFlight(const Peer& peer) const;
    void HandleRefused(const RefusedBlock& refused);
    void PunishSender(Peer& peer, const RefusedBlock& refused);
    void HandleTaken(const TakenBlock& taken);
    void PunishUndecodable(Peer& peer);

    PeerSet& m_peers;
    const PeerSurroundings& m_at{m_peers.At()};
    const PeerOptions& m_options{m_peers.Options()};
    KnownChains& m_chains;
    HeaderDownload& m_headers;
    BlockAnnouncing& m_announcing;
    const HintsExchange& m_hints;
    const PeerStates<State> m_states{m_peers};
    const PackedAsking m_packed;
    SpentCoinsAsking m_coins;
    SpoiltRecord m_spoilt{m_peers};
    std::optional<BlockDownloader> m_downloader; //!< exists from the first download on
    BlockSink* m_sink = nullptr;
};

} // namespace ibd
