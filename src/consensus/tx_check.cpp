// See tx_check.h.
#include "consensus/tx_check.h"

#include "consensus/limits.h"
#include "util/endian.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <vector>

namespace ibd {
namespace {

constexpr size_t kOutPointSize = 36;

bool HasDuplicateInputs(std::span<const InputView> inputs)
{
    if (inputs.size() == 1) return false;
    std::vector<const uint8_t*> sorted;
    sorted.reserve(inputs.size());
    for (const InputView& input : inputs) sorted.push_back(input.prevout_bytes);
    const auto compare = [](const uint8_t* a, const uint8_t* b) {
        return std::memcmp(a, b, kOutPointSize);
    };
    std::sort(sorted.begin(), sorted.end(),
              [&](const uint8_t* a, const uint8_t* b) { return compare(a, b) < 0; });
    const auto equal = [&](const uint8_t* a, const uint8_t* b) { return compare(a, b) == 0; };
    return std::adjacent_find(sorted.begin(), sorted.end(), equal) != sorted.end();
}

/** Remembers half a key of each outpoint; reports one as new only if it is. */
class OutpointFilter {
public:
    explicit OutpointFilter(size_t outpoints)
        : m_tags(std::bit_ceil(2 * outpoints)), m_mask(m_tags.size() - 1)
    {
    }

    /** False: it was added before, or collides with another one. Collisions occur a few times in a
     *  million blocks, or if ids are made for that purpose. */
    bool AddNew(const uint8_t* prevout)
    {
        constexpr uint64_t kSpread = 0x9e3779b97f4a7c15; // 2^64 / golden ratio, odd
        constexpr size_t kMostProbes = 64;
        const uint64_t key = ReadLE64(prevout) + ReadLE32(prevout + 32) * kSpread;
        const uint32_t tag = static_cast<uint32_t>(key >> 32) | 1; // 0: free
        for (size_t probe = 0; probe < kMostProbes; ++probe) {
            uint32_t& slot = m_tags[(key + probe) & m_mask];
            if (slot == 0) {
                slot = tag;
                return true;
            }
            if (slot == tag) return false;
        }
        return false;
    }

private:
    std::vector<uint32_t> m_tags;
    const size_t m_mask;
};

bool IsTooLarge(const TxView& tx)
{
    return int64_t{tx.stripped_size} * kWitnessScaleFactor > kMaxBlockWeight;
}

bool IsCoinbaseScriptSize(size_t size)
{
    return size >= kMinCoinbaseScript && size <= kMaxCoinbaseScript;
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
        if (!IsCoinbaseScriptSize(tx.inputs[0].script_sig.size())) return Invalid("bad-cb-length");
        return {};
    }
    for (const InputView& input : tx.inputs) {
        if (input.SpendsNothing()) return Invalid("bad-txns-prevout-null");
    }
    return {};
}

} // namespace

bool TransactionsAreSound(const BlockView& block)
{
    const auto txs = block.Txs();
    if (txs.empty() || !txs[0].IsCoinbase()) return false;
    if (!IsCoinbaseScriptSize(txs[0].inputs[0].script_sig.size())) return false;
    // One loop for the block: short loops for each transaction would cost branch mispredictions.
    if (CheckOutputValues(block.Outputs())) return false; // stricter: sums the block
    OutpointFilter seen(block.Inputs().size());
    for (const InputView& input : block.Inputs().subspan(1)) {
        if (input.HasNullIndex() || !seen.AddNew(input.prevout_bytes)) return false;
    }
    return std::none_of(txs.begin(), txs.end(), [](const TxView& tx) {
        return tx.inputs.empty() || tx.outputs.empty() || IsTooLarge(tx);
    });
}

RuleResult CheckTransaction(const TxView& tx)
{
    if (tx.inputs.empty()) return Invalid("bad-txns-vin-empty");
    if (tx.outputs.empty()) return Invalid("bad-txns-vout-empty");
    if (IsTooLarge(tx)) return Invalid("bad-txns-oversize");
    IBD_RETURN_IF_VIOLATED(CheckOutputValues(tx.outputs));
    if (HasDuplicateInputs(tx.inputs)) return Invalid("bad-txns-inputs-duplicate");
    return CheckInputs(tx);
}

} // namespace ibd
