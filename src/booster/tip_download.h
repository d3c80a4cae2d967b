// TipDownload: chooses and receives the blocks that the serial engine needs: the missing blocks of
// the best header chain in a window above the tip, which go to the BlockIntake. If none is missing
// there, it also requests blocks of a second goal, the history below the tip. Owned by the node;
// called on the thread of the peers, except SetHistory().
#pragma once

#include "net/peer/block_downloader.h"
#include "net/peer/block_sink.h"
#include "util/mutex.h"
#include "validation/block_intake.h"

namespace ibd {

class TipDownload final : public DownloadGoal, public BlockSink {
public:
    /** Both outlive it. */
    TipDownload(const ChainView& chain, BlockIntake& intake) : m_chain(chain), m_intake(intake) {}

    /** Sets the second goal, whose blocks are fetched into `sink`; null: none, and on return the
     *  former goal and sink are no longer used. Any thread. */
    void SetHistory(const DownloadGoal* goal, BlockSink* sink);

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
    /** Most blocks of the second goal that are requested at a time. */
    static constexpr size_t kMostOld = 16;
    const HeaderNode* NextOld(int32_t after) const;

    const ChainView& m_chain;
    BlockIntake& m_intake;
    mutable Mutex m_mutex;
    const DownloadGoal* m_history IBD_GUARDED_BY(m_mutex) = nullptr;
    BlockSink* m_history_sink IBD_GUARDED_BY(m_mutex) = nullptr;
};

} // namespace ibd
