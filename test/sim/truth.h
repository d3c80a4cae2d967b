// Truth: for every output of a generated chain, whether it is spendable and whether it is unspent
// at the tip. The generator knows it without validating; hints and chainstates are compared with
// it. Two bits for each output. One thread.
#pragma once

#include "util/bytes.h"

#include <vector>

namespace ibd::sim {

class Truth {
public:
    /** Starts the next block, from height 0 up. */
    void BeginBlock() { m_starts.push_back(m_outputs); }

    /** The next output of the last block in block order; returns its number in the chain. */
    uint64_t AddOutput(bool spendable);
    void Spend(uint64_t output);
    /** BIP30: the output was overwritten, as if it had never been. */
    void Overwrite(uint64_t output);

    int Height() const { return static_cast<int>(m_starts.size()) - 1; }
    uint64_t Outputs() const { return m_outputs; }
    uint64_t Spendable() const { return m_spendable_count; }
    uint64_t Unspent() const { return m_unspent_count; }

    /** One byte, 1 for unspent, for each output of the block; `spendable_only` leaves out the
     *  unspendable ones, as hints containers do. */
    std::vector<uint8_t> UnspentOfBlock(int height, bool spendable_only) const;

    /** A line for each height from 1: ascending indices of the unspent among the spendable outputs
     *  in block order, separated by spaces. */
    std::string ToText() const;
    /** The original bitmap hints: from height 0, over all outputs. */
    Bytes ToBitmap() const;

private:
    static bool Get(const std::vector<uint64_t>& bits, uint64_t i)
    {
        return bits[i / 64] >> (i % 64) & 1;
    }

    std::vector<uint64_t> m_starts; //!< first output of each block
    std::vector<uint64_t> m_spendable, m_unspent;
    uint64_t m_outputs = 0, m_spendable_count = 0, m_unspent_count = 0;
};

} // namespace ibd::sim
