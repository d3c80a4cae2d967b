// See block_stats.h.
#include "rpc/block_stats.h"
#include "consensus/limits.h"
#include "consensus/script_flags.h"
#include "consensus/subsidy.h"
#include "jsonrpc/json.h"

#include <algorithm>
#include <set>

namespace ibd {

namespace {

constexpr int64_t kWitnessScale = 4;
constexpr int64_t kMaxBlockBytes = 4'000'000;
/** Size of a coin besides its output, as Core counts it. */
constexpr int64_t kCoinOverhead = 40;
constexpr size_t kPercentiles = 5;

int64_t OutputSize(size_t script_size)
{
    return static_cast<int64_t>(8 + CompactSizeLength(script_size) + script_size) + kCoinOverhead;
}

int64_t TruncatedMedian(std::vector<int64_t> values)
{
    if (values.empty()) return 0;
    std::sort(values.begin(), values.end());
    const size_t middle = values.size() / 2;
    if (values.size() % 2 == 1) return values[middle];
    return (values[middle - 1] + values[middle]) / 2;
}

struct RateAndWeight {
    int64_t rate;
    int64_t weight;
    auto operator<=>(const RateAndWeight&) const = default;
};

/** The rates at 10, 25, 50, 75 and 90 percent of the weight; `rates` sorted by rate. */
std::array<int64_t, kPercentiles> Percentiles(std::vector<RateAndWeight> rates, int64_t total)
{
    std::array<int64_t, kPercentiles> out{};
    if (rates.empty()) return out;
    std::sort(rates.begin(), rates.end());
    const double weight = static_cast<double>(total);
    const double limits[kPercentiles] = {weight / 10, weight / 4, weight / 2, weight * 3 / 4,
                                         weight * 9 / 10};
    size_t next = 0;
    int64_t sum = 0;
    for (const RateAndWeight& entry : rates) {
        sum += entry.weight;
        while (next < kPercentiles && static_cast<double>(sum) >= limits[next]) {
            out[next++] = entry.rate;
        }
    }
    while (next < kPercentiles) out[next++] = rates.back().rate;
    return out;
}

struct Figures {
    int64_t max_fee = 0, min_fee = kMaxMoney, total_fee = 0;
    int64_t max_rate = 0, min_rate = kMaxMoney;
    int64_t max_size = 0, min_size = kMaxBlockBytes, total_size = 0, total_weight = 0;
    int64_t inputs = 0, outputs = 0, coins = 0, total_out = 0;
    int64_t size_increase = 0, size_increase_actual = 0;
    int64_t segwit_txs = 0, segwit_size = 0, segwit_weight = 0;
    std::vector<int64_t> fees, sizes;
    std::vector<RateAndWeight> rates;

