// The record of the last indexed block in an index's database, with a locator of its chain. Format:
// doc/formats/indexes.md.
#pragma once

#include "chain/header_node.h"
#include "storage/kv_store.h"

namespace ibd {

/** The first hash of the locator; nothing: there is no record. */
Found<BlockHash> ReadBestBlock(const KvStore& db);
void PutBestBlock(KvBatch& batch, const HeaderNode& best);

} // namespace ibd
