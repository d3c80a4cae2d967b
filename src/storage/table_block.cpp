// Blocks and filters of table_writer.h.
#include "storage/table_coding.h"
#include "storage/table_writer.h"

#include <algorithm>

namespace ibd {
namespace {

constexpr uint32_t kBitsPerKey = 10;
constexpr uint8_t kProbes = 6;          // kBitsPerKey * ln 2, rounded down
constexpr uint8_t kFilterSpanLog2 = 11; // one filter for each 2 KiB of blocks
constexpr uint32_t kBloomSeed = 0xbc9f1d34;

/** LevelDB's hash of a key for its filters; Murmur-like, four bytes at a time. */
uint32_t BloomHash(ByteSpan key)
{
    constexpr uint32_t kMultiplier = 0xc6a4a793;
    uint32_t h = kBloomSeed ^ (static_cast<uint32_t>(key.size()) * kMultiplier);
    const uint8_t* p = key.data();
    size_t n = key.size();
    for (; n >= 4; p += 4, n -= 4) {
        h += ReadLE32(p);
        h *= kMultiplier;
        h ^= h >> 16;
    }
    if (n == 0) return h;
    uint32_t rest = 0;
    for (size_t i = 0; i < n; ++i) rest |= uint32_t{p[i]} << (8 * i);
    h += rest;
    h *= kMultiplier;
    return h ^ (h >> 24);
}

} // namespace

void TableBlock::Add(ByteSpan key, ByteSpan value, const XorKey& xor_key)
{
    size_t shared = 0;
    if (m_since_restart == m_restart_interval) {
        m_restarts.push_back(static_cast<uint32_t>(m_bytes.size()));
        m_since_restart = 0;
    } else {
        const size_t limit = std::min(key.size(), m_last_key.size());
        while (shared < limit && key[shared] == m_last_key[shared]) ++shared;
    }
    AppendLeb128(m_bytes, shared);
    AppendLeb128(m_bytes, key.size() - shared);
    AppendLeb128(m_bytes, value.size());
    Append(m_bytes, key.subspan(shared));
    const size_t at = m_bytes.size();
    m_bytes.resize(at + value.size());
    xor_key.Apply(m_bytes.data() + at, value.data(), value.size(), 0);
    m_last_key.assign(key.begin(), key.end());
    ++m_since_restart;
}

ByteSpan TableBlock::Finish()
{
    for (uint32_t offset : m_restarts) AppendLE32(m_bytes, offset);
    AppendLE32(m_bytes, static_cast<uint32_t>(m_restarts.size()));
    return m_bytes;
}

void TableBlock::Reset()
{
    m_bytes.clear();
    m_restarts.assign(1, 0);
    m_since_restart = 0;
    m_last_key.clear();
}

void TableFilter::AddKey(ByteSpan user_key) { m_hashes.push_back(BloomHash(user_key)); }

void TableFilter::StartBlock(uint64_t offset)
{
    while (offset >> kFilterSpanLog2 > m_offsets.size()) CloseFilter();
}

void TableFilter::CloseFilter()
{
    m_offsets.push_back(static_cast<uint32_t>(m_bytes.size()));
    if (m_hashes.empty()) return;
    const size_t bytes = (std::max<size_t>(64, m_hashes.size() * kBitsPerKey) + 7) / 8;
    const uint32_t bits = static_cast<uint32_t>(bytes * 8);
    const size_t start = m_bytes.size();
    m_bytes.resize(start + bytes);
    uint8_t* array = m_bytes.data() + start;
    for (uint32_t h : m_hashes) {
        const uint32_t delta = (h >> 17) | (h << 15);
        for (int probe = 0; probe < kProbes; ++probe, h += delta) {
            const uint32_t bit = h % bits;
            array[bit / 8] = static_cast<uint8_t>(array[bit / 8] | 1 << (bit % 8));
        }
    }
    m_bytes.push_back(kProbes);
    m_hashes.clear();
}

ByteSpan TableFilter::Finish()
{
    if (!m_hashes.empty()) CloseFilter();
    const uint32_t array_offset = static_cast<uint32_t>(m_bytes.size());
    for (uint32_t offset : m_offsets) AppendLE32(m_bytes, offset);
    AppendLE32(m_bytes, array_offset);
    m_bytes.push_back(kFilterSpanLog2);
    return m_bytes;
}

void TableFilter::Reset()
{
    m_hashes.clear();
    m_offsets.clear();
    m_bytes.clear();
}

} // namespace ibd
