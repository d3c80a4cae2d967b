// UndoKeeper: undo data of blocks: stores it, detects missing or damaged records, and has them made
// again. Owned by the ChainManager, on the thread that changes the chain except where stated.
#pragma once

#include "storage/undo.h"
#include "validation/chain_view.h"
#include "validation/index_writer.h"

#include <functional>
#include <unordered_set>

namespace ibd {

/** The obstacle to disconnecting blocks. */
struct Obstacle {
    enum class Kind {
        kNoUndo,     //!< the block's undo data is missing
        kUndoIsMade, //!< the same, but it is being made from the blocks: try again later
        kDamaged,    //!< the block is damaged, but was requested again from peers: try again later
    };
    const HeaderNode* block = nullptr; //!< the highest such block; null: none
    Kind kind = Kind::kNoUndo;
};

class UndoKeeper {
public:
    /** All arguments outlive it. */
    UndoKeeper(const ChainView& chain, const ChainStores& stores, BlockTree& tree,
               IndexWriter& writer)
        : m_chain(chain), m_stores(stores), m_tree(tree), m_writer(writer)
    {
    }

    /** See ChainManager::SetUndoMaker(). */
    void SetMaker(std::function<bool()> maker) { m_maker = std::move(maker); }
    /** Checks undo data on the path from `connected` down to `fork`. Removes damaged records from
     *  the index. */
    Result<Obstacle> FindMissing(HeaderNode* connected, const HeaderNode* fork);
    /** Stores the undo data of a block that is being connected, unless it exists. `intact`: the
     *  record of an earlier connection was read and its checksum is right. Any thread. */
    Result<> Store(HeaderNode& node, const BlockUndo& undo, bool intact);
    /** See ChainManager::PutUndo(). Any thread. */
    Result<> Put(const HeaderNode& node, const UndoRecord& undo);

private:
    Result<bool> HasUsable(HeaderNode& node);
    Result<> Forget(HeaderNode& node, const std::string& why);

    const ChainView& m_chain;
    const ChainStores& m_stores;
    BlockTree& m_tree;
    IndexWriter& m_writer;
    std::function<bool()> m_maker;
    std::unordered_set<const HeaderNode*> m_forgotten; //!< their undo data was damaged
};

} // namespace ibd
