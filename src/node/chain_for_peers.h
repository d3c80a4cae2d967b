// ChainForPeers: the peers' interface to the ChainManager. Owned by the node; called on the thread
// of the peers. A look-up holds the headers lock for microseconds; the state lock is never taken,
// so that peers do not wait for a block that is being connected.
#pragma once

#include "net/peer/peer_chain.h"
#include "validation/chain_manager.h"

namespace ibd {

class ChainForPeers final : public PeerChain, public HeaderSink, public BlockProvider {
public:
    ChainForPeers() = default;
    explicit ChainForPeers(ChainManager& chain) { Attach(chain); }
    /** Call it first. The chain's index must be loaded, and it must outlive this. */
    void Attach(ChainManager& chain) { m_chain = &chain; }

    /** Genesis while there are no coins. */
    const HeaderNode& Tip() const override;
    const HeaderNode& BestHeader() const override;
    const HeaderNode* Find(const BlockHash& hash) const override;
    BlockFacts Facts(const HeaderNode& node) const override;
    bool IsInitialBlockDownload() const override { return m_chain->IsInitialBlockDownload(); }
    bool IsImporting() const override { return m_chain->IsImporting(); }

    RuleResult AcceptHeaders(std::span<const BlockHeader> headers,
                             const HeaderNode** last) override;

    Result<Bytes> ReadBlock(const HeaderNode& node) override { return m_chain->ReadBlock(node); }
    Found<std::vector<Coin>> SpentCoins(const HeaderNode& node) override;

private:
    void LogProgress(const HeaderNode& last) const;

    ChainManager* m_chain = nullptr;
};

} // namespace ibd
