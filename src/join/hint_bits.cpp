// See hint_bits.h.
#include "join/hint_bits.h"

#include <algorithm>
#include <bit>

namespace ibd {

namespace {

constexpr size_t kNumberBytes = 4;
/** For each range and thread. */
constexpr size_t kPageBytes = 16 << 10;
constexpr uint64_t kMinRangeBits = 1 << 16;
/** Bounds numbers to 32 bits, as the last block of a range may reach beyond it. */
constexpr uint64_t kMaxRangeBits = uint64_t{1} << 31;
/** Bounds the pages: 4 MiB for each thread. */
constexpr uint64_t kMaxRanges = 256;

} // namespace

HintBits::HintBits(std::span<const uint32_t> outputs, size_t memory_bytes)
{
    uint64_t all = 0;
    for (const uint32_t count : outputs) {
        m_before.push_back(all);
        all += count;
    }
    m_before.push_back(all);
    const uint64_t fits = std::clamp<uint64_t>(memory_bytes * 8, kMinRangeBits, kMaxRangeBits);
    m_bits_per_range = std::max(fits, all / kMaxRanges + 1);
    for (uint32_t height = 0; height < outputs.size(); ++height) {
        while (m_first_heights.size() <= RangeOf(height)) m_first_heights.push_back(height);
    }
    m_first_heights.push_back(static_cast<uint32_t>(outputs.size()));
}

HintBits::Collector::Collector(const HintBits& bits, SpillWriter& writer)
    : m_bits(bits), m_writer(writer), m_pages(bits.Ranges())
{
}

void HintBits::Collector::Add(uint32_t height, uint32_t index)
{
    const uint32_t range = m_bits.RangeOf(height);
    Bytes& page = m_pages[range];
    if (page.capacity() == 0) page.reserve(kPageBytes);
    uint8_t number[kNumberBytes];
    WriteLE32(number, static_cast<uint32_t>(m_bits.NumberInRange(height, index)));
    Append(page, number);
    ++m_count;
    if (page.size() == kPageBytes) WritePage(range);
}

void HintBits::Collector::WritePage(uint32_t range)
{
    (void)m_writer.Add(range, m_pages[range]); // Finish() of the writer reports the error
    m_pages[range].clear();
}

void HintBits::Collector::Flush()
{
    for (uint32_t range = 0; range < m_pages.size(); ++range) {
        if (!m_pages[range].empty()) WritePage(range);
    }
}

Result<> HintBits::Write(const SpillReader& unspent, HintsWriter& out) const
{
    std::vector<uint64_t> bitmap;
    for (uint32_t range = 0; range < Ranges(); ++range) {
        IBD_RETURN_IF_ERROR(WriteRange(range, bitmap, unspent, out));
    }
    return {};
}

Result<> HintBits::WriteRange(uint32_t range, std::vector<uint64_t>& bitmap,
                              const SpillReader& unspent, HintsWriter& out) const
{
    const uint32_t first = m_first_heights[range];
    const uint32_t end = m_first_heights[range + 1];
    const uint64_t bits = m_before[end] - m_before[first];
    bitmap.assign(bits / 64 + 1, 0);
    Bytes page;
    bool within = true;
    IBD_RETURN_IF_ERROR(unspent.Read(range, page, [&](ByteSpan numbers) {
        for (size_t at = 0; at + kNumberBytes <= numbers.size(); at += kNumberBytes) {
            const uint32_t number = ReadLE32(numbers.data() + at);
            within = within && number < bits;
            if (number < bits) bitmap[number / 64] |= uint64_t{1} << number % 64;
        }
    }));
    if (!within) return BadData("range {} of unspent outputs has one outside it", range);
    std::vector<uint32_t> indices;
    for (uint32_t height = std::max(first, 1u); height < end; ++height) {
        indices.clear();
        const uint64_t from = m_before[height] - m_before[first];
        const uint64_t to = m_before[height + 1] - m_before[first];
        for (uint64_t i = from; i < to; ++i) {
            const uint64_t word = bitmap[i / 64] >> i % 64;
            if (word == 0) {
                i |= 63;
            } else {
                i += static_cast<uint64_t>(std::countr_zero(word));
                if (i < to) indices.push_back(static_cast<uint32_t>(i - from));
            }
        }
        IBD_RETURN_IF_ERROR(out.Add(height, static_cast<uint32_t>(to - from), indices));
    }
    return {};
}

} // namespace ibd
