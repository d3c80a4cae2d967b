// BlockAcceptor: takes headers into the tree, and checked blocks into the block files. Owned by the
// ChainManager. Any thread; one block is stored at a time (lock: storing).
#pragma once

#include "validation/block_tree.h"
#include "validation/chain_observer.h"
#include "validation/chain_view.h"
#include "validation/undo_keeper.h"

namespace ibd {

/** The result for a block that was handed in. */
struct BlockOutcome {
    RuleResult violation;             //!< set: the block was refused
    bool is_new = false;              //!< stored now; false: stored before
    const HeaderNode* node = nullptr; //!< the node of its header; null: the header was rejected
    /** ProcessBlock only: the verdict of connecting it; nothing: it was not connected. */
    std::optional<RuleResult> verdict;
};

/** The data about a block that passed all checks without coins, for a caller without its bytes. */
struct SoundBlock {
    BlockHeader header;
    uint32_t size = 0; //!< bytes
    uint32_t tx_count = 0;
};

class BlockAcceptor {
public:
    /** All arguments outlive it. */
    BlockAcceptor(const ChainView& chain, const ChainStores& stores, BlockTree& tree,
                  UndoKeeper& undo, const ChainNews& news)
        : m_chain(chain), m_params(chain.Params()), m_stores(stores), m_tree(tree), m_undo(undo),
          m_news(news)
    {
    }

    /** Adds a header. `out`, if given, gets its node on success. */
    RuleResult AcceptHeader(const BlockHeader& header, const HeaderNode** out)
        IBD_EXCLUDES(m_tree.headers.mutex);
    /** Checks that need only the bytes; `view` is the parsed block. */
    RuleResult CheckStranger(ByteSpan raw, BlockView& view) const;
    /** Checks a block without its coins and stores it. `stored`: its position if it is in a block
     *  file already. `checked`: it has passed CheckBlock. */
    Result<BlockOutcome> Accept(const BlockView& view, const FilePos* stored, bool checked)
        IBD_EXCLUDES(m_storing, m_tree.headers.mutex);
    /** The same for bytes. */
    Result<BlockOutcome> AcceptBytes(ByteSpan raw, const FilePos* stored);
    /** For a block at `stored` that has passed CheckBlock and ContextualCheckBlock. */
    Result<BlockOutcome> AcceptSound(const SoundBlock& block, const FilePos& stored)
        IBD_EXCLUDES(m_storing);
    /** Stores a block of the tree that has passed the same checks, unless it is stored; drops it
     *  from the system's cache. */
    Result<> StoreSound(const BlockView& block, const HeaderNode& node) IBD_EXCLUDES(m_storing);
    /** Records such a block as received and pruned, unless it was received before. */
    void NotePruned(const BlockView& block, const HeaderNode& node) IBD_EXCLUDES(m_storing);

private:
    RuleResult AddHeader(const BlockHeader& header, HeaderNode** out)
        IBD_REQUIRES(m_tree.headers.mutex);
    /** For -debug=validation. */
    void LogRefusedHeader(const BlockHeader& header, const RuleViolation& why) const;
    Result<BlockOutcome> AcceptAlone(const BlockView& view, const FilePos* stored, bool checked)
        IBD_REQUIRES(m_storing);
    RuleResult Check(const BlockView& view, HeaderNode& node, bool checked);
    Result<> Store(const BlockView& view, HeaderNode& node, const FilePos* stored, ReadAgain again)
        IBD_REQUIRES(m_storing);
    /** Undo data of a lost block, to be written beside its new copy. */
    std::optional<BlockUndo> UndoToMove(const HeaderNode& node) const;
    void SetStored(HeaderNode& node, const FilePos& pos, uint32_t tx_count);
    void Link(HeaderNode& node) IBD_REQUIRES(m_tree.headers.mutex);

    const ChainView& m_chain;
    const ChainParams& m_params;
    const ChainStores& m_stores;
    BlockTree& m_tree;
    UndoKeeper& m_undo;
    const ChainNews& m_news;
    Mutex m_storing;
};

} // namespace ibd
