// See truth.h.
#include "sim/truth.h"

#include "util/check.h"

namespace ibd::sim {

namespace {

void SetBit(std::vector<uint64_t>& bits, uint64_t i) { bits[i / 64] |= uint64_t{1} << (i % 64); }

void ClearBit(std::vector<uint64_t>& bits, uint64_t i)
{
    bits[i / 64] &= ~(uint64_t{1} << (i % 64));
}

} // namespace

uint64_t Truth::AddOutput(bool spendable)
{
    CHECK(!m_starts.empty());
    const uint64_t number = m_outputs++;
    if (number % 64 == 0) {
        m_spendable.push_back(0);
        m_unspent.push_back(0);
    }
    if (spendable) {
        SetBit(m_spendable, number);
        SetBit(m_unspent, number);
        ++m_spendable_count;
        ++m_unspent_count;
    }
    return number;
}

void Truth::Spend(uint64_t output)
{
    CHECK(Get(m_unspent, output));
    ClearBit(m_unspent, output);
    --m_unspent_count;
}

void Truth::Overwrite(uint64_t output)
{
    if (!Get(m_spendable, output)) return;
    Spend(output);
    ClearBit(m_spendable, output);
    --m_spendable_count;
}

std::vector<uint8_t> Truth::UnspentOfBlock(int height, bool spendable_only) const
{
    const size_t h = static_cast<size_t>(height);
    const uint64_t end = h + 1 < m_starts.size() ? m_starts[h + 1] : m_outputs;
    std::vector<uint8_t> out;
    for (uint64_t i = m_starts[h]; i < end; ++i) {
        if (!spendable_only || Get(m_spendable, i)) out.push_back(Get(m_unspent, i));
    }
    return out;
}

std::string Truth::ToText() const
{
    std::string out;
    for (int height = 1; height <= Height(); ++height) {
        const std::vector<uint8_t> unspent = UnspentOfBlock(height, true);
        bool first = true;
        for (size_t i = 0; i < unspent.size(); ++i) {
            if (!unspent[i]) continue;
            if (!first) out += ' ';
            first = false;
            out += std::to_string(i);
        }
        out += '\n';
    }
    return out;
}

Bytes Truth::ToBitmap() const
{
    Bytes out;
    for (int height = 0; height <= Height(); ++height) {
        const std::vector<uint8_t> unspent = UnspentOfBlock(height, false);
        CHECK(unspent.size() <= 0xffff);
        out.push_back(static_cast<uint8_t>(unspent.size()));
        out.push_back(static_cast<uint8_t>(unspent.size() >> 8));
        const size_t start = out.size();
        out.resize(start + (unspent.size() + 7) / 8);
        for (size_t i = 0; i < unspent.size(); ++i) {
            out[start + i / 8] |= static_cast<uint8_t>(unspent[i] << i % 8);
        }
    }
    out.push_back(0);
    out.push_back(0);
    return out;
}

} // namespace ibd::sim
