// TipDownload: the missing blocks of the serial engine: the best header chain in a window above the
// tip; received ones go to the BlockIntake. Owned by the node; called on the thread of the peers.
// Stateless.
#pragma once

#include "net/peer/block_downloader.h"
#include "net/peer/block_sink.h"
#include "validation/block_intake.h"

namespace ibd {

class TipDownload final : public DownloadGoal, public BlockSink {
public:
    /** Both outlive it. */
    TipDownload(const ChainView& chain, BlockIntake& intake) : m_chain(chain), m_intake(intake)
    {
    }

    const HeaderNode* NextMissing(int32_t after) const override;
    bool Have(const HeaderNode& node) const override;
    int32_t WindowEnd() const override;
    const HeaderNode* NextLost(int32_t after) const override;

    bool HasRoom(size_t bytes) const override { return m_intake.HasRoom(bytes); }
    bool Put(PeerBlock&& block) override;
    bool IsBusyWith(PeerId peer) const override { return m_intake.IsBusyWith(peer); }
    std::vector<RefusedBlock> TakeRefused() override;
    std::vector<TakenBlock> TakeTaken() override;

private:
    const ChainView& m_chain;
    BlockIntake& m_intake;
};

} // namespace ibd
