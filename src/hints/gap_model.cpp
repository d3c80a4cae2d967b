// See gap_model.h.
#include "hints/gap_model.h"

#include "hints/bit_io.h"
#include "hints/integer_log2.h"

namespace ibd {

namespace {

using Counts = std::array<uint64_t, GapBucket::kCount>;
using Table = GapModel::Table;

/** Frequencies with sum 1024, none 0 where the count is not; the largest takes the rounding error.
 */
Table Normalize(const Counts& counts)
{
    Table out{};
    uint64_t total = 0;
    for (const uint64_t n : counts) total += n;
    if (total == 0) {
        out[0] = GapModel::kScale;
        return out;
    }
    uint32_t sum = 0;
    for (size_t s = 0; s < counts.size(); ++s) {
        if (counts[s] == 0) continue;
        const uint64_t share = (counts[s] * GapModel::kScale + total / 2) / total;
        out[s] = static_cast<uint16_t>(std::max<uint64_t>(1, share));
        sum += out[s];
    }
    for (; sum > GapModel::kScale; --sum) --*std::max_element(out.begin(), out.end());
    *std::max_element(out.begin(), out.end()) += static_cast<uint16_t>(GapModel::kScale - sum);
    return out;
}

/** Bits of the Elias gamma code of value + 1: with n = bit_width(value + 1), the code is n - 1
 *  zeros, a one, then the bits below the highest. */
unsigned GammaBits(uint32_t value)
{
    return 2 * static_cast<unsigned>(std::bit_width(value + 1)) - 1;
}

void PutTable(const Table& table, BitWriter& out)
{
    uint32_t sum = 0;
    for (size_t s = 0; sum < GapModel::kScale; ++s) {
        const uint32_t value = table[s] + 1u;
        const auto width = static_cast<unsigned>(std::bit_width(value));
        out.Put(uint64_t{1} << (width - 1), width);
        out.Put(value, width - 1);
        sum += table[s];
    }
}

const char* TakeTable(BitReader& in, Table& table)
{
    uint32_t sum = 0;
    table.fill(0);
    for (size_t s = 0; sum < GapModel::kScale; ++s) {
        if (s == table.size()) return "a table's frequencies do not sum to 1024";
        const auto zeros = static_cast<unsigned>(std::countr_zero(in.Peek() | uint64_t{1} << 20));
        if (zeros > GapModel::kScaleBits) return "a frequency is above 1024";
        in.Skip(zeros + 1);
        const auto low = static_cast<uint32_t>(in.Peek() & ((uint64_t{1} << zeros) - 1));
        in.Skip(zeros);
        table[s] = static_cast<uint16_t>(((uint32_t{1} << zeros) | low) - 1);
        sum += table[s];
    }
    return sum == GapModel::kScale ? nullptr : "a table's frequencies do not sum to 1024";
}

uint64_t TableCost(const Table& table)
{
    uint64_t bits = 0;
    uint32_t sum = 0;
    for (size_t s = 0; sum < GapModel::kScale; ++s) {
        bits += GammaBits(table[s]);
        sum += table[s];
    }
    return bits * kLog2Unit;
}

/** Cost of coding these counts with the table, in units of 1/65,536 bit. */
uint64_t Cost(const Counts& counts, const Table& table)
{
    uint64_t cost = 0;
    for (size_t s = 0; s < counts.size(); ++s) {
        if (counts[s])
            cost += counts[s] * (GapModel::kScaleBits * kLog2Unit - IntegerLog2(table[s]));
    }
    return cost;
}

void AddTo(Counts& sum, const Counts& counts)
{
    for (size_t s = 0; s < sum.size(); ++s) sum[s] += counts[s];
}

} // namespace

GapModel GapModel::For(const GapCounts& counts)
{
    GapModel model;
    Counts all{};
    for (const Counts& c : counts) AddTo(all, c);
    const Table first = Normalize(all);
    Counts rest{};
    for (size_t c = 0; c < counts.size(); ++c) {
        const Table own = Normalize(counts[c]);
        model.m_own[c] = TableCost(own) + Cost(counts[c], own) < Cost(counts[c], first);
        if (model.m_own[c]) {
            model.m_tables[c] = own;
        } else {
            AddTo(rest, counts[c]);
        }
    }
    model.m_shared = Normalize(rest);
    return model;
}

Bytes GapModel::Encode() const
{
    Bytes out;
    {
        BitWriter bits(out);
        PutTable(m_shared, bits);
        for (size_t c = 0; c < m_own.size(); ++c) {
            bits.Put(m_own[c], 1);
            if (m_own[c]) PutTable(m_tables[c], bits);
        }
    }
    return out;
}

const char* GapModel::Decode(ByteSpan bytes, GapModel& model)
{
    BitReader bits(bytes);
    if (const char* wrong = TakeTable(bits, model.m_shared)) return wrong;
    for (size_t c = 0; c < model.m_own.size(); ++c) {
        model.m_own[c] = bits.Peek() & 1;
        bits.Skip(1);
        if (!model.m_own[c]) continue;
        if (const char* wrong = TakeTable(bits, model.m_tables[c])) return wrong;
    }
    return bits.CheckEnd();
}

} // namespace ibd
