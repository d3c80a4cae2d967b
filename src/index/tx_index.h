// TxIndex (-txindex): the position of each transaction of the active chain by its txid, for
// getrawtransaction. Records of a disconnected block stay until a block of the new branch has the
// transaction, as in Core. Format: doc/formats/indexes.md.
#pragma once

#include "index/index.h"
#include "index/tx_position.h"

namespace ibd {

class TxIndex final : public Index {
public:
    explicit TxIndex(std::unique_ptr<KvStore> db)
        : Index({.name = "txindex",
                 .option = "-txindex",
                 .thread = "txidx",
                 .bytes_per_tx = 50,
                 .sort_bytes_per_tx = 40},
                std::move(db))
    {
    }

    Result<> Load(const HeaderNode*) override { return {}; }
    Result<> Connect(KvBatch& batch, const IndexedBlock& block) override;
    Result<> Disconnect(KvBatch&, const IndexedBlock&) override { return {}; }
    Result<> Save(KvBatch&) override { return {}; }
    std::unique_ptr<PlaceSort> MakeSort(Env& env, const PlaceSortOptions& options) override;

    /** Nothing: it is not in the index. Any thread. */
    Found<PlacedTx> Find(const BlockStore& blocks, const Txid& txid) const;
};

} // namespace ibd
