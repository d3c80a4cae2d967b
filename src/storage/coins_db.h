// CoinsDb: the chainstate database: every unspent output by outpoint, and the block that the coins
// are at. Get, Has and cursors may run on any thread at any time; one CoinsWriter at a time.
// Memory: its LevelDB cache, plus one batch while writing. Format: doc/formats/chainstate.md.
#pragma once

#include "script/coin.h"
#include "storage/kv_store.h"
#include "util/found.h"

#include <functional>

namespace ibd {

struct CoinsDbOptions {
    Path directory;
    size_t cache_bytes = 8 << 20;
    size_t batch_bytes = 32 << 20; //!< -dbbatchsize: largest batch written at once
    bool wipe = false;
    bool obfuscate = true; //!< a new database gets a random key
    bool compact = false;          //!< -forcecompactdb: compact fully after opening
    KvIoCheck before_io = nullptr; //!< for tests
};

/** One change to the coins; a null coin means spent. Both pointers belong to the caller. */
struct CoinChange {
    const OutPoint* outpoint = nullptr;
    const Coin* coin = nullptr;
};

/** Walks the coins in the order of the database, over a snapshot taken when the cursor was made. */
class CoinsCursor {
public:
    /** `directory`: of the database, for errors. Use CoinsDb::Cursor(). */
    CoinsCursor(KvIterator iterator, Path directory);

    /** Moves to the first coin not before `outpoint` in the order of CoinKey. */
    void Seek(const OutPoint& outpoint);
    bool Valid() const { return m_valid; }
    void Next();
    const OutPoint& Key() const { return m_outpoint; }
    Result<Coin> Value() const;
    /** The stored value, de-obfuscated; valid until the cursor moves. */
    ByteSpan RawValue() const { return m_iterator.Value(); }
    /** The reason of an early end: a failed read or a malformed key; Ok at the true end. */
    Result<> Status() const { return m_status; }
    /** Best block of that snapshot; null if the database has none. */
    const BlockHash& BestBlock() const { return m_best; }

private:
    void Settle();

    KvIterator m_iterator;
    Path m_directory;
    BlockHash m_best;
    OutPoint m_outpoint;
    bool m_valid = false;
    Result<> m_status;
};

/** Moves the coins from one block to another in batches. From the first batch until Commit() the
 *  database is marked as between the two (head blocks), and accepts only writes towards the same
 *  new block. If the writer is destroyed without Commit(), the mark stays, as after a crash. The
 *  first error is kept. */
class CoinsWriter {
public:
    /** `kv`: the chainstate. `batch_bytes`: largest batch. Use CoinsDb::StartWrite(). */
    CoinsWriter(KvStore& kv, size_t batch_bytes, const BlockHash& new_best,
                const BlockHash& old_best);

    void Put(const OutPoint& outpoint, const Coin& coin);
    /** Puts a value that is already in chainstate form. */
    void PutRaw(const OutPoint& outpoint, ByteSpan value);
    void Erase(const OutPoint& outpoint);
    /** Writes the rest and the new best block. */
    Result<> Commit();
    Result<> Status() const { return m_status; }

private:
    void WriteBatchIfFull();

    KvStore& m_kv;
    const size_t m_batch_bytes;
    const BlockHash m_new_best;
    KvBatch m_batch;
    Bytes m_value;
    Result<> m_status;
};

class CoinsDb {
public:
    static Result<std::unique_ptr<CoinsDb>> Open(Env& env, Logger& log,
                                                 const CoinsDbOptions& options);

    Found<Coin> Get(const OutPoint& outpoint) const;
    Result<bool> Has(const OutPoint& outpoint) const;
    /** The block that the coins are at; null: new, or a write is incomplete. */
    Result<BlockHash> BestBlock() const;
    /** New and old block of an interrupted write; empty: there was none. */
    Result<std::vector<BlockHash>> HeadBlocks() const;

    /** Starts moving to `new_best` from the block in the database. After an interrupted write,
     *  `new_best` must be the new block of that write. */
    Result<CoinsWriter> StartWrite(const BlockHash& new_best);
    /** StartWrite, all changes from `next` until it returns false, Commit. Not synced: a power cut
     *  may lose whole batches from the end, which leaves an older consistent state. */
    Result<> Write(const std::function<bool(CoinChange&)>& next, const BlockHash& new_best);

    /** Everything that was written before survives a power cut. */
    Result<> MakeDurable() { return m_kv->WriteMemory(); }

    CoinsCursor Cursor() const;
    uint64_t EstimateSize() const;
    size_t MemoryUsage() const { return m_kv->MemoryUsage(); }
    void CompactRange() { m_kv->CompactRange(); }
    KvStore& Kv() { return *m_kv; }
    const Path& Directory() const { return m_kv->Directory(); }

private:
    CoinsDb(std::unique_ptr<KvStore> kv, size_t batch_bytes)
        : m_kv(std::move(kv)), m_batch_bytes(batch_bytes)
    {
    }

    std::unique_ptr<KvStore> m_kv;
    const size_t m_batch_bytes;
};

} // namespace ibd
