// mempool.dat: keeps the pool between two runs of the node, in Core's format, which Core can read
// and write too (doc/formats/mempool.md). Memory: the whole file, which is about as large as the
// pool.
#pragma once

#include "mempool/tx_submission.h"
#include "util/env.h"
#include "util/log.h"

#include <atomic>

namespace ibd {

/** The contents of the file. */
struct PoolRecord {
    struct Tx {
        TransactionRef tx;
        int64_t time = 0; //!< of arrival, seconds since 1970
        Amount delta = 0; //!< prioritisetransaction
    };
    std::vector<Tx> txs;           //!< parents before children
    std::map<Txid, Amount> deltas; //!< fee deltas of transactions that are not in the pool
    std::set<Txid> unbroadcast;

    bool operator==(const PoolRecord& other) const;
};

PoolRecord RecordOf(const TxPool& pool) IBD_EXCLUDES(pool.mutex);

enum class PoolFileVersion {
    kPlain = 1, //!< -persistmempoolv1
    kObfuscated = 2,
};

/** With a random key. */
Bytes EncodePool(const PoolRecord& record, PoolFileVersion version, Env& env);
/** The entries read up to the end of the data or the first error, and that error. */
struct DecodedPool {
    PoolRecord record;
    Result<> complete;
};
DecodedPool DecodePool(Bytes data);

struct PoolImport {
    bool current_time = false; //!< in place of the recorded times
    bool deltas = true;
    bool unbroadcast = true;
};

/** mempool.dat. */
struct PoolFile {
    Path path;
    PoolFileVersion version = PoolFileVersion::kObfuscated;
    Mutex writing = {}; //!< held by DumpPool(): calls and the shutdown may write at the same time
};

/** Writes the file; after an error the previous file stays. */
Result<> DumpPool(const TxPool& pool, PoolFile& file, Env& env, Logger& log);
/** Submits the transactions of a file. An error is one line: the disk failed, or the file is
 *  damaged or foreign. Transactions before the damage are then in the pool. */
Result<> ImportPool(const Path& file, const PoolImport& import, const TxSubmission& door,
                    TxPool& pool, Env& env, Logger& log, const std::atomic<bool>& interrupt);

} // namespace ibd
