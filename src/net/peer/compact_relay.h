// CompactRelay: compact blocks (BIP152) from peers. Completed blocks go to the same sink as full
// ones. Owned by PeerManager. Memory: that of partial blocks, which belong to their requests.
#pragma once

#include "net/peer/block_relay.h"

namespace ibd {

class CompactRelay final : public PeerTopic {
public:
    static constexpr int32_t kMaxAhead = 2;    //!< blocks above the tip to complete
    static constexpr size_t kMaxDownloads = 3; //!< peers that complete one block at a time

    CompactRelay(PeerSet& peers, const KnownChains& chains, HeaderDownload& headers,
                 const BlockAnnouncing& announcing, BlockRelay& blocks, const TxRelay& txs)
        : m_peers(peers), m_chains(chains), m_headers(headers), m_announcing(announcing),
          m_blocks(blocks), m_txs(txs)
    {
    }

    void Handle(Peer& peer, ReceivedMessage& message) override;

private:
    void HandleCompactBlock(Peer& peer, ByteSpan payload);
    void Take(Peer& peer, const HeaderNode& node, const CompactBlockMessage& message);
    void StartPartial(Peer& peer, const HeaderNode& node, const CompactBlockMessage& message);
    void AskForMissing(Peer& peer, const HeaderNode& node, size_t asked_before);
    PartialBlock::Status InitPartial(PartialBlock& partial, const HeaderNode& node,
                                     const CompactBlockMessage& message) const;
    void FillAtOnce(Peer& peer, const HeaderNode& node, const CompactBlockMessage& message);
    void PauseTxChecks(const HeaderNode& node, Arith256& last);
    void Deliver(Peer& peer, const HeaderNode& node, Bytes raw);
    void HandleBlockTxn(Peer& peer, ByteSpan payload);
    void FillPartial(Peer& peer, const HeaderNode& node, std::span<const TransactionRef> txs);
    PartialBlock::Status FillBlock(PartialBlock& partial, const HeaderNode& node,
                                   std::span<const TransactionRef> txs, Bytes& raw) const;
    void Refuse(Peer& peer, const HeaderNode& node, const char* why);
    void AskInFull(Peer& peer, const HeaderNode& node);
    bool IsFirstAsked(const Peer& peer, const HeaderNode& node) const;
    bool IsOutbound(PeerId id) const;
    /** Blocks are fetched whenever a compact block is being taken. */
    BlockDownloader& Downloader() const { return *m_blocks.Downloader(); }

    PeerSet& m_peers;
    const PeerSurroundings& m_at{m_peers.At()};
    const KnownChains& m_chains;
    HeaderDownload& m_headers;
    const BlockAnnouncing& m_announcing;
    BlockRelay& m_blocks;
    const TxRelay& m_txs;
    // Chain work of the last block for which checks were paused.
    Arith256 m_begun;     //!< when it was announced
    Arith256 m_completed; //!< when it was complete
};

} // namespace ibd
