// HotTable: where the making of an output and its spend meet if they come close together. Bounded:
// what is displaced, the oldest of its bucket first, goes to pages by partition of the key and from
// there to a spill. Shared by all workers; a shard is locked once for all its records of a block.
// For either kind of record: JoinRecord, or ValuedRecord. Memory: as given, from the start.
#pragma once

#include "join/join_record.h"
#include "join/spill_file.h"

namespace ibd {

/** How the memory of a join is divided, and into how many partitions what is spilled. */
struct TableShape {
    static constexpr unsigned kShardBits = 6;
    static constexpr size_t kShards = size_t{1} << kShardBits;

    unsigned partition_bits = 0; //!< kMinPartitionBits to kMaxPartitionBits
    size_t page_bytes = 0;       //!< of each partition that are collected before they are written
    size_t buckets = 0;          //!< in each shard

    static constexpr unsigned kMinPartitionBits = 6;
    static constexpr unsigned kMaxPartitionBits = 12;

    uint32_t Partitions() const { return uint32_t{1} << partition_bits; }
    /** For a join that spills about `spill_bytes`, whose partitions are to fit into
     *  `partition_bytes` each. */
    static unsigned PartitionBits(uint64_t spill_bytes, size_t partition_bytes);
    /** `bucket_bytes`: HotTable::kBucketBytes. */
    static TableShape Fit(size_t memory_bytes, unsigned partition_bits, size_t bucket_bytes);
};

template <typename Record>
class HotTable;

/** Records grouped by shard. Reusable: keeps its capacity. */
template <typename Record>
class ShardedRecords {
public:
    /** Empties it and makes room for so many. */
    void Reset(size_t capacity)
    {
        if (m_records.size() < capacity) m_records.resize(capacity);
        m_count = 0;
    }
    /** Within the capacity given to Reset(). */
    void Add(const Record& record) { m_records[m_count++] = record; }
    size_t Size() const { return m_count; }

private:
    friend class HotTable<Record>;
    std::span<const Record> Records() const { return std::span(m_records).first(m_count); }

    size_t m_count = 0;
    std::vector<Record> m_records;
    std::vector<Record> m_grouped;
};

template <typename Record>
class HotTable {
public:
    /** With `meet` false nothing meets here, all is spilled: the events of each output can then be
     *  put in order. */
    HotTable(const TableShape& shape, bool meet);

    /** Where pages go from now on; null before the first and after the last. While nobody is in
     *  Take(). */
    void SetWriter(SpillWriter* writer) { m_writer = writer; }

    /** Takes in the records of a block, any thread. `pairs`: null, or what is told of each pair
     *  that meets. False: the writer, or where the pairs go, has failed. */
    bool Take(ShardedRecords<Record>& records, MetSink<Record>* pairs = nullptr);

    /** Writes all that is there and empties the table; nobody is in Take(). False: see Take(). */
    bool Flush();

    /** Pairs that met here. Any thread. */
    uint64_t Met() const;

private:
    // Outputs wait for a spend, the oldest in the chain gives way. Spends wait as well, as blocks
    // come in any order, but not for long: most that find nothing come after their output was
    // displaced. A bucket fills two lines of the processor's cache, or three.
    static constexpr size_t kCreatedWays = 6;
    static constexpr size_t kSpentWays = sizeof(Record) == sizeof(JoinRecord) ? 2 : 3;
    struct alignas(64) Bucket {
        std::array<Record, kCreatedWays> created;
        std::array<JoinRecord, kSpentWays> spent;
    };
    struct alignas(64) Shard {
        mutable Mutex mutex;
        std::vector<Bucket> buckets IBD_GUARDED_BY(mutex);
        std::vector<uint8_t> pages IBD_GUARDED_BY(mutex);   //!< page_bytes for each partition
        std::vector<uint32_t> filled IBD_GUARDED_BY(mutex); //!< bytes of each page
        uint64_t met IBD_GUARDED_BY(mutex) = 0;
    };

    static constexpr size_t kShards = TableShape::kShards;

    static size_t ShardOf(const Record& record)
    {
        return record.name >> (64 - TableShape::kShardBits);
    }
    void Group(ShardedRecords<Record>& records, std::array<uint32_t, kShards + 1>& starts) const;
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
    const uint32_t m_page_mask; //!< of a partition: which page of its shard
    SpillWriter* m_writer = nullptr;
    std::vector<Shard> m_shards;
};

} // namespace ibd