    /** Returns the sum of the outputs. `makes_coins`: they enter the UTXO set. */
    Amount AddOutputs(const TxView& tx, bool makes_coins);
    void AddSpending(const TxView& tx, const TxUndo& undo, Amount tx_out);
};

Amount Figures::AddOutputs(const TxView& tx, bool makes_coins)
{
    Amount sum = 0;
    outputs += static_cast<int64_t>(tx.outputs.size());
    for (const OutputView& output : tx.outputs) {
        sum += output.value;
        const int64_t size = OutputSize(output.script_pubkey.size());
        size_increase += size;
        if (!makes_coins || IsUnspendable(output.script_pubkey)) continue;
        ++coins;
        size_increase_actual += size;
    }
    return sum;
}

void Figures::AddSpending(const TxView& tx, const TxUndo& undo, Amount tx_out)
{
    inputs += static_cast<int64_t>(tx.inputs.size());
    total_out += tx_out;
    const auto size = static_cast<int64_t>(tx.raw.size());
    const int64_t weight = tx.Weight();
    sizes.push_back(size);
    max_size = std::max(max_size, size);
    min_size = std::min(min_size, size);
    total_size += size;
    total_weight += weight;
    if (tx.has_witness) {
        ++segwit_txs;
        segwit_size += size;
        segwit_weight += weight;
    }
    Amount tx_in = 0;
    for (const Coin& coin : undo.spent) {
        tx_in += coin.value;
        const int64_t coin_size = OutputSize(coin.script.size());
        size_increase -= coin_size;
        size_increase_actual -= coin_size;
    }
    const Amount fee = tx_in - tx_out;
    fees.push_back(fee);
    max_fee = std::max(max_fee, fee);
    min_fee = std::min(min_fee, fee);
    total_fee += fee;
    const int64_t rate = weight != 0 ? fee * kWitnessScale / weight : 0;
    rates.push_back({rate, weight});
    max_rate = std::max(max_rate, rate);
    min_rate = std::min(min_rate, rate);
}

UniValue ToJson(const Figures& f, const BlockData& block, const HeaderNode& node,
                const ChainParams& params)
{
    const auto txs = static_cast<int64_t>(block.view.Txs().size());
    UniValue percentiles(UniValue::VARR);
    for (const int64_t rate : Percentiles(f.rates, f.total_weight))
        percentiles.push_back(Num(rate));
    UniValue out(UniValue::VOBJ);
    const auto add = [&](const char* name, int64_t value) { out.pushKV(name, Num(value)); };
    add("avgfee", txs > 1 ? f.total_fee / (txs - 1) : 0);
    add("avgfeerate", f.total_weight != 0 ? f.total_fee * kWitnessScale / f.total_weight : 0);
    add("avgtxsize", txs > 1 ? f.total_size / (txs - 1) : 0);
    out.pushKV("blockhash", node.hash.ToHex());
    out.pushKV("feerate_percentiles", percentiles);
    add("height", node.height);
    add("ins", f.inputs);
    add("maxfee", f.max_fee);
    add("maxfeerate", f.max_rate);
    add("maxtxsize", f.max_size);
    add("medianfee", TruncatedMedian(f.fees));
    add("mediantime", node.MedianTimePast());
    add("mediantxsize", TruncatedMedian(f.sizes));
    add("minfee", f.min_fee == kMaxMoney ? 0 : f.min_fee);
    add("minfeerate", f.min_rate == kMaxMoney ? 0 : f.min_rate);
    add("mintxsize", f.min_size == kMaxBlockBytes ? 0 : f.min_size);
    add("outs", f.outputs);
    add("subsidy", BlockSubsidy(node.height, params.consensus));
    add("swtotal_size", f.segwit_size);
    add("swtotal_weight", f.segwit_weight);
    add("swtxs", f.segwit_txs);
    add("time", node.time);
    add("total_out", f.total_out);
    add("total_size", f.total_size);
    add("total_weight", f.total_weight);
    add("totalfee", f.total_fee);
    add("txs", txs);
    add("utxo_increase", f.outputs - f.inputs);
    add("utxo_size_inc", f.size_increase);
    add("utxo_increase_actual", f.coins - f.inputs);
    add("utxo_size_inc_actual", f.size_increase_actual);
    return out;
}

} // namespace

UniValue ComputeBlockStats(const BlockData& block, const HeaderNode& node,
                           const ChainParams& params)
{
    Figures figures;
    const auto txs = block.view.Txs();
    for (size_t i = 0; i < txs.size(); ++i) {
        // The genesis output and a repeated coinbase add no coin to the set.
        const bool repeat = i == 0 && IsBip30Repeat(node.height, node.hash, params.consensus);
        const bool makes_coins = node.height != 0 && !repeat;
        const Amount sum = figures.AddOutputs(txs[i], makes_coins);
        if (i > 0) figures.AddSpending(txs[i], block.undo->txs[i - 1], sum);
    }
    return ToJson(figures, block, node, params);
}

UniValue SelectBlockStats(const UniValue& all, const UniValue& names)
{
    if (names.empty()) return all;
    std::set<std::string> sorted;
    for (const UniValue& name : names.getValues()) sorted.insert(ParseString(name));
    UniValue out(UniValue::VOBJ);
    for (const std::string& name : sorted) {
        if (!all.exists(name)) {
            ThrowRpc(RpcCode::kInvalidParameter, "Invalid selected statistic '{}'", name);
        }
        out.pushKV(name, all[name]);
    }
    return out;
}

} // namespace ibd
