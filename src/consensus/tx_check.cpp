#include "consensus/tx_check.h"

#include "consensus/limits.h"
#include "util/endian.h"

#include <algorithm>
#include <cstring>
#include <vector>

namespace ibd {
namespace {

constexpr size_t kOutPointSize = 36;
constexpr size_t kPairwiseInputs = 16; //!< up to here comparing all pairs beats sorting

bool HasDuplicateInputs(std::span<const InputView> inputs)
{
    const auto same = [](const uint8_t* a, const uint8_t* b) {
        // The first bytes of two ids differ but for one pair in 2^64.
        return ReadLE64(a) == ReadLE64(b) && std::memcmp(a, b, kOutPointSize) == 0;
    };
    if (inputs.size() <= kPairwiseInputs) {
        for (size_t i = 0; i < inputs.size(); ++i) {
            for (size_t j = i + 1; j < inputs.size(); ++j) {
                if (same(inputs[i].prevout_bytes, inputs[j].prevout_bytes)) return true;
            }
        }
        return false;
    }
    std::vector<const uint8_t*> sorted;
    sorted.reserve(inputs.size());
    for (const InputView& input : inputs) sorted.push_back(input.prevout_bytes);
    std::sort(sorted.begin(), sorted.end(), [](const uint8_t* a, const uint8_t* b) {
        const uint64_t x = ReadLE64(a), y = ReadLE64(b);
        return x != y ? x < y : std::memcmp(a, b, kOutPointSize) < 0;
    });
    return std::adjacent_find(sorted.begin(), sorted.end(), same) != sorted.end();
}

RuleResult CheckOutputValues(std::span<const OutputView> outputs)
{
    Amount sum = 0;
    for (const OutputView& output : outputs) {
        if (output.value < 0) return Invalid("bad-txns-vout-negative");
        if (output.value > kMaxMoney) return Invalid("bad-txns-vout-toolarge");
        sum += output.value;
        if (!MoneyRange(sum)) return Invalid("bad-txns-txouttotal-toolarge");
    }
    return {};
}

RuleResult CheckInputs(const TxView& tx)
{
    if (tx.IsCoinbase()) {
        const size_t size = tx.inputs[0].script_sig.size();
        if (size < kMinCoinbaseScript || size > kMaxCoinbaseScript) return Invalid("bad-cb-length");
        return {};
    }
    for (const InputView& input : tx.inputs) {
        if (input.Prevout().IsNull()) return Invalid("bad-txns-prevout-null");
    }
    return {};
}

} // namespace

RuleResult CheckTransaction(const TxView& tx)
{
    if (tx.inputs.empty()) return Invalid("bad-txns-vin-empty");
    if (tx.outputs.empty()) return Invalid("bad-txns-vout-empty");
    if (int64_t{tx.stripped_size} * kWitnessScaleFactor > kMaxBlockWeight) {
        return Invalid("bad-txns-oversize");
    }
    IBD_RETURN_IF_VIOLATED(CheckOutputValues(tx.outputs));
    if (HasDuplicateInputs(tx.inputs)) return Invalid("bad-txns-inputs-duplicate");
    return CheckInputs(tx);
}

} // namespace ibd
