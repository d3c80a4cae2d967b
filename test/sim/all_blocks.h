// AllBlocks: a DownloadGoal and BlockSink of simulated syncs that wants every block of a chain and
// keeps none. In any order, as the booster, or in a window above the complete part, as the serial
// engine. Also makes chains of given block bodies. One thread.
#pragma once

#include "net/peer/block_downloader.h"
#include "net/peer/block_sink.h"
#include "net/peer/peer_chain.h"

namespace ibd::sim {

/** Blocks with these bodies, in turn, below headers that make them one chain: `count` above
 *  genesis, by height. The headers do not commit to the bodies. */
std::vector<Bytes> ChainOfBodies(const ChainParams& params, std::span<const Bytes> bodies,
                                 size_t count);

/** Gives the headers of blocks, by height from genesis, to a chain that accepts them. */
void AcceptHeadersOf(std::span<const Bytes> blocks, HeaderSink& chain);

class AllBlocks final : public DownloadGoal, public BlockSink {
public:
    /** `chain` has the headers of `blocks`, which is by height; both outlive this. `window`: blocks
     *  above the complete part that may be requested; 0: all. */
    AllBlocks(const PeerChain& chain, std::span<const Bytes> blocks, int32_t window = 0);

    const HeaderNode* NextMissing(int32_t after) const override;
    bool Have(const HeaderNode& node) const override { return m_have[size_t(node.height)]; }
    int32_t WindowEnd() const override { return m_window ? m_complete + m_window : kNoWindow; }
    bool HasRoom(size_t) const override { return true; }
    /** Refuses other bytes than the chain's. */
    bool Put(PeerBlock&& block) override;
    std::vector<RefusedBlock> TakeRefused() override { return std::exchange(m_refused, {}); }

    bool Done() const { return m_count + 1 == m_have.size(); }
    size_t Duplicates() const { return m_duplicates; } //!< blocks received again

private:
    const PeerChain& m_chain;
    const std::span<const Bytes> m_blocks;
    const int32_t m_window;
    std::vector<bool> m_have;
    int32_t m_complete = 0; //!< height up to which all are there
    size_t m_count = 0;
    size_t m_duplicates = 0;
    std::vector<RefusedBlock> m_refused;
};

} // namespace ibd::sim
