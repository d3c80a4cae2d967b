// Index: the records that one index keeps about the blocks of the active chain, in a database of
// its own. IndexFollower (index_follower.h) gives it the blocks in order. Owned by its follower.
//
// Threads: all but Traits(), Prepare() and ShareDb() are called on one thread at a time; the
// functions that a class adds for readers may be called on any.
#pragma once

#include "chain/header_node.h"
#include "primitives/block.h"
#include "storage/block_archive.h"
#include "storage/kv_store.h"
#include "util/mutex.h"

#include <string>

namespace ibd {

/** What an index makes of a block without any other block. */
struct PreparedBlock {
    virtual ~PreparedBlock() = default;
};

/** A block for an index, with the data that it asked for (IndexTraits). */
struct IndexedBlock {
    const StoredBlock& place;
    const BlockView* view = nullptr;
    const BlockUndo* undo = nullptr; //!< never of genesis
    /** What Prepare() returned, for Connect() alone; then there are no other data. */
    const PreparedBlock* prepared = nullptr;
};

/** The fixed properties of an index. */
struct IndexTraits {
    std::string name;   //!< as in Core's log and getindexinfo
    std::string option; //!< the one that switches it on
    std::string thread; //!< name of its thread, as in Core

    // The data of a block that it needs, besides the block to connect it.
    bool undo_to_connect = false;
    bool block_to_disconnect = false;
    bool undo_to_disconnect = false;
    /** Most of its work needs no other block: Prepare() does it. */
    bool prepares = false;

    bool allows_prune = false; //!< keeps nothing that refers to block files

    // Disk that it takes, about, bytes: from the sizes of its records and the inputs and outputs of
    // a transaction on mainnet.
    uint64_t bytes_per_tx = 0;
    uint64_t bytes_per_block = 0;
    /** Disk that sorting its records takes (MakeSort()), likewise. */
    uint64_t sort_bytes_per_tx = 0;
};

class PlaceSort;
struct PlaceSortOptions;

class Index {
public:
    Index(IndexTraits traits, std::unique_ptr<KvStore> db)
        : m_traits(std::move(traits)), m_directory(db->Directory()), m_db(std::move(db))
    {
    }
    virtual ~Index() = default;
    Index(const Index&) = delete;
    Index& operator=(const Index&) = delete;

    const IndexTraits& Traits() const { return m_traits; }
    const std::string& Name() const { return m_traits.name; }
    const std::string& Option() const { return m_traits.option; }
    const Path& Directory() const { return m_directory; } //!< of the database
    KvStore& Db() { return *m_db; }
    const KvStore& Db() const { return *m_db; }
    /** For readers of an index that can be built in any order: null while it is built. */
    std::shared_ptr<const KvStore> ShareDb() const
    {
        const Lock lock(m_mutex);
        return m_db;
    }
    /** Closes the database, after its readers. */
    void CloseDb();
    void SetDb(std::unique_ptr<KvStore> db);

    /** Reads its state at `best`, the block that the database is at; null: none. */
    virtual Result<> Load(const HeaderNode* best) = 0;
    /** Of a block that Connect() will get; any thread. */
    virtual std::unique_ptr<PreparedBlock> Prepare(const IndexedBlock&) const { return nullptr; }
    /** Adds the records of the block above the last one to `batch`, which is written later. */
    virtual Result<> Connect(KvBatch& batch, const IndexedBlock& block) = 0;
    /** Takes back the last block. All batches before are written. */
    virtual Result<> Disconnect(KvBatch& batch, const IndexedBlock& block) = 0;
    /** Adds its state after the last block, which the batch is about to name as the best one. Makes
     *  files that the records refer to durable. */
    virtual Result<> Save(KvBatch& batch) = 0;

    // Of an index that can be built from blocks in any order, while it has no database.

    /** Begins to sort its records; null: it needs the blocks in order. */
    virtual std::unique_ptr<PlaceSort> MakeSort(Env&, const PlaceSortOptions&);
    /** Adds the records that a database made by the last MakeSort() has besides. */
    virtual void PutBuilt(KvBatch&) const {}

private:
    const IndexTraits m_traits;
    const Path m_directory;
    mutable Mutex m_mutex; //!< of changes of m_db, and readers on other threads
    std::shared_ptr<KvStore> m_db;
};

} // namespace ibd
