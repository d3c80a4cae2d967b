// See terminal.h.
#include "swiftsync/terminal.h"

#include "consensus/script_flags.h"
#include "consensus/subsidy.h"
#include "util/hex.h"

#include <algorithm>

namespace ibd {

Result<> CheckNetwork(const HintsInfo& hints, const ChainParams& params)
{
    if (!hints.network_magic || *hints.network_magic == params.magic) return {};
    return BadData("hints file {} is for another network: its magic is {}, {} has {}",
                   hints.path.string(), ToHex(*hints.network_magic), params.name,
                   ToHex(params.magic));
}

Result<const HeaderNode*> CheckTerminalBlock(const HintsInfo& hints, const HeaderTree& headers,
                                             const ChainParams& params)
{
    const std::string file = hints.path.string();
    IBD_RETURN_IF_ERROR(CheckNetwork(hints, params));
    const HeaderNode* best = headers.BestHeader();
    if (hints.terminal_height > static_cast<uint32_t>(best->height)) {
        return BadData("hints file {} ends at height {}, above the best header at {}: give a "
                       "peer, or restart with -reindex if a block file was damaged when it was "
                       "indexed and is sound now",
                       file, hints.terminal_height, best->height);
    }
    const HeaderNode* node = best->Ancestor(static_cast<int>(hints.terminal_height));
    if (hints.terminal_hash && node->hash != *hints.terminal_hash) {
        return BadData("hints file {} ends at block {} of height {}, but the best header chain has "
                       "{} there",
                       file, hints.terminal_hash->ToHex(), node->height, node->hash.ToHex());
    }
    return node;
}

UniqueCoinbases MakeUniqueCoinbases(const ConsensusParams& params, int32_t terminal_height,
                                    const std::optional<BlockHash>& hash_at_bip34)
{
    if (params.bip34_height <= 1) return {};
    const auto all = static_cast<uint32_t>(terminal_height) + 1;
    const bool known =
        Bip34ImpliesBip30(terminal_height, hash_at_bip34.value_or(BlockHash()), params);
    return {known ? std::min(all, static_cast<uint32_t>(params.bip34_height)) : all};
}

UniqueCoinbases UniqueCoinbasesOf(const HeaderNode& terminal, const ConsensusParams& params)
{
    const HeaderNode* at_bip34 = terminal.Ancestor(params.bip34_height);
    return MakeUniqueCoinbases(params, terminal.height,
                               at_bip34 ? std::optional(at_bip34->hash) : std::nullopt);
}

FoldRules FoldRulesOf(const HeaderNode& terminal, HintsCounting counting,
                      const ConsensusParams& params)
{
    return MakeFoldRules(counting, params, terminal.height,
                         [&](int height) { return terminal.Ancestor(height)->hash; });
}

Uint256 FoldRulesIdOf(const HeaderNode& terminal, HintsCounting counting,
                      const ConsensusParams& params)
{
    return FoldRulesId(FoldRulesOf(terminal, counting, params),
                       UniqueCoinbasesOf(terminal, params).below, params);
}

std::optional<std::string> RefuteTotals(const FoldTotals& totals, const HintsInfo& hints,
                                        Amount supply)
{
    if (hints.outputs && totals.outputs > *hints.outputs) {
        return fmt::format("the hints file counts {} outputs, but its blocks have {} or more",
                           *hints.outputs, totals.outputs);
    }
    if (totals.hinted > hints.unspent || totals.coins > hints.unspent) {
        return fmt::format("the hints file counts {} unspent outputs, but its blocks have {} or "
                           "more",
                           hints.unspent, std::max(totals.hinted, totals.coins));
    }
    if (totals.value > static_cast<uint64_t>(supply)) {
        return fmt::format("the coins are worth {} satoshis, more than the {} ever mined",
                           totals.value, supply);
    }
    return std::nullopt;
}

std::optional<std::string> JudgeTotals(const Checkpoint& state, const Aggregate& sum,
                                       const HintsInfo& hints, const ConsensusParams& params,
                                       const char* claims)
{
    const FoldTotals& totals = state.totals;
    CHECK(state.folded.Count() == state.terminal_height);
    if (hints.outputs && totals.outputs != *hints.outputs) {
        return fmt::format("the hints file counts {} outputs, but its blocks sum to {}",
                           *hints.outputs, totals.outputs);
    }
    if (totals.hinted != hints.unspent) {
        return fmt::format("the hints file counts {} unspent outputs, but its blocks sum to {}",
                           hints.unspent, totals.hinted);
    }
    uint64_t records = 0;
    for (const RunInfo& run : state.runs) records += run.records;
    if (records != totals.coins) {
        return fmt::format("{} coins were found, but the runs hold {}", totals.coins, records);
    }
    const Amount supply = MaxSupply(static_cast<int>(state.terminal_height), params);
    if (auto wrong = RefuteTotals(totals, hints, supply)) return wrong;
    if (!sum.IsZero()) {
        return fmt::format(
            "the aggregate ({}) of created and spent {} is not zero: the hints{} are wrong",
            AggregateKindName(sum.Kind()), state.full_validation ? "coins" : "outputs",
            state.full_validation ? std::string(" or the ") + claims : "");
    }
    return std::nullopt;
}

std::optional<std::string> JudgeCoinbases(std::vector<CoinbaseId> ids)
{
    std::sort(ids.begin(), ids.end(), [](const CoinbaseId& a, const CoinbaseId& b) {
        return a.txid != b.txid ? a.txid < b.txid : a.height < b.height;
    });
    const auto repeated =
        std::adjacent_find(ids.begin(), ids.end(), [](const CoinbaseId& a, const CoinbaseId& b) {
            return a.txid == b.txid;
        });
    if (repeated == ids.end()) return std::nullopt;
    return fmt::format("the coinbases of blocks {} and {} have the same id {}", repeated->height,
                       repeated[1].height, repeated->txid.ToHex());
}

} // namespace ibd
