// See swifthints_model.h.
#include "hints/swifthints_model.h"

#include "hints/integer_log2.h"
#include "util/check.h"
#include "util/endian.h"

#include <limits>

namespace ibd {

namespace {

/** Cost of an output with this share of 256, for shares from 1 to 255. */
constexpr std::array<uint64_t, kSwifthintsScale> kCosts = [] {
    std::array<uint64_t, kSwifthintsScale> costs{};
    for (uint32_t share = 1; share < kSwifthintsScale; ++share) {
        costs[share] = 8 * kLog2Unit - IntegerLog2(share);
    }
    return costs;
}();

/** Most excess of coding an output over its cost, in units of 1/kLog2Unit bit: a state of 2^16 or
 *  more may grow by up to 255 too much, and log2(1 + 255 / 65536) is 0.0056. */
constexpr uint64_t kMaxExcess = 368;

struct Coding {
    uint8_t probability = 0;
    uint64_t cost = 0;
    uint64_t coded = 0; //!< outputs
};

/** The cheapest probability; the lower one on a tie. */
Coding CodingOf(const SwifthintsCounts::OfContext& counts)
{
    if (counts.unspent == 0) return {};
    const uint64_t spent = counts.outputs - counts.unspent;
    const auto cost = [&](uint64_t t) {
        return counts.unspent * kCosts[t] + spent * kCosts[kSwifthintsScale - t];
    };
    const uint64_t below = uint64_t{counts.unspent} * kSwifthintsScale / counts.outputs;
    const uint64_t low = std::clamp<uint64_t>(below, 1, kSwifthintsScale - 1);
    const uint64_t high = std::min<uint64_t>(low + 1, kSwifthintsScale - 1);
    const uint64_t best = cost(high) < cost(low) ? high : low;
    return {static_cast<uint8_t>(best), cost(best), counts.outputs};
}

/** Nothing: it may take more than a group's limit. */
std::optional<uint64_t> CostOf(const SwifthintsHead& head, uint64_t cost, uint64_t coded)
{
    const uint64_t most = (cost + coded * kMaxExcess) / (8 * kLog2Unit) + 1;
    if (head.Fixed() + most > SwifthintsHead::kMaxBytes) return std::nullopt;
    return head.Fixed() * 8 * kLog2Unit + cost;
}

} // namespace

SwifthintsHead SwifthintsHead::From(const std::array<uint8_t, kSize>& in)
{
    const uint32_t count = ReadLE16(in.data() + 2);
    return {ReadLE16(in.data()) + 2u, (count & 0x7fff) + 1, count > 0x7fff};
}

void SwifthintsHead::Put(Bytes& out) const
{
    CHECK(bytes >= Fixed() && bytes <= kMaxBytes && blocks >= 1 && blocks <= kMaxBlocks);
    std::array<uint8_t, kSize> head;
    WriteLE16(head.data(), static_cast<uint16_t>(bytes - 2));
    WriteLE16(head.data() + 2, static_cast<uint16_t>((blocks - 1) | (compact ? 0x8000 : 0)));
    Append(out, head);
}

void SwifthintsCounts::Add(const SwifthintsCounts& other)
{
    for (size_t c = 0; c < contexts.size(); ++c) {
        contexts[c].outputs += other.contexts[c].outputs;
        contexts[c].unspent += other.contexts[c].unspent;
    }
}

SwifthintsCounts::OfContext SwifthintsCounts::Sum() const
{
    OfContext sum;
    for (const OfContext& c : contexts) {
        sum.outputs += c.outputs;
        sum.unspent += c.unspent;
    }
    return sum;
}

std::optional<SwifthintsPlan> SwifthintsPlan::For(const SwifthintsCounts& counts, uint32_t blocks)
{
    if (blocks > SwifthintsHead::kMaxBlocks) return std::nullopt;
    uint64_t cost = 0;
    uint64_t coded = 0;
    for (const auto& c : counts.contexts) {
        const Coding coding = CodingOf(c);
        cost += coding.cost;
        coded += coding.coded;
    }
    const auto full = CostOf({0, blocks, false}, cost, coded);
    const Coding one = CodingOf(counts.Sum());
    const auto compact = CostOf({0, blocks, true}, one.cost, one.coded);
    if (!full && !compact) return std::nullopt;
    if (compact && (!full || *compact < *full)) return SwifthintsPlan{true, *compact};
    return SwifthintsPlan{false, *full};
}

std::array<uint8_t, kSwifthintsContexts>
SwifthintsPlan::Probabilities(const SwifthintsCounts& counts) const
{
    std::array<uint8_t, kSwifthintsContexts> out;
    out.fill(CodingOf(counts.Sum()).probability);
    if (compact) return out;
    for (size_t c = 0; c < out.size(); ++c) out[c] = CodingOf(counts.contexts[c]).probability;
    return out;
}

// Dynamic programming: the least cost of the pieces up to each one. For any last group, the groups
// before it are the best division of the earlier pieces.
std::vector<size_t> GroupSwifthints(const std::vector<SwifthintsPiece>& pieces)
{
    std::vector<uint64_t> least(pieces.size() + 1, std::numeric_limits<uint64_t>::max());
    std::vector<size_t> last(pieces.size() + 1, 0); //!< start of the last group
    least[0] = 0;
    for (size_t end = 1; end <= pieces.size(); ++end) {
        SwifthintsPiece group;
        for (size_t begin = end; begin-- > 0;) {
            group.counts.Add(pieces[begin].counts);
            group.blocks += pieces[begin].blocks;
            const auto plan = SwifthintsPlan::For(group.counts, group.blocks);
            if (!plan) break; // larger groups do not fit either
            if (least[begin] + plan->cost >= least[end]) continue;
            least[end] = least[begin] + plan->cost;
            last[end] = begin;
        }
        CHECK(last[end] < end && least[end] != std::numeric_limits<uint64_t>::max());
    }
    std::vector<size_t> groups;
    for (size_t end = pieces.size(); end > 0; end = last[end]) groups.push_back(end - last[end]);
    std::reverse(groups.begin(), groups.end());
    return groups;
}

} // namespace ibd
