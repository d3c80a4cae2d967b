// See tx_verify.h.
#include "consensus/tx_verify.h"

#include "util/check.h"

#include <algorithm>

#include <fmt/format.h>

namespace ibd {
namespace {

/** "1.50", "0.00000001": at least two decimals, no trailing zeros beyond them. */
std::string FormatMoney(Amount value)
{
    std::string text = fmt::format("{}.{:08}", value / kCoin, value % kCoin);
    while (text.back() == '0' && text[text.size() - 3] != '.') text.pop_back();
    return text;
}

} // namespace

bool IsFinalTx(const TxView& tx, int block_height, int64_t block_time)
{
    if (tx.lock_time == 0) return true;
    const int64_t reached = tx.lock_time < kLockTimeThreshold ? block_height : block_time;
    if (tx.lock_time < reached) return true;
    return std::all_of(tx.inputs.begin(), tx.inputs.end(),
                       [](const InputView& in) { return in.sequence == kSequenceFinal; });
}

SequenceLocks CalculateSequenceLocks(const TxView& tx, bool enforce,
                                     std::span<const int> prev_heights, const Ancestry& chain)
{
    CHECK(prev_heights.size() == tx.inputs.size());
    SequenceLocks locks;
    if (!enforce || tx.version < 2) return locks;
    for (size_t i = 0; i < tx.inputs.size(); ++i) {
        const uint32_t sequence = tx.inputs[i].sequence;
        if (sequence & kSequenceDisableFlag) continue;
        const int64_t amount = sequence & kSequenceMask;
        if (sequence & kSequenceTypeFlag) {
            // Counted from the time of the block before the coin's block.
            const int64_t base = chain.MedianTimePast(std::max(prev_heights[i] - 1, 0));
            locks.min_time = std::max(locks.min_time, base + (amount << kSequenceGranularity) - 1);
        } else {
            locks.min_height =
                std::max(locks.min_height, prev_heights[i] + static_cast<int>(amount) - 1);
        }
    }
    return locks;
}

bool EvaluateSequenceLocks(const SequenceLocks& locks, int block_height, int64_t prev_median_time)
{
    return locks.min_height < block_height && locks.min_time < prev_median_time;
}

RuleResult CheckTxInputs(const TxView& tx, std::span<const SpentCoin> coins, int spend_height,
                         Amount& fee)
{
    CHECK(coins.size() == tx.inputs.size());
    Amount value_in = 0;
    for (const SpentCoin& coin : coins) {
        const int depth = spend_height - coin.height;
        if (coin.is_coinbase && depth < kCoinbaseMaturity) {
            return Violation(RuleViolation::Kind::kPrematureSpend,
                             "bad-txns-premature-spend-of-coinbase",
                             fmt::format("tried to spend coinbase at depth {}", depth));
        }
        // The coin's value is checked first, so that the sum cannot overflow.
        if (!MoneyRange(coin.value)) return Invalid("bad-txns-inputvalues-outofrange");
        value_in += coin.value;
        if (!MoneyRange(value_in)) return Invalid("bad-txns-inputvalues-outofrange");
    }
    const Amount value_out = ValueOut(tx);
    if (value_in < value_out) {
        return Invalid("bad-txns-in-belowout",
                       fmt::format("value in ({}) < value out ({})", FormatMoney(value_in),
                                   FormatMoney(value_out)));
    }
    fee = value_in - value_out;
    if (!MoneyRange(fee)) return Invalid("bad-txns-fee-outofrange");
    return {};
}

RuleViolation MissingInputs(const TxView&)
{
    return Violation(RuleViolation::Kind::kMissingInputs, "bad-txns-inputs-missingorspent",
                     "CheckTxInputs: inputs missing/spent");
}

Amount ValueOut(const TxView& tx)
{
    Amount sum = 0;
    for (const OutputView& output : tx.outputs) {
        CHECK(MoneyRange(output.value));
        sum += output.value;
        CHECK(MoneyRange(sum));
    }
    return sum;
}

} // namespace ibd
