// See hot_table.h.
#include "join/hot_table.h"

#include <algorithm>
#include <bit>

namespace ibd {

namespace {

constexpr size_t kMinPageRecords = (8 << 10) / sizeof(JoinRecord);
constexpr size_t kMaxPageRecords = SpillWriter::kMaxPageBytes / sizeof(JoinRecord);
/** Records ahead for which a bucket is asked to be brought near: it may lie anywhere in a table
 *  that no cache holds. */
constexpr size_t kAhead = 6;

// Both by selection in place of std::copy(), which for so few bytes spends most on its call.

/** Removes slot `i`, so that those behind it move up. */
template <size_t N>
void Remove(std::array<JoinRecord, N>& slots, size_t i)
{
    for (size_t to = 0; to + 1 < N; ++to) slots[to] = slots[to < i ? to : to + 1];
    slots.back() = {};
}

/** Puts a record before all others; what falls out at the end, which may be a free slot. */
template <size_t N>
JoinRecord PushFront(std::array<JoinRecord, N>& slots, const JoinRecord& record)
{
    JoinRecord moved = record;
    for (JoinRecord& slot : slots) std::swap(slot, moved);
    return moved;
}

} // namespace

size_t TableShape::Slots() const
{
    return HotTable::kShards * buckets * (HotTable::kCreatedWays + HotTable::kSpentWays);
}

unsigned TableShape::PartitionBits(uint64_t spill_bytes, size_t partition_bytes)
{
    const uint64_t wanted = spill_bytes / std::max<size_t>(partition_bytes, 1) + 1;
    const auto bits = static_cast<unsigned>(std::bit_width(wanted - 1));
    return std::clamp(bits, kMinPartitionBits, kMaxPartitionBits);
}

/** A quarter for pages, unless they would be too small or too large; the rest for the table, which
 *  is worth more. */
TableShape TableShape::Fit(size_t memory_bytes, unsigned partition_bits)
{
    TableShape shape;
    shape.partition_bits = partition_bits;
    const size_t page_bytes = memory_bytes / 4 / shape.Partitions();
    shape.page_records =
        std::clamp(page_bytes / sizeof(JoinRecord), kMinPageRecords, kMaxPageRecords);
    const size_t pages = shape.Partitions() * shape.page_records * sizeof(JoinRecord);
    const size_t table = memory_bytes - std::min(pages, memory_bytes / 2);
    constexpr size_t kBucketBytes =
        (HotTable::kCreatedWays + HotTable::kSpentWays) * sizeof(JoinRecord);
    shape.buckets = std::max<size_t>(1, table / HotTable::kShards / kBucketBytes);
    return shape;
}

HotTable::HotTable(const TableShape& shape, bool meet)
    : m_shape(shape), m_meet(meet), m_shards(kShards)
{
    const size_t partitions = shape.Partitions() / kShards;
    for (Shard& shard : m_shards) {
        const Lock lock(shard.mutex);
        if (meet) shard.buckets.resize(shape.buckets);
        shard.pages.resize(partitions * shape.page_records);
        shard.filled.resize(partitions);
    }
}

bool HotTable::Take(ShardedRecords& records, PairCollector* pairs)
{
    std::array<uint32_t, kShards + 1> starts;
    Group(records, starts);
    if (records.Size() == 0) return true;
    // Each block begins somewhere else, so that threads do not follow one another from lock to
    // lock.
    const size_t first = ShardOf(records.Records().front());
    bool ok = true;
    for (size_t i = 0; i < kShards; ++i) {
        const size_t s = (first + i) % kShards;
        if (starts[s] == starts[s + 1]) continue;
        const auto of_shard =
            std::span(records.m_grouped).subspan(starts[s], starts[s + 1] - starts[s]);
        ok = TakeShard(m_shards[s], of_shard, pairs) && ok;
    }
    return ok;
}

void HotTable::Group(ShardedRecords& records, std::array<uint32_t, kShards + 1>& starts) const
{
    starts.fill(0);
    for (const JoinRecord& record : records.Records()) ++starts[ShardOf(record) + 1];
    for (size_t s = 0; s < kShards; ++s) starts[s + 1] += starts[s];
    std::array<uint32_t, kShards> next;
    std::copy_n(starts.begin(), kShards, next.begin());
    if (records.m_grouped.size() < records.Size()) records.m_grouped.resize(records.Size());
    for (const JoinRecord& record : records.Records()) {
        records.m_grouped[next[ShardOf(record)]++] = record;
    }
}

/** The bits behind the shard's, scaled. */
size_t HotTable::BucketOf(const JoinRecord& record) const
{
    const uint64_t fraction = record.name << kShardBits >> 32;
    return static_cast<size_t>(fraction * m_shape.buckets >> 32);
}

bool HotTable::TakeShard(Shard& shard, std::span<const JoinRecord> records, PairCollector* pairs)
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

bool HotTable::TakeOne(Shard& shard, const JoinRecord& record, PairCollector* pairs)
{
    const JoinKind kind = record.Kind();
    if (!m_meet || kind == JoinKind::kCoinbaseId) return Spill(shard, record);
    Bucket& bucket = shard.buckets[BucketOf(record)];
    JoinRecord displaced;
    if (kind == JoinKind::kCreated) {
        for (size_t i = 0; i < kSpentWays; ++i) {
            if (!Meet(record, bucket.spent[i])) continue;
            ++shard.met;
            const bool ok = !pairs || pairs->Add(record, bucket.spent[i]);
            Remove(bucket.spent, i);
            return ok;
        }
        displaced = PushFront(bucket.created, record);
    } else {
        for (size_t i = 0; i < kCreatedWays; ++i) {
            if (bucket.created[i].IsNone() || !Meet(bucket.created[i], record)) continue;
            ++shard.met;
            const bool ok = !pairs || pairs->Add(bucket.created[i], record);
            Remove(bucket.created, i);
            return ok;
        }
        displaced = PushFront(bucket.spent, record);
    }
    return displaced.IsNone() || Spill(shard, displaced);
}

bool HotTable::Spill(Shard& shard, const JoinRecord& record)
{
    const auto partition = static_cast<uint32_t>(record.name >> (64 - m_shape.partition_bits));
    const size_t page = partition % shard.filled.size();
    shard.pages[page * m_shape.page_records + shard.filled[page]] = record;
    return ++shard.filled[page] < m_shape.page_records || WritePage(shard, page, partition);
}

bool HotTable::WritePage(Shard& shard, size_t page, uint32_t partition)
{
    const JoinRecord* first = shard.pages.data() + page * m_shape.page_records;
    const size_t size = shard.filled[page] * sizeof(JoinRecord);
    shard.filled[page] = 0;
    CHECK(m_writer);
    return m_writer->Add(partition, {reinterpret_cast<const uint8_t*>(first), size});
}

bool HotTable::Flush()
{
    bool ok = true;
    for (size_t s = 0; s < kShards; ++s) ok = FlushShard(s) && ok;
    return ok;
}

bool HotTable::FlushShard(size_t number)
{
    Shard& shard = m_shards[number];
    const Lock lock(shard.mutex);
    bool ok = true;
    for (Bucket& bucket : shard.buckets) {
        for (const JoinRecord& r : bucket.created) ok = (r.IsNone() || Spill(shard, r)) && ok;
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

uint64_t HotTable::Met() const
{
    uint64_t met = 0;
    for (const Shard& shard : m_shards) {
        const Lock lock(shard.mutex);
        met += shard.met;
    }
    return met;
}

} // namespace ibd
