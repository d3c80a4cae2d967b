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

/** The result of preparing a block, which needs no other block. */
struct PreparedBlock {
    virtual ~PreparedBlock() = default;
};

/** A block for an index, with the data that the index requires (IndexTraits). */
struct IndexedBlock {
    const StoredBlock& place;
    const BlockView* view = nullptr;
    const BlockUndo* undo = nullptr; //!< never of genesis
    /** The result of Prepare(), for Connect() only; if set, the other data are not. */
    const PreparedBlock* prepared = nullptr;
};

/** The fixed properties of an index. */
struct IndexTraits {
    std::string name;   //!< as in Core's log and getindexinfo
    std::string option; //!< the option that enables it
    std::string thread; //!< name of its thread, as in Core

    // The data that it needs to connect a block, besides the block.
    bool undo_to_connect = false;
    bool block_to_disconnect = false;
    bool undo_to_disconnect = false;
    /** Whether most of its work needs no other block, and is done by Prepare(). */
    bool prepares = false;

    bool allows_prune = false; //!< its records do not refer to block files

    // Estimated disk space, bytes, from the sizes of its records and the average numbers of inputs
    // and outputs of a mainnet transaction.
    uint64_t bytes_per_tx = 0;
    uint64_t bytes_per_block = 0;
    /** Estimated disk space for sorting its records (MakeSort()). */
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
    /** The database for readers, of an index that can be built in any order; null while it is being
     *  built. */
    std::shared_ptr<const KvStore> ShareDb() const
    {
        const Lock lock(m_mutex);
        return m_db;
    }
    /** Closes the database, after its readers. */
    void CloseDb();
    void SetDb(std::unique_ptr<KvStore> db);

    /** Reads its state at `best`, the last indexed block in the database; null: none. */
    virtual Result<> Load(const HeaderNode* best) = 0;
    /** Prepares a block that Connect() will get; any thread. */
    virtual std::unique_ptr<PreparedBlock> Prepare(const IndexedBlock&) const { return nullptr; }
    /** Adds the records of the block above the last one to `batch`, which is written later. */
    virtual Result<> Connect(KvBatch& batch, const IndexedBlock& block) = 0;
    /** Undoes the last block. All earlier batches are written. */
    virtual Result<> Disconnect(KvBatch& batch, const IndexedBlock& block) = 0;
    /** Adds its state after the last block, which will be the best block in this batch. Makes files
     *  durable that the records refer to. */
    virtual Result<> Save(KvBatch& batch) = 0;

    // For an index that can be built from blocks in any order, while it has no database.

    /** Begins to sort its records; null: it needs the blocks in order. */
    virtual std::unique_ptr<PlaceSort> MakeSort(Env&, const PlaceSortOptions&);
    /** Adds the other records of a database that was made by the last MakeSort(). */
    virtual void PutBuilt(KvBatch&) const {}

private:
    const IndexTraits m_traits;
    const Path m_directory;
    mutable Mutex m_mutex; //!< protects m_db against readers on other threads
    std::shared_ptr<KvStore> m_db;
};

} // namespace ibd
