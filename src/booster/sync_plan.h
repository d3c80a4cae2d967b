// SyncPlan: the amount of work of a sync and its disk space: blocks stored and missing, space on
// the disks, and the steps of the overall progress with their sizes (work_plan.h). Owned by
// BoosterSession; the session's thread.
#pragma once

#include "booster/session_parts.h"
#include "booster/size_estimate.h"
#include "booster/work_plan.h"
#include "validation/block_survey.h"

namespace ibd {

class SyncPlan {
public:
    explicit SyncPlan(const SessionParts& parts) : m_parts(parts) {}

    /** Bytes of stored or missing blocks. */
    struct BlockBytes {
        uint64_t stored = 0;
        uint64_t missing = 0;
    };
    BlockBytes BytesUpTo(const HeaderNode& terminal) const;
    /** The stored bytes of all blocks of the network; the total is from its parameters. */
    BlockBytes AssumedBytes() const;
    /** Estimated from the size of the whole chain in the network's parameters; 0: unknown. */
    uint64_t UsualBlockBytes() const;
    /** The size estimate for a supply of blocks up to `terminal`. */
    ExpectedBlocks Expect(const HeaderNode& terminal) const;
    /** Number of blocks 1 to `terminal` that are not stored. */
    size_t CountMissing(const HeaderNode& terminal) const;
    /** The error without peers: the number of these blocks, the first one, and the remedy. */
    std::string DescribeMissing(const HeaderNode& terminal) const;

    /** Whether a sync with its own hints has space. */
    bool HasRoom(const BlockBytes& bytes, const JoinBesides& besides) const;
    /** Warns if there is too little disk space, without an error: blocks may be smaller than
     *  assumed, and the user may free space in time. `rest`: bytes to be written besides the
     *  blocks. */
    void WarnIfRoomIsShort(const HeaderNode& terminal, uint64_t rest) const;

    /** Steps with given hints; `joins`: coins are joined first, to check rules. */
    std::vector<WorkStep> GivenSteps(bool joins) const;
    /** Steps with its own hints. `values`: the join for hints checks the rules; `joins`: they are
     *  checked while blocks are read again for undo data, and folded at the same time. */
    std::vector<WorkStep> OwnSteps(bool values, bool joins) const;

    /** Sets the steps that BoosterOptions::progress shows from now on, up to `terminal`. Adds steps
     *  for undo data and for connecting later blocks, if needed. */
    void Set(std::vector<WorkStep> steps, const HeaderNode& terminal) const;
    /** The same before an index exists. */
    void Set(std::vector<WorkStep> steps, const BlockSurvey& survey,
             const HeaderNode& terminal) const;
    /** The same before a survey of block files with this many bytes; `then`: the steps after it. */
    void SetSurvey(std::vector<WorkStep> steps, uint64_t bytes) const;
    /** The same before an index of `bytes` of block files is built without a survey. */
    void SetIndex(std::vector<WorkStep> then, uint64_t bytes) const;
    /** The same during a wait for headers, estimated from the network's parameters. */
    void SetWaiting(std::vector<WorkStep> steps, uint64_t headers) const;

private:
    void Set(std::vector<WorkStep> steps, const WorkAmounts& amounts) const;
    std::vector<PlannedStep> Planned(std::vector<WorkStep> steps, WorkAmounts amounts) const;
    WorkAmounts BaseAmounts() const;
    void AddUndo(std::vector<WorkStep>& steps) const;
    bool LacksUndo(const HeaderNode& terminal) const;
    uint64_t TwoWeeksOfBytes() const;
    uint64_t MissingBytes(size_t blocks) const;
    uint64_t BytesAt(int64_t time) const;
    uint64_t AllBytes() const { return BytesAt(m_parts.env.UnixTime()); }

    const SessionParts& m_parts;
};

} // namespace ibd
