// See hot_table.h.
#include "join/hot_table.h"

#include <algorithm>
#include <bit>

namespace ibd {

namespace {

constexpr size_t kMinPageBytes = 8 << 10;
/** Distance, in records, at which buckets are prefetched: the table is larger than any cache. */
constexpr size_t kAhead = 8;

/** Replaces an empty slot, or else the oldest record by its place in the chain; returns the old
 *  content. */
template <typename Record, size_t N>
Record Replace(std::array<Record, N>& slots, const Record& record)
{
    size_t oldest = 0;
    uint64_t place = slots[0].Event();
    for (size_t i = 1; i < N; ++i) { // no branches: which one is oldest cannot be predicted
        const uint64_t other = slots[i].Event();
        oldest = other < place ? i : oldest;
        place = std::min(place, other);
    }
    return std::exchange(slots[oldest], record);
}

} // namespace

unsigned TableShape::PartitionBits(uint64_t spill_bytes, size_t partition_bytes)
{
    const uint64_t wanted = spill_bytes / std::max<size_t>(partition_bytes, 1) + 1;
    const auto bits = static_cast<unsigned>(std::bit_width(wanted - 1));
    return std::clamp(bits, kMinPartitionBits, kMaxPartitionBits);
}

/** A quarter of the memory is for pages, within bounds on their size. The rest is for the table,
 *  where it saves more. */
TableShape TableShape::Fit(size_t memory_bytes, unsigned partition_bits, size_t bucket_bytes)
{
    TableShape shape;
    shape.partition_bits = partition_bits;
    shape.page_bytes = std::clamp(memory_bytes / 4 / shape.Partitions(), kMinPageBytes,
                                  SpillWriter::kMaxPageBytes);
    const size_t pages = shape.Partitions() * shape.page_bytes;
    const size_t table = memory_bytes - std::min(pages, memory_bytes / 2);
    shape.buckets = std::max<size_t>(1, table / kShards / bucket_bytes);
    return shape;
}

template <typename Record>
std::span<const Record> ShardedRecords<Record>::Group(Starts& starts)
{
    starts.fill(0);
    for (const Record& record : Records()) ++starts[ShardOf(record) + 1];
    for (size_t s = 0; s < TableShape::kShards; ++s) starts[s + 1] += starts[s];
    std::array<uint32_t, TableShape::kShards> next;
    std::copy_n(starts.begin(), TableShape::kShards, next.begin());
    if (m_grouped.size() < m_count) m_grouped.resize(m_count);
    for (const Record& record : Records()) m_grouped[next[ShardOf(record)]++] = record;
    return std::span(m_grouped).first(m_count);
}

template <typename Record>
HotTable<Record>::HotTable(const TableShape& shape, bool meet)
    : m_shape(shape), m_meet(meet), m_page_mask(shape.Partitions() / kShards - 1),
      m_buckets(meet ? kShards * shape.buckets : 0), m_shards(kShards)
{
    const size_t partitions = shape.Partitions() / kShards;
    for (size_t s = 0; s < kShards; ++s) {
        Shard& shard = m_shards[s];
        const Lock lock(shard.mutex);
        if (meet) shard.buckets = std::span(m_buckets).subspan(s * shape.buckets, shape.buckets);
        shard.pages.resize(partitions * shape.page_bytes);
        shard.filled.resize(partitions);
    }
}

template <typename Record>
bool HotTable<Record>::Take(ShardedRecords<Record>& records, MetSink<Record>* pairs)
{
    if (records.Size() == 0) return true;
    typename ShardedRecords<Record>::Starts starts;
    const std::span<const Record> grouped = records.Group(starts);
    // Each block begins at another shard, so that threads do not wait for the same lock.
    const size_t first = records.ShardOf(records.First());
    bool ok = true;
    for (size_t i = 0; i < kShards; ++i) {
        const size_t s = (first + i) % kShards;
        if (starts[s] == starts[s + 1]) continue;
        const auto of_shard = grouped.subspan(starts[s], starts[s + 1] - starts[s]);
        ok = TakeShard(m_shards[s], of_shard, pairs) && ok;
    }
    return ok;
}

/** Scales the bits of the name that follow the shard number. */
template <typename Record>
size_t HotTable<Record>::BucketOf(const Record& record) const
{
    const uint64_t fraction = record.name << TableShape::kShardBits >> 32;
    return static_cast<size_t>(fraction * m_shape.buckets >> 32);
}

template <typename Record>
bool HotTable<Record>::TakeShard(Shard& shard, std::span<const Record> records,
                                 MetSink<Record>* pairs)
{
    const Lock lock(shard.mutex);
    bool ok = true;
    for (size_t i = 0; i < records.size(); ++i) {
        if (m_meet && i + kAhead < records.size()) {
            const Bucket& soon = shard.buckets[BucketOf(records[i + kAhead])];
            for (size_t line = 0; line < sizeof(Bucket); line += 64) {
                __builtin_prefetch(reinterpret_cast<const uint8_t*>(&soon) + line, 1);
            }
        }
        ok = TakeOne(shard, records[i], pairs) && ok;
    }
    return ok;
}

template <typename Record>
bool HotTable<Record>::TakeOne(Shard& shard, const Record& record, MetSink<Record>* pairs)
{
    const JoinKind kind = record.Kind();
    if (!m_meet || kind == JoinKind::kCoinbaseId) return Spill(shard, record);
    Bucket& bucket = shard.buckets[BucketOf(record)];
    if (kind == JoinKind::kCreated) {
        for (JoinRecord& slot : bucket.spent) {
            if (!Meet(record, slot)) continue;
            ++shard.met;
            const JoinRecord spent = std::exchange(slot, {});
            return !pairs || pairs->Met(record, spent);
        }
        return Put(shard, bucket.created, record);
    }
    for (Record& slot : bucket.created) {
        if (slot.IsNone() || !Meet(slot, record)) continue;
        ++shard.met;
        const Record made = std::exchange(slot, {});
        return !pairs || pairs->Met(made, record);
    }
    return Put<JoinRecord>(shard, bucket.spent, record);
}

/** Replaces the oldest record of the slots, which is spilled. */
template <typename Record>
template <typename Any, size_t N>
bool HotTable<Record>::Put(Shard& shard, std::array<Any, N>& slots, const Any& record)
{
    const Any displaced = Replace(slots, record);
    return displaced.IsNone() || Spill(shard, displaced);
}

/** Writes the form that PartitionJoin reads: a spend takes only a JoinRecord. */
template <typename Record>
template <typename Any>
bool HotTable<Record>::Spill(Shard& shard, const Any& record)
{
    const auto partition = static_cast<uint32_t>(record.name >> (64 - m_shape.partition_bits));
    const size_t page = partition & m_page_mask;
    uint32_t& filled = shard.filled[page];
    std::memcpy(&shard.pages[page * m_shape.page_bytes + filled], &record, sizeof(Any));
    filled += record.Kind() == JoinKind::kCreated ? sizeof(Any) : sizeof(JoinRecord);
    return filled + sizeof(Record) <= m_shape.page_bytes || WritePage(shard, page, partition);
}

template <typename Record>
bool HotTable<Record>::WritePage(Shard& shard, size_t page, uint32_t partition)
{
    const size_t size = std::exchange(shard.filled[page], 0);
    CHECK(m_writer);
    return m_writer->Add(partition, {shard.pages.data() + page * m_shape.page_bytes, size});
}

template <typename Record>
bool HotTable<Record>::Flush()
{
    bool ok = true;
    for (size_t s = 0; s < kShards; ++s) ok = FlushShard(s) && ok;
    return ok;
}

template <typename Record>
bool HotTable<Record>::FlushShard(size_t number)
{
    Shard& shard = m_shards[number];
    const Lock lock(shard.mutex);
    bool ok = true;
    for (Bucket& bucket : shard.buckets) {
        for (const Record& r : bucket.created) ok = (r.IsNone() || Spill(shard, r)) && ok;
        for (const JoinRecord& r : bucket.spent) ok = (r.IsNone() || Spill(shard, r)) && ok;
        bucket = {};
    }
    for (size_t page = 0; page < shard.filled.size(); ++page) {
        if (shard.filled[page] == 0) continue;
        const size_t partition = number * shard.filled.size() + page;
        ok = WritePage(shard, page, static_cast<uint32_t>(partition)) && ok;
    }
    return ok;
}

template <typename Record>
uint64_t HotTable<Record>::Met() const
{
    uint64_t met = 0;
    for (const Shard& shard : m_shards) {
        const Lock lock(shard.mutex);
        met += shard.met;
    }
    return met;
}

template class ShardedRecords<JoinRecord>;
template class ShardedRecords<ValuedRecord>;
template class HotTable<JoinRecord>;
template class HotTable<ValuedRecord>;

} // namespace ibd
