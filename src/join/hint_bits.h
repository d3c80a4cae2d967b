// HintBits: turns unspent outputs, given in the order of their keys, into hints in chain order.
// Outputs are numbered from the first block on, and the blocks are cut into ranges whose bits fit
// into memory. The numbers are spilled by range; then each range is written from a bitmap. Memory:
// as given, and 8 bytes a block.
#pragma once

#include "join/spill_file.h"
#include "hints/hints_writer.h"

namespace ibd {

class HintBits {
public:
    /** `outputs`: number in each block, by height from 0; genesis has none. */
    HintBits(std::span<const uint32_t> outputs, size_t memory_bytes);

    uint32_t Ranges() const { return static_cast<uint32_t>(m_first_heights.size() - 1); }

    /** Collects numbers for one thread; pages go to the shared writer. */
    class Collector {
    public:
        Collector(const HintBits& bits, SpillWriter& writer);
        /** Adds an unspent output. */
        void Add(uint32_t height, uint32_t index);
        /** Hands the collected numbers to the writer. */
        void Flush();
        uint64_t Count() const { return m_count; }

    private:
        void WritePage(uint32_t range);

        const HintBits& m_bits;
        SpillWriter& m_writer;
        std::vector<Bytes> m_pages;
        uint64_t m_count = 0;
    };

    /** Writes the hints of all blocks. `unspent`: the numbers from the collectors. Bad data: a
     *  spill is damaged. */
    Result<> Write(const SpillReader& unspent, HintsWriter& out) const;

private:
    uint32_t RangeOf(uint32_t height) const
    {
        return static_cast<uint32_t>(m_before[height] / m_bits_per_range);
    }
    /** Number of an output, counted from the first of its range. */
    uint64_t NumberInRange(uint32_t height, uint32_t index) const
    {
        return m_before[height] - m_before[m_first_heights[RangeOf(height)]] + index;
    }
    Result<> WriteRange(uint32_t range, std::vector<uint64_t>& bitmap, const SpillReader& unspent,
                        HintsWriter& out) const;

    uint64_t m_bits_per_range;
    std::vector<uint64_t> m_before;        //!< outputs before the block at each height; then their
                                           //!< total
    std::vector<uint32_t> m_first_heights; //!< of each range, and the end
};

} // namespace ibd
