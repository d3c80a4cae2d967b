// HotTable: a bounded table in memory that matches an output with its spend if both are read close
// together. When a bucket is full, its oldest record goes to a page of its key's partition, and
// full pages to a spill. Shared by all workers; each shard is locked once for all records of a
// block. For both kinds of record: JoinRecord and ValuedRecord. Memory: as given, from the start.
#pragma once

#include "join/join_record.h"
#include "join/spill_file.h"
#include "util/huge_pages.h"

namespace ibd {

/** The division of a join's memory, and the number of partitions of spilled records. */
struct TableShape {
    static constexpr unsigned kShardBits = 6;
    static constexpr size_t kShards = size_t{1} << kShardBits;

    unsigned partition_bits = 0; //!< kMinPartitionBits to kMaxPartitionBits
    size_t page_bytes = 0;       //!< bytes of a page, collected for each partition before they are
                                 //!< written
    size_t buckets = 0;          //!< in each shard

    static constexpr unsigned kMinPartitionBits = 6;
    static constexpr unsigned kMaxPartitionBits = 12;

    uint32_t Partitions() const { return uint32_t{1} << partition_bits; }
    /** For a join that spills about `spill_bytes`; each partition should fit into
     *  `partition_bytes`. */
    static unsigned PartitionBits(uint64_t spill_bytes, size_t partition_bytes);
    /** `bucket_bytes`: HotTable::kBucketBytes. */
    static TableShape Fit(size_t memory_bytes, unsigned partition_bits, size_t bucket_bytes);
};

/** Records to be grouped by shard. Reusable: keeps its capacity. */
template <typename Record>
class ShardedRecords {
public:
    /** Empties it and reserves memory for `capacity` records. */
    void Reset(size_t capacity)
    {
        if (m_records.size() < capacity) m_records.resize(capacity);
        m_count = 0;
    }
    /** Adds a record; at most as many as the capacity given to Reset(). */
    void Add(const Record& record) { m_records[m_count++] = record; }
    size_t Size() const { return m_count; }
    /** The first added record; there must be one. */
    const Record& First() const { return m_records.front(); }

    static size_t ShardOf(const Record& record)
    {
        return record.name >> (64 - TableShape::kShardBits);
    }
    /** Index of each shard's first record in the result of Group(); then the end. */
    using Starts = std::array<uint32_t, TableShape::kShards + 1>;
    /** The records by shard, in the order of Add() within one; valid until the next Reset(). */
    std::span<const Record> Group(Starts& starts);

private:
    std::span<const Record> Records() const { return std::span(m_records).first(m_count); }

    size_t m_count = 0;
    std::vector<Record> m_records;
    std::vector<Record> m_grouped;
};

template <typename Record>
class HotTable {
public:
    /** `meet`: false: all records are spilled and none is matched here, so that the events of each
     *  output can be sorted later. */
    HotTable(const TableShape& shape, bool meet);

    /** Sets the writer of later pages; null before the first and after the last one. No thread may
     *  be in Take(). */
    void SetWriter(SpillWriter* writer) { m_writer = writer; }

    /** Adds the records of a block; any thread. `pairs` receives each matched pair; may be null.
     *  False: the writer or `pairs` has failed. */
    bool Take(ShardedRecords<Record>& records, MetSink<Record>* pairs = nullptr);

    /** Writes all records and empties the table; no thread may be in Take(). False: see Take(). */
    bool Flush();

    /** Number of pairs matched here. Any thread. */
    uint64_t Met() const;

private:
    // Outputs wait for their spend; the lowest in the chain is displaced first. Spends wait too,
    // because blocks arrive in any order; but only a few slots are for them, since a spend without
    // a match usually arrives after its output was displaced. A bucket fills two or three cache
    // lines.
    static constexpr size_t kCreatedWays = 6;
    static constexpr size_t kSpentWays = sizeof(Record) == sizeof(JoinRecord) ? 2 : 3;
    struct alignas(64) Bucket {
        std::array<Record, kCreatedWays> created;
        std::array<JoinRecord, kSpentWays> spent;
    };
    struct alignas(64) Shard {
        mutable Mutex mutex;
        std::span<Bucket> buckets IBD_GUARDED_BY(mutex);
        std::vector<uint8_t> pages IBD_GUARDED_BY(mutex);   //!< page_bytes for each partition
        std::vector<uint32_t> filled IBD_GUARDED_BY(mutex); //!< bytes of each page
        uint64_t met IBD_GUARDED_BY(mutex) = 0;
    };

    static constexpr size_t kShards = TableShape::kShards;

    size_t BucketOf(const Record& record) const;
    bool TakeShard(Shard& shard, std::span<const Record> records, MetSink<Record>* pairs);
    bool TakeOne(Shard& shard, const Record& record, MetSink<Record>* pairs)
        IBD_REQUIRES(shard.mutex);
    template <typename Any, size_t N>
    bool Put(Shard& shard, std::array<Any, N>& slots, const Any& record) IBD_REQUIRES(shard.mutex);
    template <typename Any>
    bool Spill(Shard& shard, const Any& record) IBD_REQUIRES(shard.mutex);
    bool WritePage(Shard& shard, size_t page, uint32_t partition) IBD_REQUIRES(shard.mutex);
    bool FlushShard(size_t number);

public:
    static constexpr size_t kBucketBytes = sizeof(Bucket);

private:
    const TableShape m_shape;
    const bool m_meet;
    const uint32_t m_page_mask; //!< selects the page of a partition within its shard
    SpillWriter* m_writer = nullptr;
    std::vector<Bucket, HugePageAllocator<Bucket>> m_buckets; //!< of all shards
    std::vector<Shard> m_shards;
};

} // namespace ibd
