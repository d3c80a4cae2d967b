// See hints_model.h.
#include "sim/hints_model.h"

#include <algorithm>
#include <array>

namespace ibd::sim {

namespace {

constexpr uint32_t kLastHeight = 850'900;

/** Statistics of mainnet at a height; they are interpolated between these lines. */
struct Age {
    uint32_t height;
    uint32_t outputs; //!< in a block
    uint32_t share;   //!< of a payment's outputs that are unspent, in millionths
    uint32_t dust;    //!< transactions that leave dust, in a thousand
};

constexpr std::array<Age, 14> kAges = {{
    {0, 1, 900'000, 0},
    {60'000, 2, 500'000, 0},
    {120'000, 60, 20'000, 0},
    {200'000, 450, 13'000, 6},
    {300'000, 1'100, 14'000, 8},
    {360'000, 2'600, 14'000, 16},
    {420'000, 4'700, 10'000, 8},
    {500'000, 4'600, 10'000, 5},
    {620'000, 5'200, 10'000, 5},
    {760'000, 5'200, 13'000, 6},
    {775'000, 6'500, 16'000, 36},
    {810'000, 9'500, 17'000, 48},
    {848'000, 8'500, 70'000, 36},
    {kLastHeight, 8'500, 650'000, 60},
}};

uint32_t Between(uint32_t height, const Age& a, const Age& b, uint32_t Age::*what)
{
    const double part = double(height - a.height) / (b.height - a.height);
    return static_cast<uint32_t>(a.*what + part * (double(b.*what) - a.*what));
}

Age At(uint32_t height)
{
    size_t i = 1;
    while (i + 1 < kAges.size() && kAges[i].height < height) ++i;
    const Age& a = kAges[i - 1];
    const Age& b = kAges[i];
    return {height, Between(height, a, b, &Age::outputs), Between(height, a, b, &Age::share),
            Between(height, a, b, &Age::dust)};
}

} // namespace

void HintsModel::Add(HintedBlock& out, uint32_t parts)
{
    if (m_rng.Chance(parts, 1'000'000)) out.unspent.push_back(out.outputs);
    ++out.outputs;
    ++out.shape.back();
}

void HintsModel::AddPayment(HintedBlock& out, uint32_t share)
{
    // Payments stay unspent longer than change.
    out.shape.push_back(0);
    const uint64_t kind = m_rng.Below(10);
    Add(out, kind == 0 ? share * 2 : share);
    if (kind > 0) Add(out, share);
    for (uint64_t more = kind == 9 ? 1 + m_rng.Below(3) : 0; more > 0; --more) Add(out, share);
}

void HintsModel::AddBatch(HintedBlock& out, uint32_t share)
{
    // A payer's customers behave in the same way: all of them spend, or some do, or hardly any.
    const uint64_t kind = m_rng.Below(100);
    const uint32_t here = kind < 78 ? share / 2 : kind < 97 ? 120'000 + share : 550'000;
    const uint64_t size = 4 + m_rng.Below(1 + m_rng.Below(120));
    out.shape.push_back(0);
    for (uint64_t i = 0; i < size; ++i) Add(out, std::min(here, 950'000u));
}

void HintsModel::AddDust(HintedBlock& out)
{
    const uint64_t kind = m_rng.Below(100);
    if (kind < 40) { // an inscription each
        for (uint64_t i = m_rng.Below(6); i > 0; --i) {
            out.shape.push_back(0);
            Add(out, 600'000);
        }
    } else if (kind < 97) { // consecutive transactions of the same kind: dust, then change
        for (uint64_t i = m_rng.Below(20); i > 0; --i) {
            out.shape.push_back(0);
            Add(out, 800'000);
            Add(out, 30'000);
        }
    } else { // worthless coins strewn out
        out.shape.push_back(0);
        for (uint64_t i = 10 + m_rng.Below(300); i > 0; --i) Add(out, 930'000);
    }
}

void HintsModel::AddTransactions(HintedBlock& out, uint32_t height, uint32_t target)
{
    const Age age = At(height);
    while (out.outputs < target) {
        const uint64_t kind = m_rng.Below(1'000);
        if (kind < age.dust) {
            AddDust(out);
        } else if (kind < age.dust + 40) {
            AddBatch(out, age.share);
        } else {
            AddPayment(out, age.share);
        }
    }
}

void HintsModel::Next(HintedBlock& out)
{
    out.outputs = 0;
    out.unspent.clear();
    out.shape.assign(1, 0);
    const auto height = static_cast<uint32_t>(uint64_t{m_next} * kLastHeight / m_blocks);
    ++m_next;
    const Age age = At(height);
    Add(out, height < 30'000 ? 950'000 : age.share / 2); // the coinbase
    const uint64_t outputs = uint64_t{age.outputs} * m_mean_outputs / kMeanOutputs;
    const uint64_t target = m_rng.Below(2 * std::max<uint64_t>(1, outputs) - 1);
    AddTransactions(out, height, static_cast<uint32_t>(target));
}

} // namespace ibd::sim
