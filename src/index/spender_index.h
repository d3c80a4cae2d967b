// SpenderIndex (-txospenderindex): the transaction that spends an output, for gettxspendingprevout.
// A key consists of a keyed hash of the outpoint and the position of the spending transaction; the
// few transactions under one hash are read to find the right one. Format: doc/formats/indexes.md.
#pragma once

#include "crypto/siphash.h"
#include "index/index.h"
#include "index/tx_position.h"

#include <functional>

namespace ibd {

/** Whether the block is stored at this place. */
using IsPlaceOf = std::function<bool(const BlockHash& block, const FilePos& place)>;

class SpenderIndex final : public Index {
public:
    /** `env`: source of the hash key of a new database. */
    SpenderIndex(Env& env, std::unique_ptr<KvStore> db)
        : Index({.name = "txospenderindex",
                 .option = "-txospenderindex",
                 .thread = "txospenderidx",
                 .block_to_disconnect = true,
                 .bytes_per_tx = 70,
                 .sort_bytes_per_tx = 40},
                std::move(db)),
          m_env(env)
    {
    }

    Result<> Load(const HeaderNode*) override;
    Result<> Connect(KvBatch& batch, const IndexedBlock& block) override;
    Result<> Disconnect(KvBatch& batch, const IndexedBlock& block) override;
    Result<> Save(KvBatch&) override { return {}; }
    std::unique_ptr<PlaceSort> MakeSort(Env& env, const PlaceSortOptions& options) override;
    void PutBuilt(KvBatch& batch) const override;

    /** The spender in the active chain; nothing: unspent, or not in the index. Any thread. */
    Found<PlacedTx> Find(const BlockStore& blocks, const OutPoint& output,
                         const IsPlaceOf& is_place) const;

private:
    void ForEachKey(const IndexedBlock& block,
                    const std::function<void(const Bytes&)>& visit) const;

    Bytes MakeKey() const;
    bool SetKey(ByteSpan bytes);

    Env& m_env;
    SipKey m_key;
    Bytes m_built_key; //!< of MakeSort()
};

} // namespace ibd
