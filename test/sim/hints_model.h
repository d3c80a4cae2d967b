// HintsModel: hints of an invented chain, made in seconds and without its blocks, for tests and
// measurements of hints formats. Its outputs per block, share of unspent ones and their clusters
// are guesses, chosen so that several formats and compressors give about the sizes published for
// mainnet (bench/README.md has the differences). Never cite them as facts about a chain.
#pragma once

#include "sim/rng.h"

#include <vector>

namespace ibd::sim {

struct HintedBlock {
    uint32_t outputs = 0;          //!< spendable ones
    std::vector<uint32_t> unspent; //!< indices among them, ascending
    std::vector<uint32_t> shape;   //!< outputs of each transaction
};

class HintsModel {
public:
    static constexpr uint32_t kMeanOutputs = 3'362;

    /** Blocks 1..blocks of a chain that compresses the history of mainnet's first 850,900 blocks
     *  into this number: fewer blocks with the same mixture, and with this mean number of outputs.
     */
    HintsModel(uint64_t seed, uint32_t blocks, uint32_t mean_outputs = kMeanOutputs)
        : m_rng(seed), m_blocks(blocks), m_mean_outputs(mean_outputs)
    {
    }

    /** The next block; the same object may be passed again. */
    void Next(HintedBlock& out);

private:
    void AddTransactions(HintedBlock& out, uint32_t height, uint32_t target);
    void AddPayment(HintedBlock& out, uint32_t share);
    void AddBatch(HintedBlock& out, uint32_t share);
    void AddDust(HintedBlock& out);
    /** Adds an output that is unspent `parts` times in a million to the last transaction. */
    void Add(HintedBlock& out, uint32_t parts);

    Rng m_rng;
    uint32_t m_blocks;
    uint32_t m_mean_outputs;
    uint32_t m_next = 1;
};

} // namespace ibd::sim
