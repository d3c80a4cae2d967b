// CoinsStats: counts and hashes of a set of coins, as gettxoutsetinfo states them.
// CoinsStatsBuilder: makes them from coins in the order of the database. One thread. Memory: the
// coins of one transaction.
#pragma once

#include "crypto/muhash_batch.h"
#include "crypto/sha256.h"
#include "script/coin.h"

#include <map>

namespace ibd {

/** Kind of hash over the coins. */
enum class CoinsHashKind { kNone, kSerialized3, kMuHash };

/** The values of gettxoutsetinfo. */
struct CoinsStats {
    int height = 0;
    BlockHash best;
    uint64_t transactions = 0; //!< with at least one coin
    uint64_t outputs = 0;
    uint64_t bogo_size = 0; //!< Core's database-independent measure of size, bytes
    Amount total = 0;
    Uint256 hash; //!< of the requested kind
};

/** Coins of one transaction are ordered by output index, as Core hashes them. The database orders
 *  them by the bytes of a VARINT, where 16,512 precedes 256. */
class CoinsStatsBuilder {
public:
    explicit CoinsStatsBuilder(CoinsHashKind kind) : m_kind(kind) {}

    void Add(const OutPoint& outpoint, Coin coin);
    /** The statistics, without the block's fields. Call it once. */
    CoinsStats Finish();

private:
    void CloseTx();
    void HashCoin(uint32_t vout, const Coin& coin);

    const CoinsHashKind m_kind;
    CoinsStats m_stats;
    Txid m_txid;
    std::map<uint32_t, Coin> m_tx;
    Sha256 m_sha;
    MuHashBatch m_muhash;
    Bytes m_bytes;
};

} // namespace ibd
