// SnapshotMatch: makes hints from block files and a snapshot of the coins at their terminal block.
// (1) The coins are split by height into files, 24 bytes each. (2) For each file its blocks are
// read on all cores and their outputs looked up among its coins. (3) The hints file is written from
// the results. Each step leaves files in OUT.work. A requested stop loses no work; a crash loses
// the split of the coins, or the work on the blocks of one file. Owned by a command; one thread.
// Memory: `memory` for splitting, then the coins of some hundred blocks.
#pragma once

#include "hints_tool/output_work.h"
#include "hints_tool/tool.h"
#include "storage/snapshot.h"

namespace ibd {

class SnapshotMatch {
public:
    SnapshotMatch(const ToolContext& context, const ChainBlocks& blocks, const OutputWork& work,
                  uint64_t memory);

    /** Splits the coins; resumes or skips this if an earlier run with the same input has done it.
     */
    Result<> Split(SnapshotReader& snapshot, const Path& path);
    /** Finds the unspent outputs in the blocks of each part. */
    Result<> Match();
    Result<> Write(HintsWriter& writer, bool from_genesis, HintsCounting counting);

private:
    Path CoinsPath(uint32_t part) const { return Numbered(part, "coins"); }
    Path DonePath(uint32_t part) const { return Numbered(part, "done"); }
    Path BegunPath(uint32_t part) const { return Numbered(part, "begun"); }
    Path Numbered(uint32_t part, const char* ending) const
    {
        return m_work.Folder() / fmt::format("{:06}.{}", part, ending);
    }
    Path StatePath() const { return m_work.Folder() / "state"; }
    uint32_t FirstOf(uint32_t part) const { return std::max(1u, part * m_blocks_per_part); }
    uint32_t LastOf(uint32_t part) const
    {
        return std::min(m_top, (part + 1) * m_blocks_per_part - 1);
    }

    bool GoOn(ByteSpan state, SnapshotReader& snapshot);
    Result<> SplitRest(SnapshotReader& snapshot, const std::string& input);
    Result<> SaveState(const std::string& input, const SnapshotReader* begun);
    Result<> FlushPart(uint32_t part, bool sync);
    Result<> MatchPart(uint32_t part, ProgressMeter& progress);
    Result<> WritePart(uint32_t part, HintsWriter& writer, HintsCounting counting) const;
    Found<Bytes> LoadChecked(const Path& path) const;
    Result<bool> IsDone(uint32_t part) const;
    Result<uint32_t> TakeUpPart(uint32_t part, Bytes& done) const;

    const ToolContext& m_context;
    const ChainBlocks& m_blocks;
    const OutputWork& m_work;
    const uint32_t m_top;
    uint32_t m_blocks_per_part;
    uint32_t m_parts;
    std::vector<Bytes> m_buffers;    //!< by part: unwritten bytes
    std::vector<uint64_t> m_written; //!< by part: bytes
};

} // namespace ibd
