// BlockTree: the header tree and the data derived from the state of its blocks: the active chain,
// the candidates for the tip, the records to be written, the warnings. All of it is under the
// headers lock. Owned by the ChainManager and shared by its parts.
#pragma once

#include "chain/chain_reader.h"
#include "consensus/rule_result.h"
#include "storage/block_archive.h"
#include "util/log.h"
#include "validation/block_index.h"
#include "validation/candidate_set.h"
#include "validation/chain_options.h"
#include "validation/chain_warnings.h"

#include <map>

namespace ibd {

struct BlockTree {
    BlockTree(const ChainParams& params, BlockIndexDb& db)
        : headers(params), index(headers.tree, db)
    {
    }

    /** Null: none yet. */
    HeaderNode* Tip() const { return headers.tip; }
    /** Marks a block as invalid, and its descendants as children of an invalid block; logs it. */
    void MarkInvalid(HeaderNode& node, const RuleViolation& violation, Logger& log)
        IBD_EXCLUDES(headers.mutex);
    /** Whether a block of the active chain is lost: damaged, and not yet received again. */
    bool IsLost(const HeaderNode& node) const IBD_REQUIRES_SHARED(headers.mutex);
    /** A lost block has a sound copy at `pos`. */
    void Replace(HeaderNode& node, const FilePos& pos) IBD_REQUIRES(headers.mutex);
    /** Sets the start of a chain from the coins of a snapshot. An error: its block is unknown. */
    Result<> BeginAt(const SnapshotStart& start, Logger& log) IBD_REQUIRES(headers.mutex);
    /** Collects the candidates again. */
    void RebuildCandidates() IBD_REQUIRES(headers.mutex)
    {
        ++rebuilds;
        candidates.Rebuild(headers.tree, Tip());
    }

    Headers headers;
    BlockIndex index IBD_GUARDED_BY(headers.mutex);
    CandidateSet candidates IBD_GUARDED_BY(headers.mutex);
    ChainWarnings warnings IBD_GUARDED_BY(headers.mutex);
    /** The number of calls of RebuildCandidates(). If it has grown, branches that were set aside
     *  are candidates again. */
    std::atomic<uint64_t> rebuilds{0};
    /** The lost blocks of the active chain by height: damaged, and not yet received again. */
    std::map<int32_t, const HeaderNode*> lost IBD_GUARDED_BY(headers.mutex);
    /** All blocks that were found damaged, and where they were; in the order of the finds. */
    std::vector<DamagedBlock> damaged IBD_GUARDED_BY(headers.mutex);
    /** The block of the snapshot from which the coins started, until the snapshot is proven; null:
     *  the chain was built from genesis. */
    std::atomic<const HeaderNode*> snapshot_base{nullptr};
    /** The block of the older coins that are kept beside those of a snapshot; null: none. */
    std::atomic<const HeaderNode*> historical_tip{nullptr};
    /** Whether there are coins, and so a tip to compare candidates with. */
    std::atomic<bool> has_coins{false};
};

/** log2 of the chain work, for display. */
double Log2Work(const HeaderNode& node);

} // namespace ibd
