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
    // With the first bytes beside the pointer, sorting does not jump about in the block.
    using Keyed = std::pair<uint64_t, const uint8_t*>;
    std::vector<Keyed> sorted;
    sorted.reserve(inputs.size());
    for (const InputView& input : inputs) {
        sorted.emplace_back(ReadLE64(input.prevout_bytes), input.prevout_bytes);
    }
    std::sort(sorted.begin(), sorted.end(), [](const Keyed& a, const Keyed& b) {
        if (a.first != b.first) return a.first < b.first;
        return std::memcmp(a.second, b.second, kOutPointSize) < 0;
    });
    const auto equal = [&](const Keyed& a, const Keyed& b) {
        return a.first == b.first && same(a.second, b.second);
    };
    return std::adjacent_find(sorted.begin(), sorted.end(), equal) != sorted.end();
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
