// ChainView: read access to the chain: headers, the active chain, stored blocks, and the state of
// the download. Implemented by ChainManager; code that changes nothing takes a const ChainView. Any
// thread. Takes only the headers lock, for microseconds, unless stated otherwise.
#pragma once

#include "storage/block_archive.h"
#include "validation/block_tree.h"
#include "validation/chain_options.h"

namespace ibd {

class ChainView {
public:
    /** All references outlive it. */
    ChainView(const ChainParams& params, ChainStores stores, ChainManagerOptions options,
              const BlockTree& tree, const std::atomic<bool>& interrupt)
        : m_params(params), m_stores(stores), m_options(std::move(options)), m_tree(tree),
          m_interrupt(interrupt)
    {
    }
    ChainView(const ChainView&) = delete;
    ChainView& operator=(const ChainView&) = delete;

    // Headers and the active chain.

    ChainReader Read() const { return ChainReader(m_tree.headers); }
    /** The tip, without waiting for a lock. During a reorganisation it is the old tip until the new
     *  branch has as much work. */
    TipInfo Current() const;
    /** The tip as a node, of which only members fixed at insertion may be read; null: none yet. */
    const HeaderNode* Tip() const { return m_tree.Tip(); }

    /** The block of the snapshot from which the coins started, until the snapshot is proven: blocks
     *  up to it may be missing and have no undo data. Null: the coins were built from genesis. */
    const HeaderNode* SnapshotBase() const { return m_tree.snapshot_base; }
    /** The tip of the older chainstate that is kept beside that of a snapshot; null: none. */
    const HeaderNode* HistoricalTip() const { return m_tree.historical_tip; }

    /** KnownHeight() of the chain up to `top`, with the known block of the options. */
    int32_t KnownHeightOf(const HeaderNode& top) const;

    // Stored blocks.

    const BlockStore& Blocks() const { return m_stores.blocks; }
    /** Where the block and its undo data are stored. */
    StoredBlock Where(const HeaderNode& node) const;
    std::vector<StoredBlock> Where(const std::vector<HeaderNode*>& path) const;
    /** Read the block or undo data of a block of the tree. Errors name it. */
    Result<Bytes> ReadBlock(const HeaderNode& node) const;
    Result<BlockUndo> ReadUndo(const HeaderNode& node) const;
    bool IsStored(const BlockHash& hash) const;
    /** The lowest lost block above height `after`; null: none. A block of the active chain is lost
     *  if it is damaged and was not received again. */
    const HeaderNode* NextLost(int32_t after) const;
    bool IsLost(const HeaderNode& node) const;
    /** The blocks found damaged since the start of the node, without the first `known` ones. */
    std::vector<DamagedBlock> Damaged(size_t known) const;
    /** Whether a block is stored above a missing one with a known header. O(headers). */
    bool HasHoles() const;
    /** The last block of the active chain without block or undo data; nothing if all above genesis
     *  have both. O(stored blocks). */
    std::optional<int32_t> LastWithoutData() const;

    // The download.

    /** Whether the node is in initial block download: its tip is old or has too little work. Once
     *  false, it stays false; it does not become false while blocks are imported. */
    bool IsInitialBlockDownload() const;
    void SetImporting(bool importing) { m_importing = importing; }
    /** Whether blocks are being read from files. */
    bool IsImporting() const { return m_importing; }
    /** Estimated share, 0 to 1, of the chain's transactions that is verified at `node`, a block of
     *  the active chain or null. */
    double VerificationProgress(const HeaderNode* node) const;
    bool Interrupted() const { return m_interrupt; }

    // Settings.

    const ChainParams& Params() const { return m_params; }
    const ChainManagerOptions& Options() const { return m_options; }
    Logger& Log() const { return m_stores.log; }
    /** Seconds since 1970. */
    int64_t Now() const { return m_stores.env.UnixTime(); }
    bool IsPruneMode() const { return m_options.prune_target != 0; }
    /** The option that builds the chainstate again: -prune forbids -reindex-chainstate. */
    const char* RebuildOption() const;
    /** The user's remedy for missing undo data that is not being made: "restart with ...". */
    std::string UndoRemedy() const;

private:
    const ChainParams& m_params;
    const ChainStores m_stores;
    const ChainManagerOptions m_options;
    const BlockTree& m_tree;
    const std::atomic<bool>& m_interrupt;
    std::atomic<bool> m_importing{false};
    mutable std::atomic<bool> m_initial_download{true};
};

} // namespace ibd
