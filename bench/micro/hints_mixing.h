// HintsMixing: an estimate of how small a strong adaptive model could make hints, regardless of its
// speed, against which the formats are judged. Many contexts, each with counts that adapt, are
// mixed by a small network that learns on the way (context mixing, as in the PAQ compressors), and
// the result is corrected once more. The costs in bits are added up; no file is written.
#pragma once

#include "sim/hints_model.h"

#include <array>
#include <vector>

namespace ibd::bench {

class HintsMixing {
public:
    HintsMixing();

    /** The next block; the model carries over from block to block. */
    void Add(const sim::HintedBlock& block);
    /** For all blocks so far, with nothing for counts of outputs, checks or an index. */
    double Bytes() const { return m_bits / 8; }

private:
    static constexpr size_t kContexts = 9;

    /** Estimates that an output is unspent; one for each value of a context. */
    struct Counter {
        float fast = 0.06F;
        float slow = 0.06F;
        uint32_t seen = 0;
    };

    void SetContexts(uint32_t position);
    void Code(bool unspent, uint32_t position);
    float Mix();
    void Learn(bool unspent, float mixed);

    std::array<std::vector<Counter>, kContexts> m_tables;
    std::array<Counter*, kContexts> m_now{};
    std::array<float, 2 * kContexts> m_inputs{};
    std::vector<std::array<float, 2 * kContexts>> m_weights;
    size_t m_weights_now = 0;
    std::vector<float> m_correction; //!< by the state of the block and the mixer's prediction
    size_t m_correction_now = 0;

    uint64_t m_history = 0; //!< outputs of this block, the last one lowest
    uint32_t m_run = 0;     //!< spent outputs since the last unspent one
    uint32_t m_run_before = 0;
    uint32_t m_run_twice_before = 0;
    float m_density = 0.06F;       //!< of the last outputs, over some dozens
    float m_block_density = 0.06F; //!< of the last blocks
    double m_bits = 0;
};

} // namespace ibd::bench
