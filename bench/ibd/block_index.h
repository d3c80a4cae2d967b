// The header tree of a directory of block files, made by scanning them; for benchmarks that need
// positions but no node. One thread.
#pragma once

#include "chain/header_tree.h"
#include "storage/block_store.h"

namespace ibd::bench {

/** Adds every block that connects to the genesis block to the tree, with its position. */
Result<> IndexBlocks(const BlockStore& store, HeaderTree& tree);

} // namespace ibd::bench
