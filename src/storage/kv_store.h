// KvStore: one LevelDB directory with Core's settings: bloom filter of 10 bits a key, no table
// compression, paranoid checks, optional value obfuscation. The only code that uses LevelDB. All
// methods may be called from any thread; an iterator belongs to one thread at a time. Memory:
// cache_bytes (half block cache, a quarter for each of two write buffers). LevelDB accesses files
// itself, outside Env. Its failures are kSystem errors that name the directory. After a failed
// write all later ones fail until the store is opened again: LevelDB's log may end in half a
// record, and records after it would be unreadable.
#pragma once

#include "storage/kv_io.h"
#include "storage/xor_key.h"
#include "util/env.h"
#include "util/found.h"
#include "util/log.h"

#include <memory>
#include <optional>

namespace ibd {

struct KvOptions {
    Path directory; //!< created with its parents if absent
    size_t cache_bytes = 8 << 20;
    bool obfuscate = false; //!< a new store gets a random key; an existing one keeps its key
    bool wipe = false;      //!< remove all contents first
    bool compact = false;   //!< compact fully after opening
    size_t max_file_bytes = 32 << 20;
    KvIoCheck before_io = nullptr; //!< for tests
};

class KvStore;

// Impl is defined in kv_store.cpp, so only that file can use functions that take or return one.

/** Changes that are applied atomically. Values are obfuscated by Put. */
class KvBatch {
public:
    struct Impl;

    explicit KvBatch(const KvStore& store);
    ~KvBatch();
    KvBatch(KvBatch&&) noexcept;

    void Put(ByteSpan key, ByteSpan value);
    void Erase(ByteSpan key);
    /** Sorts the changes by key; the sort is stable, so changes of one key keep their order.
     *  LevelDB inserts each change into a skip list; in key order that takes half the time. */
    void Sort();
    void Clear();
    /** Bytes of the batch as LevelDB counts them. */
    size_t ApproximateSize() const;
    const Impl& Changes() const { return *m_impl; }

private:
    std::unique_ptr<Impl> m_impl;
};

/** Walks the keys in byte order, over a snapshot taken when the iterator was made. */
class KvIterator {
public:
    struct Impl;

    explicit KvIterator(std::unique_ptr<Impl> impl);
    ~KvIterator();
    KvIterator(KvIterator&&) noexcept;

    void SeekToFirst();
    /** Moves to the first key not below `key`. */
    void Seek(ByteSpan key);
    void Next();
    bool Valid() const;
    /** Valid until the iterator moves. */
    ByteSpan Key() const;
    /** De-obfuscated; valid until the iterator moves. */
    ByteSpan Value() const;
    /** The failure that ended the walk early, if any; check it when Valid() becomes false. */
    Result<> Status() const;

private:
    std::unique_ptr<Impl> m_impl;
};

class KvStore {
public:
    static Result<std::unique_ptr<KvStore>> Open(Env& env, Logger& log, KvOptions options);
    ~KvStore();

    Found<Bytes> Get(ByteSpan key) const;
    Result<bool> Exists(ByteSpan key) const;
    /** Applies a batch; with `sync` it is durable on return. After a failure all later calls fail.
     */
    Result<> Write(const KvBatch& batch, bool sync = false);
    KvIterator NewIterator() const;
    Result<bool> IsEmpty() const;

    /** Estimated bytes on disk between two keys. */
    uint64_t EstimateSize(ByteSpan begin, ByteSpan end) const;
    /** Memory use according to LevelDB. */
    size_t MemoryUsage() const;
    /** A LevelDB property such as "leveldb.stats"; empty if unknown. */
    std::string Property(const std::string& name) const;
    /** Compacts everything; blocks until done. */
    void CompactRange();
    /** Writes all changes in memory into tables, which are synced: a synced Write() would sync the
     *  current log, but not one before it whose changes are still in memory. */
    Result<> WriteMemory();

    const XorKey& Key() const;
    const Path& Directory() const;

private:
    struct Impl;
    explicit KvStore(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> m_impl;
};

/** Removes a LevelDB database and, if empty then, its directory. No error if there is none. The
 *  remains after an interruption open as an earlier state of the database or as an empty one. */
Result<> DestroyDb(Env& env, const Path& directory);
/** The same with all other files in its directory. */
Result<> RemoveDbFolder(Env& env, const Path& directory);
/** Whether a file of this name in a database's directory is LevelDB's. */
bool IsDbFileName(std::string_view name);

/** The key of the obfuscation key's record: length byte, then "\0obfuscate_key". */
ByteSpan ObfuscationRecordKey();

} // namespace ibd
