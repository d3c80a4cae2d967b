// See snapshot_difference.h.
#include "swiftsync/snapshot_difference.h"

#include "primitives/outpoint_hasher.h"
#include "script/script.h"
#include "util/found.h"

#include <algorithm>
#include <unordered_map>

namespace ibd {

namespace {

/** Ranges of outpoints, by the first bits of the txid. */
constexpr unsigned kRangeBits = 12;
/** Most outpoints of a range that are held because they have not cancelled out yet. A range of
 *  mainnet has fifty thousand coins. */
constexpr size_t kMostOpen = 1 << 20;

size_t RangeOf(const OutPoint& outpoint)
{
    return ReadBE32(outpoint.txid.data()) >> (32 - kRangeBits);
}

/** Called with +1 for each output, and -1 for each input and each coin of the snapshot. */
using VisitOutpoint = std::function<void(const OutPoint&, int sign)>;

void VisitBlock(const BlockView& block, uint32_t height, const FoldRules& rules,
                const VisitOutpoint& visit)
{
    bool coinbase = true;
    for (const TxView& tx : block.Txs()) {
        const bool counts = !(coinbase && rules.IsOverwritten(height));
        for (uint32_t i = 0; counts && i < tx.outputs.size(); ++i) {
            if (!IsUnspendable(tx.outputs[i].script_pubkey)) visit({tx.txid, i}, 1);
        }
        for (size_t i = 0; !coinbase && i < tx.inputs.size(); ++i) {
            visit(tx.inputs[i].Prevout(), -1);
        }
        coinbase = false;
    }
}

/** False: stopped. */
Result<bool> VisitAll(const DifferenceTask& task, const VisitOutpoint& visit)
{
    BlockView block;
    for (int height = 1; height <= task.base.height; ++height) {
        if (task.stop) return false;
        IBD_ASSIGN_OR_RETURN(const Bytes raw, task.read(*task.base.Ancestor(height)));
        IBD_RETURN_IF_ERROR(block.Parse(raw));
        VisitBlock(block, static_cast<uint32_t>(height), task.rules, visit);
    }
    IBD_RETURN_IF_ERROR(task.coins.Visit([&](const OutPoint& outpoint) { visit(outpoint, -1); }));
    return true;
}

/** The first range whose sum is not zero; nothing: stopped, or all are zero. */
Found<size_t> FindRange(const DifferenceTask& task)
{
    const OutPointHasher hash({task.secret, ~task.secret});
    std::vector<uint64_t> sums(size_t{1} << kRangeBits);
    IBD_ASSIGN_OR_RETURN(const bool all, VisitAll(task, [&](const OutPoint& outpoint, int sign) {
                             const uint64_t summand = hash(outpoint);
                             sums[RangeOf(outpoint)] += sign > 0 ? summand : ~summand + 1;
                         }));
    const auto first = std::ranges::find_if(sums, [](uint64_t sum) { return sum != 0; });
    if (!all || first == sums.end()) return std::nullopt;
    return static_cast<size_t>(first - sums.begin());
}

using OpenOutpoints = std::unordered_map<OutPoint, int, OutPointHasher>;

/** The outpoints of a range that do not cancel out; nothing: stopped, or there are too many. */
Found<OpenOutpoints> ListRange(const DifferenceTask& task, size_t range)
{
    OpenOutpoints found(0, OutPointHasher({task.secret, ~task.secret}));
    bool fits = true;
    IBD_ASSIGN_OR_RETURN(const bool all, VisitAll(task, [&](const OutPoint& outpoint, int sign) {
                             if (RangeOf(outpoint) != range || !fits) return;
                             const auto [at, added] = found.try_emplace(outpoint, 0);
                             at->second += sign;
                             if (at->second == 0) found.erase(at);
                             fits = found.size() <= kMostOpen;
                         }));
    if (!all || !fits || found.empty()) return std::nullopt;
    return std::optional(std::move(found));
}

std::string Sentence(const OutPoint& outpoint, int left, bool in_snapshot)
{
    const std::string name = fmt::format("output {}:{}", outpoint.txid.ToHex(), outpoint.vout);
    if (left > 0) return name + " is unspent at its block, but the snapshot lacks it";
    if (in_snapshot) return name + " is spent at its block, but the snapshot has it";
    return name + " is spent more often than it was made, so that a block is invalid";
}

} // namespace

Found<std::string> FindSnapshotDifference(const DifferenceTask& task)
{
    IBD_ASSIGN_OR_RETURN(const auto range, FindRange(task));
    if (!range) return std::nullopt;
    IBD_ASSIGN_OR_RETURN(const auto open, ListRange(task, *range));
    if (!open) return std::nullopt;
    const auto& [outpoint, left] =
        *std::ranges::min_element(*open, [](const auto& a, const auto& b) {
            return std::ranges::lexicographical_compare(CoinKey(a.first).Span(),
                                                        CoinKey(b.first).Span());
        });
    bool in_snapshot = false;
    const Result<> looked = task.coins.Visit(
        [&, first = &outpoint](const OutPoint& coin) { in_snapshot |= coin == *first; });
    if (!looked) return looked.GetError();
    return std::optional(Sentence(outpoint, left, in_snapshot));
}

} // namespace ibd
