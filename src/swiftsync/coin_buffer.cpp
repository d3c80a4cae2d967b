// See coin_buffer.h.
#include "swiftsync/coin_buffer.h"

#include "script/coin.h"

#include <algorithm>
#include <limits>

namespace ibd {

namespace {

/** Bits of the prefix that the one counting pass sorts by. */
constexpr unsigned kRadixBits = 16;
/** Longest height, amount and script header; see AppendCoin. */
constexpr size_t kMaxValueOverhead = 5 + 10 + 10;
constexpr size_t kIdSize = 32;

size_t MaxRecordSize(size_t value_size)
{
    return CoinRecord::kHeaderSize + kIdSize + 5 + value_size;
}

} // namespace

CoinBuffer::CoinBuffer(size_t capacity)
    : m_max_bytes(capacity / 3 * 2), m_max_entries(capacity / 6 / sizeof(Entry))
{
    m_bytes.reserve(m_max_bytes); // reserves address space only: pages are used as they fill
    m_entries.reserve(m_max_entries);
    m_sorted.reserve(m_max_entries);
}

bool CoinBuffer::HasRoom(size_t bytes, size_t entries) const
{
    return Empty() || (m_bytes.size() + bytes <= m_max_bytes &&
                       m_entries.size() + entries <= m_max_entries);
}

template <typename AppendValue>
void CoinBuffer::Append(ByteSpan id, uint32_t vout, AppendValue append_value)
{
    const size_t at = m_bytes.size();
    m_bytes.resize(at + CoinRecord::kHeaderSize);
    Writer writer(m_bytes);
    writer.Raw(id);
    writer.VarInt(vout);
    const size_t value_at = m_bytes.size();
    append_value();
    const size_t value_size = m_bytes.size() - value_at;
    CHECK(value_size <= std::numeric_limits<uint16_t>::max());
    WriteLE16(m_bytes.data() + at, static_cast<uint16_t>(value_size));
    m_bytes[at + 2] = static_cast<uint8_t>(value_at - at - CoinRecord::kHeaderSize - kIdSize);
    m_entries.push_back({CoinRecord(m_bytes.data() + at).Prefix(), at});
}

bool CoinBuffer::Add(const BlockDelta& delta, uint32_t height)
{
    size_t bytes = 0;
    for (const SurvivingCoin& coin : delta.coins) {
        bytes += MaxRecordSize(kMaxValueOverhead + coin.Output().script_pubkey.size());
    }
    if (!HasRoom(bytes, delta.coins.size())) return false;
    for (const SurvivingCoin& coin : delta.coins) {
        Append(coin.tx->txid.Span(), coin.vout, [&] {
            AppendCoin(m_bytes, coin.Output().value, coin.Output().script_pubkey, height,
                       coin.coinbase);
        });
    }
    return true;
}

bool CoinBuffer::Add(ByteSpan id, uint32_t vout, ByteSpan value)
{
    CHECK(id.size() == kIdSize);
    if (!HasRoom(MaxRecordSize(value.size()), 1)) return false;
    Append(id, vout, [&] { ibd::Append(m_bytes, value); });
    return true;
}

std::span<const CoinBuffer::Entry> CoinBuffer::Sort()
{
    // One stable counting pass over the highest bits leaves buckets of a few records, as ids are
    // uniform. Ground ids can only enlarge some buckets, which are sorted in n log n.
    constexpr unsigned kShift = 64 - kRadixBits;
    std::vector<uint32_t> ends(size_t{1} << kRadixBits);
    for (const Entry& e : m_entries) ++ends[e.prefix >> kShift];
    uint32_t total = 0;
    for (uint32_t& end : ends) {
        const uint32_t count = end;
        end = total;
        total += count;
    }
    m_sorted.resize(m_entries.size());
    for (const Entry& e : m_entries) m_sorted[ends[e.prefix >> kShift]++] = e;
    uint32_t begin = 0;
    for (const uint32_t end : ends) {
        if (end - begin > 1) SortBucket(m_sorted.data() + begin, m_sorted.data() + end);
        begin = end;
    }
    return m_sorted;
}

void CoinBuffer::SortBucket(Entry* begin, Entry* end)
{
    const auto less = [this](const Entry& a, const Entry& b) {
        if (a.prefix != b.prefix) return a.prefix < b.prefix;
        return Compare(RecordAt(a), RecordAt(b)) < 0;
    };
    if (end - begin > 24) {
        std::sort(begin, end, less);
        return;
    }
    for (Entry* i = begin + 1; i < end; ++i) {
        const Entry moving = *i;
        Entry* hole = i;
        for (; hole > begin && less(moving, hole[-1]); --hole) *hole = hole[-1];
        *hole = moving;
    }
}

void CoinBuffer::Clear()
{
    m_bytes.clear();
    m_entries.clear();
    m_sorted.clear();
}

OutPoint OutPointOf(const CoinRecord& record)
{
    uint8_t key[CoinKey::kMaxSize];
    key[0] = CoinKey::kPrefix;
    std::memcpy(key + 1, record.Key().data(), record.KeySize());
    OutPoint outpoint;
    CHECK(ParseCoinKey({key, 1 + record.KeySize()}, outpoint));
    return outpoint;
}

} // namespace ibd
