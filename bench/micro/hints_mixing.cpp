// See hints_mixing.h.
#include "hints_mixing.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace ibd::bench {

namespace {

constexpr size_t kTableSize = size_t{1} << 22;
constexpr size_t kSteps = 33; //!< levels of the mixer's prediction, in the correction
constexpr float kLimit = 12;  //!< of a stretched probability
constexpr float kRate = 0.002F;

float Stretch(float p) { return std::log(p / (1 - p)); }
float Squash(float x) { return 1 / (1 + std::exp(-std::clamp(x, -kLimit, kLimit))); }
float Bounded(float p) { return std::clamp(p, 1.0F / 65536, 1 - 1.0F / 65536); }

/** 0 to 15: small numbers each alone, larger ones by powers of two. */
uint32_t Class(uint32_t n)
{
    return n < 6 ? n : std::min(15U, 3U + static_cast<uint32_t>(std::bit_width(n)));
}

/** 0 to 15 for densities, finer where they are small. */
uint32_t Level(float density)
{
    return std::min(15U, static_cast<uint32_t>(std::sqrt(density) * 16));
}

size_t Slot(uint64_t context)
{
    return (context * 0x9e3779b97f4a7c15U) >> (64 - std::bit_width(kTableSize - 1));
}

} // namespace

HintsMixing::HintsMixing() : m_weights(16 * 16), m_correction(16 * 16 * kSteps)
{
    for (auto& table : m_tables) table.resize(kTableSize);
    for (auto& set : m_weights) set.fill(0.7F / kContexts);
    for (size_t i = 0; i < m_correction.size(); ++i) {
        m_correction[i] = Squash(float(i % kSteps) * (2 * kLimit / (kSteps - 1)) - kLimit);
    }
}

void HintsMixing::Add(const sim::HintedBlock& block)
{
    m_history = m_run = m_run_before = m_run_twice_before = 0;
    m_density = m_block_density;
    auto next = block.unspent.begin();
    for (uint32_t i = 0; i < block.outputs; ++i) {
        const bool unspent = next != block.unspent.end() && *next == i;
        next += unspent;
        Code(unspent, i);
    }
    if (block.outputs == 0) return;
    const float here = float(block.unspent.size()) / float(block.outputs);
    m_block_density += (here - m_block_density) / 16;
}

void HintsMixing::SetContexts(uint32_t position)
{
    const auto last = [&](unsigned bits) { return m_history & ((uint64_t{1} << bits) - 1); };
    const uint64_t runs = Class(m_run) << 8 | Class(m_run_before) << 4 | Class(m_run_twice_before);
    const uint64_t long_ago = Level(m_block_density);
    const uint64_t lately = Level(m_density);
    const std::array<uint64_t, kContexts> contexts = {
        last(12),
        last(20),
        last(32),
        runs,
        runs << 8 | lately << 4 | long_ago,
        last(6) << 8 | lately << 4 | long_ago,
        uint64_t{std::min(m_run, 255U)} << 8 | std::min(m_run_before, 255U),
        uint64_t{Class(position)} << 12 | lately << 8 | last(8),
        last(16) << 4 | long_ago,
    };
    for (size_t i = 0; i < kContexts; ++i) m_now[i] = &m_tables[i][Slot(contexts[i] + 1)];
    m_weights_now = Class(m_run) << 4 | lately;
    m_correction_now = (Class(m_run_before) << 4 | lately) * kSteps;
}

float HintsMixing::Mix()
{
    float sum = 0;
    const auto& weights = m_weights[m_weights_now];
    for (size_t i = 0; i < kContexts; ++i) {
        m_inputs[2 * i] = Stretch(m_now[i]->fast);
        m_inputs[2 * i + 1] = Stretch(m_now[i]->slow);
        sum += weights[2 * i] * m_inputs[2 * i] + weights[2 * i + 1] * m_inputs[2 * i + 1];
    }
    return std::clamp(sum, -kLimit, kLimit);
}

void HintsMixing::Learn(bool unspent, float mixed)
{
    const float target = unspent ? 1 : 0;
    const float error = (target - mixed) * kRate;
    for (size_t i = 0; i < 2 * kContexts; ++i) m_weights[m_weights_now][i] += error * m_inputs[i];
    for (Counter* counter : m_now) {
        ++counter->seen;
        const float rate = 1 / (float(counter->seen) + 1.5F);
        counter->fast = Bounded(counter->fast + (target - counter->fast) * std::max(rate, 0.02F));
        counter->slow = Bounded(counter->slow + (target - counter->slow) * std::max(rate, 0.0005F));
    }
}

void HintsMixing::Code(bool unspent, uint32_t position)
{
    SetContexts(position);
    const float stretched = Mix();
    const float mixed = Squash(stretched);
    const float place = (stretched + kLimit) * ((kSteps - 1) / (2 * kLimit));
    const size_t below = std::min(static_cast<size_t>(place), kSteps - 2);
    const float share = place - float(below);
    float* const steps = &m_correction[m_correction_now + below];
    const float corrected = steps[0] * (1 - share) + steps[1] * share;
    const float p = Bounded((mixed + 3 * corrected) / 4);
    m_bits -= std::log2(unspent ? p : 1 - p);

    Learn(unspent, mixed);
    steps[share > 0.5F] += ((unspent ? 1.0F : 0.0F) - steps[share > 0.5F]) * 0.002F;
    m_history = m_history << 1 | unspent;
    m_density += ((unspent ? 1.0F : 0.0F) - m_density) / 32;
    if (!unspent) {
        ++m_run;
        return;
    }
    m_run_twice_before = m_run_before;
    m_run_before = m_run;
    m_run = 0;
}

} // namespace ibd::bench
