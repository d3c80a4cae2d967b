// See partition_join.h.
#include "join/partition_join.h"

#include "join/hot_table.h"

#include <algorithm>
#include <bit>

namespace ibd {

namespace {

constexpr size_t kAhead = 16;
constexpr unsigned kDigitBits = 8;
constexpr size_t kDigits = size_t{1} << kDigitBits;
/** The bits of a name above these choose the partition. */
constexpr int kDigitsEnd = 48;
static_assert(kDigitsEnd + TableShape::kMaxPartitionBits <= 64);

size_t DigitOf(const JoinRecord& record, int shift) { return record.name >> shift & (kDigits - 1); }

/** Groups records by a digit of the key, in place; `starts`: of each group, and the end. */
template <typename Record>
void GroupByDigit(std::span<Record> records, int shift, std::array<size_t, kDigits + 1>& starts)
{
    starts.fill(0);
    for (const Record& record : records) ++starts[DigitOf(record, shift) + 1];
    for (size_t d = 0; d < kDigits; ++d) starts[d + 1] += starts[d];
    std::array<size_t, kDigits> next;
    std::copy_n(starts.begin(), kDigits, next.begin());
    for (size_t d = 0; d < kDigits; ++d) {
        while (next[d] < starts[d + 1]) {
            Record record = records[next[d]]; // puts each record where the next of its group
                                              // belongs
            for (size_t home; (home = DigitOf(record, shift)) != d;) {
                std::swap(record, records[next[home]++]);
            }
            records[next[d]++] = record;
        }
    }
}

/** Copies the records of a page written by HotTable to memory with enough space; returns their
 *  number. 0: the page ends within a record. */
size_t Unpack(ByteSpan page, JoinRecord* to)
{
    const size_t count = page.size() / sizeof(JoinRecord);
    if (page.size() % sizeof(JoinRecord) != 0) return 0;
    std::memcpy(to, page.data(), page.size());
    return count;
}
size_t Unpack(ByteSpan page, ValuedRecord* to)
{
    const uint8_t* from = page.data();
    const uint8_t* const end = from + page.size();
    ValuedRecord* const first = to;
    while (static_cast<size_t>(end - from) >= sizeof(JoinRecord)) {
        std::memcpy(static_cast<JoinRecord*>(to), from, sizeof(JoinRecord));
        from += sizeof(JoinRecord);
        to->coin = 0;
        if (to->Kind() == JoinKind::kCreated) {
            if (end - from < ptrdiff_t{sizeof(to->coin)}) return 0;
            std::memcpy(&to->coin, from, sizeof(to->coin));
            from += sizeof(to->coin);
        }
        ++to;
    }
    return from == end ? static_cast<size_t>(to - first) : 0;
}

/** Whether the first makes the output and the second spends it, in chain order. */
bool ArePair(const JoinRecord& a, const JoinRecord& b)
{
    if (a.Kind() == JoinKind::kCreated && b.Kind() == JoinKind::kSpent) return Meet(a, b);
    return a.Kind() == JoinKind::kSpent && b.Kind() == JoinKind::kCreated && Meet(b, a);
}

} // namespace

template <typename Record>
Result<> PartitionJoin<Record>::Run(uint32_t partition, const Unspent& unspent)
{
    const unsigned bits = PartBits(partition);
    m_sizes.assign(size_t{1} << bits, 0);
    for (uint64_t part = 0; part < uint64_t{1} << bits; ++part) {
        IBD_RETURN_IF_ERROR(Load(partition, bits, part));
        if (m_crowded) return {};
        Divide({m_records.get(), m_count}, 0, unspent);
    }
    return {};
}

/** Estimated number in a partition: of values about half are spends, which are shorter. */
template <typename Record>
uint64_t PartitionJoin<Record>::Records(uint32_t partition) const
{
    return m_spills.Bytes(partition) / ((sizeof(Record) + sizeof(JoinRecord)) / 2);
}

/** Number of bits of the keys that choose the part of a partition that is joined at once. */
template <typename Record>
unsigned PartitionJoin<Record>::PartBits(uint32_t partition) const
{
    const uint64_t records = Records(partition);
    if (records <= m_most) return 0;
    return static_cast<unsigned>(std::bit_width((records + m_most - 1) / m_most));
}

/** Keeps the records loaded so far. */
template <typename Record>
void PartitionJoin<Record>::MakeRoom(size_t records)
{
    if (records <= m_capacity) return;
    auto larger = std::make_unique_for_overwrite<Record[]>(records);
    std::copy_n(m_records.get(), m_count, larger.get());
    m_records = std::move(larger);
    m_capacity = records;
}

template <typename Record>
Result<> PartitionJoin<Record>::Load(uint32_t partition, unsigned part_bits, uint64_t part)
{
    m_count = 0;
    MakeRoom(std::min<uint64_t>(m_most, Records(partition)));
    bool whole = true;
    IBD_RETURN_IF_ERROR(m_spills.Read(partition, m_page, [&](ByteSpan page) {
        if (m_crowded) return;
        const size_t most = page.size() / sizeof(JoinRecord);
        if (m_count + most > m_capacity) MakeRoom(m_count + m_count / 4 + most);
        Record* const added = m_records.get() + m_count;
        const size_t count = Unpack(page, added);
        if (part == 0 && part_bits > 0) CountParts({added, count}, part_bits);
        whole = whole && count > 0;
        const auto other = [&](const Record& r) { return r.rest >> (64 - part_bits) != part; };
        m_count += part_bits == 0
                       ? count
                       : static_cast<size_t>(std::remove_if(added, added + count, other) - added);
    }));
    if (!whole) return BadData("partition {}: a page ends within a record", partition);
    return {};
}

/** Finds a part that is too large early, before many others are read for nothing. */
template <typename Record>
void PartitionJoin<Record>::CountParts(std::span<const Record> records, unsigned part_bits)
{
    for (const Record& record : records) {
        m_crowded = ++m_sizes[record.rest >> (64 - part_bits)] > kMostCrowded * m_most || m_crowded;
    }
}

template <typename Record>
void PartitionJoin<Record>::Divide(std::span<Record> records, int shift, const Unspent& unspent)
{
    if (records.size() <= kChunkRecords || shift >= kDigitsEnd) {
        JoinChunk(records, unspent);
        return;
    }
    std::array<size_t, kDigits + 1> starts;
    GroupByDigit(records, shift, starts);
    for (size_t d = 0; d < kDigits; ++d) {
        Divide(records.subspan(starts[d], starts[d + 1] - starts[d]),
               shift + static_cast<int>(kDigitBits), unspent);
    }
}

template <typename Record>
void PartitionJoin<Record>::JoinChunk(std::span<const Record> records, const Unspent& unspent)
{
    if (records.empty()) return;
    const size_t slots = std::bit_ceil(2 * records.size());
    m_slots.assign(slots, 0);
    m_fates.assign(records.size(), Fate::kAlone);
    m_partners.resize(records.size());
    // The digits of Divide() come from the first word of the name, these bits from the rest.
    const auto slot_of = [&](size_t i) { return records[i].NameRest() & (slots - 1); };
    for (size_t i = 0; i < records.size(); ++i) {
        if (i + kAhead < records.size()) __builtin_prefetch(&m_slots[slot_of(i + kAhead)], 1);
        size_t slot = slot_of(i);
        while (m_slots[slot] != 0 && !records[m_slots[slot] - 1].HasNameOf(records[i])) {
            slot = (slot + 1) & (slots - 1);
        }
        if (m_slots[slot] == 0) {
            m_slots[slot] = static_cast<uint32_t>(i + 1);
            continue;
        }
        const size_t first = m_slots[slot] - 1;
        const bool met = m_fates[first] == Fate::kAlone && ArePair(records[first], records[i]);
        m_fates[first] = met ? Fate::kMet : Fate::kOdd;
        m_fates[i] = Fate::kSecond;
        m_partners[first] = static_cast<uint32_t>(i);
        m_partners[i] = static_cast<uint32_t>(first);
    }
    bool odd = false;
    for (size_t i = 0; i < records.size(); ++i) {
        odd = odd || m_fates[i] == Fate::kOdd;
        if (m_fates[i] == Fate::kMet) TellPair(records[i], records[m_partners[i]]);
        if (m_fates[i] != Fate::kAlone) continue;
        if (records[i].Kind() == JoinKind::kCreated) unspent(records[i]);
        if (records[i].Kind() == JoinKind::kSpent) Note(records[i]);
    }
    if (odd) SettleOdd(records, unspent);
}

/** Handles outpoints with events other than one pair. A valid chain has few, all of repeated
 *  coinbases; an invalid one may have nothing else. */
template <typename Record>
void PartitionJoin<Record>::SettleOdd(std::span<const Record> records, const Unspent& unspent)
{
    const auto first_of = [&](uint32_t i) {
        return m_fates[i] == Fate::kSecond ? m_partners[i] : i;
    };
    m_odd.clear();
    for (uint32_t i = 0; i < records.size(); ++i) {
        if (m_fates[first_of(i)] == Fate::kOdd) m_odd.push_back(i);
    }
    std::sort(m_odd.begin(), m_odd.end(), [&](uint32_t a, uint32_t b) {
        return std::pair(first_of(a), records[a].Event()) <
               std::pair(first_of(b), records[b].Event());
    });
    for (auto begin = m_odd.cbegin(); begin != m_odd.cend();) {
        const auto end = std::find_if(begin, m_odd.cend(),
                                      [&](uint32_t i) { return first_of(i) != first_of(*begin); });
        Settle(records, {begin, end}, unspent);
        begin = end;
    }
}

/** `events`: positions of one outpoint's events, in the chain's order; it must be made and spent in
 *  turn. */
template <typename Record>
void PartitionJoin<Record>::Settle(std::span<const Record> records,
                                   std::span<const uint32_t> events, const Unspent& unspent)
{
    const Record* there = nullptr;
    for (const uint32_t place : events) {
        const Record& event = records[place];
        const bool makes = event.Kind() != JoinKind::kSpent;
        if (makes == (there != nullptr)) return Note(event);
        if (!makes) TellPair(*there, event);
        there = makes ? &event : nullptr;
    }
    if (there && there->Kind() == JoinKind::kCreated) unspent(*there);
}

template <typename Record>
void PartitionJoin<Record>::TellPair(const Record& a, const Record& b) const
{
    if (!m_paired) return;
    const bool a_makes = a.Kind() == JoinKind::kCreated;
    m_paired(a_makes ? a : b, a_makes ? b : a);
}

template <typename Record>
void PartitionJoin<Record>::Note(const JoinRecord& event)
{
    if (!m_problem || event.Event() < m_problem->Event()) m_problem = event;
}

template class PartitionJoin<JoinRecord>;
template class PartitionJoin<ValuedRecord>;

} // namespace ibd
