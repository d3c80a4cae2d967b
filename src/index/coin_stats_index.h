// CoinStatsIndex (-coinstatsindex): the statistics of all coins after each block, for
// gettxoutsetinfo. Statistics of disconnected blocks stay. Format: doc/formats/indexes.md.
#pragma once

#include "crypto/muhash.h"
#include "index/block_amounts.h"
#include "index/index.h"
#include "primitives/arith256.h"

namespace ibd {

/** Statistics of the coins after a block. Sums are over all blocks so far, in satoshi unless
 *  another unit is given. Sums of spent and new amounts grow beyond 64 bits. */
struct CoinTotals {
    Uint256 muhash;
    uint64_t outputs = 0;
    uint64_t bogo_size = 0; //!< bytes, by Core's measure
    Amount total = 0;
    Amount subsidy = 0;
    Arith256 prevouts, others, coinbase;
    Amount genesis = 0, repeated = 0, scripts = 0, unclaimed = 0;

    Amount Unspendable() const { return genesis + repeated + scripts + unclaimed; }
    bool operator==(const CoinTotals&) const = default;

    Bytes Encode() const;
    /** Nothing: malformed. */
    static std::optional<CoinTotals> Decode(ByteSpan bytes);
};

class CoinStatsIndex final : public Index {
public:
    CoinStatsIndex(const ConsensusParams& params, std::unique_ptr<KvStore> db)
        : Index({.name = "coinstatsindex",
                 .option = "-coinstatsindex",
                 .thread = "coinstatsidx",
                 .undo_to_connect = true,
                 .block_to_disconnect = true,
                 .undo_to_disconnect = true,
                 .prepares = true,
                 .allows_prune = true,
                 .bytes_per_block = 260},
                std::move(db)),
          m_params(params)
    {
    }

    Result<> Load(const HeaderNode* best) override;
    std::unique_ptr<PreparedBlock> Prepare(const IndexedBlock& block) const override;
    Result<> Connect(KvBatch& batch, const IndexedBlock& block) override;
    Result<> Disconnect(KvBatch& batch, const IndexedBlock& block) override;
    Result<> Save(KvBatch& batch) override;

    /** After a block of any branch; nothing: not in the index. Any thread. */
    Found<CoinTotals> Find(const HeaderNode& block) const
    {
        return FindTotals(block.height, block.hash);
    }

private:
    Found<CoinTotals> FindTotals(int32_t height, const BlockHash& block) const;
    Error Corrupted() const;

    const ConsensusParams& m_params;
    MuHash3072 m_coins; //!< of all coins; its denominator is one
    CoinTotals m_totals;
};

} // namespace ibd
