// BlockRepair: damaged stored blocks. They are requested again from peers, if the node has a
// network. An I/O error is not damage: the block on the disk may be intact. Owned by the
// ChainManager. Any thread.
#pragma once

#include "util/found.h"
#include "validation/block_tree.h"
#include "validation/chain_view.h"

#include <map>

namespace ibd {

class BlockRepair {
public:
    /** All arguments outlive it. */
    BlockRepair(const ChainView& chain, const ChainStores& stores, BlockTree& tree)
        : m_chain(chain), m_stores(stores), m_tree(tree)
    {
    }

    /** See ChainManager. */
    Result<std::vector<const HeaderNode*>> ForgetDamaged();
    void NoteLeftOut(const BlockHash& hash, FilePos pos, const std::string& why);
    std::string DescribeMissing(const HeaderNode& node) const;
    /** The highest damaged block on the path from `connected` down to `fork`; null: none. It is
     *  then marked to be requested again from peers. On the thread that changes the chain. */
    Result<const HeaderNode*> FindDamaged(const HeaderNode* connected, const HeaderNode* fork);
    /** After `error` ended a step: success if damaged blocks caused it and can be fetched again. */
    Result<> LeaveToPeers(const Error& error);

private:
    struct Stored {
        HeaderNode* node = nullptr;
        StoredBlock place;
    };
    std::vector<Stored> StoredIn(const std::vector<int32_t>& files) const;
    Found<Error> FindDamage(const StoredBlock& block) const;
    Result<> Forget(const Stored& block, const Error& damage);

    const ChainView& m_chain;
    const ChainStores& m_stores;
    BlockTree& m_tree;
    /** Blocks that ForgetDamaged() has found damaged. */
    std::set<const HeaderNode*> m_forgotten IBD_GUARDED_BY(m_tree.headers.mutex);
    static constexpr size_t kMostLeftOut = 10'000;
    /** The places and reasons passed to NoteLeftOut(), at most kMostLeftOut. */
    std::map<BlockHash, std::string> m_left_out IBD_GUARDED_BY(m_tree.headers.mutex);
};

} // namespace ibd
