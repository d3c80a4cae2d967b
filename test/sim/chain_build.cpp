// See chain.h. Here: the transactions of a block.
#include "sim/chain_draft.h"

#include "script/opcodes.h"
#include "script/script.h"
#include "sim/spender.h"
#include "util/check.h"

#include <algorithm>

namespace ibd::sim {

namespace {

// Room is left below the consensus limits for the coinbase and for one more large transaction.
constexpr int64_t kWeightGoal = 3'300'000;
constexpr int kSigopsGoal = 60'000;
constexpr size_t kMostInputs = 60;
constexpr size_t kMostOutputs = 2'000;
constexpr Amount kMostFee = 2'000;

/** One or two inputs mostly, now and then a sweep of many. */
size_t DrawInputs(Rng& rng, size_t due)
{
    const uint64_t kind = rng.Below(100);
    size_t count = 1;
    if (kind >= 60) count = 2;
    if (kind >= 80) count = 3 + rng.Below(4);
    if (kind >= 97) count = 7 + rng.Below(kMostInputs - 6);
    return std::min(count, due);
}

/** Chosen so that inputs and outputs of the block are used up at the same time. */
size_t DrawOutputs(Rng& rng, size_t inputs, size_t inputs_left, size_t outputs_left)
{
    const uint64_t mean_times_16 = 16 * outputs_left * inputs / inputs_left;
    size_t count = 1;
    if (mean_times_16 > 16) count += (rng.Below(2 * (mean_times_16 - 16) + 1) + 8) / 16;
    return std::clamp<size_t>(count, 1, std::min(outputs_left, kMostOutputs));
}

/** Chosen so that the coins that are due are spent after this many transactions. */
size_t DrawEvenInputs(Rng& rng, size_t due, size_t txs_left)
{
    const size_t count = due / txs_left + (rng.Chance(due % txs_left, txs_left) ? 1 : 0);
    return std::clamp<size_t>(count, 1, kMostInputs);
}

Bytes DataCarrier(Rng& rng)
{
    Bytes out{OP_RETURN};
    if (!rng.Chance(1, 20)) AppendPush(out, rng.RandomBytes(rng.Below(81)));
    return out;
}

} // namespace

bool Chain::HasRoom(const Draft& draft) const
{
    return !m_due.empty() && draft.weight < kWeightGoal && draft.sigops_cost < kSigopsGoal;
}

void Chain::BuildModelled(Draft& draft)
{
    HintedBlock model;
    m_model->Next(model);
    uint32_t index = model.shape[0]; // the coinbase's
    auto unspent = std::lower_bound(model.unspent.begin(), model.unspent.end(), index);
    std::vector<int> lifetimes;
    for (size_t tx = 1; tx < model.shape.size() && HasRoom(draft); ++tx) {
        lifetimes.clear();
        for (uint32_t i = 0; i < model.shape[tx]; ++i, ++index) {
            const bool stays = unspent != model.unspent.end() && *unspent == index;
            if (stays) ++unspent;
            lifetimes.push_back(stays ? kNeverSpent : DrawSpentLifetime());
        }
        const size_t inputs = DrawEvenInputs(m_rng, m_due.size(), model.shape.size() - tx);
        BuildTransaction(draft, inputs, lifetimes.size(), &lifetimes);
    }
}

void Chain::BuildTransactions(Draft& draft)
{
    if (m_model && m_height <= m_options.blocks) {
        BuildModelled(draft);
        return;
    }
    const int mean = m_options.outputs_per_block;
    size_t outputs_left =
        static_cast<size_t>(m_rng.Between(std::max(1, mean - mean / 4), mean + mean / 4));
    while (outputs_left > 0 && HasRoom(draft)) {
        const size_t inputs = DrawInputs(m_rng, m_due.size());
        const size_t outputs = DrawOutputs(m_rng, inputs, m_due.size(), outputs_left);
        BuildTransaction(draft, inputs, outputs);
        outputs_left -= outputs;
    }
}

/** Any coin; but first the coinbase that will be repeated, because it must be spent by then. */
size_t Chain::PickDue()
{
    const auto& pair = m_options.repeated_coinbase;
    if (pair && m_height >= pair->first && m_height < pair->repeat) {
        for (size_t i = 0; i < m_due.size(); ++i) {
            if (m_due[i].coinbase && m_due[i].height == pair->first) return i;
        }
    }
    return m_rng.Below(m_due.size());
}

std::vector<Chain::Coin> Chain::TakeCoins(size_t count)
{
    std::vector<Coin> out;
    for (size_t i = 0; i < count; ++i) {
        std::swap(m_due[PickDue()], m_due.back());
        out.push_back(m_due.back());
        m_due.pop_back();
    }
    return out;
}

std::vector<Chain::PlannedOutput> Chain::PlanOutputs(Draft& draft, size_t count, Amount total,
                                                     const std::vector<int>* lifetimes)
{
    std::vector<PlannedOutput> out(count);
    size_t spenders = 0;
    for (PlannedOutput& output : out) {
        output.lifetime = lifetimes ? (*lifetimes)[out.size() - count] : DrawLifetime();
        const Amount share = total / static_cast<Amount>(count);
        if (m_rng.Chance(3, 100)) {
            output.keeper = DataCarrier(m_rng);
            output.spendable = false;
            output.lifetime = kNeverSpent;
        } else if (m_rng.Chance(1, 50'000)) { // one byte too long to be spent
            output.keeper = Bytes(kMaxScriptSize + 1, OP_NOP);
            output.spendable = false;
            output.lifetime = kNeverSpent;
        } else if (output.lifetime == kNeverSpent) {
            // Small, so that value keeps moving; sometimes large.
            output.keeper = m_book->Keeper(m_rng, draft.sigops_cost);
            const Amount wish = m_rng.Chance(1, 200) ? share / 4 : 546 + m_rng.Between(0, 5000);
            output.value = std::min(wish, share);
        } else {
            output.script = m_book->Draw(m_rng);
            draft.sigops_cost += m_book->At(output.script).sigops_cost;
            ++spenders;
        }
        total -= output.value;
        CHECK(total >= 0);
        --count;
    }
    for (PlannedOutput& output : out) {
        if (output.lifetime == kNeverSpent) continue;
        const Amount share = total / static_cast<Amount>(spenders);
        output.value = spenders == 1 ? total : share / 2 + share / 16 * m_rng.Between(0, 16);
        output.value = std::min(output.value, total);
        total -= output.value;
        --spenders;
    }
    draft.fees += total; // no spendable output was made: the rest goes to the miner
    return out;
}

void Chain::DrawLocks(MutableTransaction& tx, const std::vector<Coin>& coins)
{
    tx.version = m_rng.Chance(1, 4) ? 1 : 2;
    const bool at_tip = m_rng.Chance(1, 5); // lock time of the block before, against fee sniping
    if (at_tip) tx.lock_time = static_cast<uint32_t>(m_height - 1);
    for (size_t i = 0; i < coins.size(); ++i) {
        uint32_t& sequence = tx.inputs[i].sequence;
        if (at_tip) sequence = 0xfffffffe;
        if (m_rng.Chance(1, 10)) sequence = 0xfffffffd;
        if (tx.version < 2 || !m_rng.Chance(1, 50)) continue;
        // BIP68: the number of blocks that have passed, or a time of zero.
        const uint32_t age = static_cast<uint32_t>(m_height - coins[i].height);
        sequence = m_rng.Chance(1, 4) ? 1u << 22 : std::min(age, 0xffffu);
    }
}

void Chain::BuildTransaction(Draft& draft, size_t inputs, size_t outputs,
                             const std::vector<int>* lifetimes)
{
    const std::vector<Coin> coins = TakeCoins(inputs);
    MutableTransaction tx;
    std::vector<CoinToUnlock> spent;
    Amount total = 0;
    for (const Coin& coin : coins) {
        tx.inputs.push_back({{coin.txid, coin.vout}, {}, 0xffffffff, {}});
        spent.push_back({coin.script, coin.value});
        total += coin.value;
        draft.sigops_cost += m_book->At(coin.script).sigops_cost;
    }
    DrawLocks(tx, coins);
    const Amount fee = std::min(total / 4, m_rng.Between(0, int(kMostFee)) + Amount{0});
    draft.fees += fee;
    const std::vector<PlannedOutput> plan = PlanOutputs(draft, outputs, total - fee, lifetimes);
    for (const PlannedOutput& output : plan) {
        const bool from_book = output.lifetime != kNeverSpent;
        tx.outputs.push_back(
            {output.value, from_book ? m_book->At(output.script).script_pubkey : output.keeper});
    }
    UnlockInputs(tx, spent, *m_book, m_rng);
    if (m_height == m_options.bad_script_height) tx.inputs[0].script_sig = {OP_RETURN};

    const Bytes raw = tx.Serialize();
    const Bytes stripped = tx.HasWitness() ? tx.Serialize(false) : raw;
    const Txid txid(Sha256d(stripped));
    draft.txids.push_back(txid);
    draft.wtxids.push_back(tx.HasWitness() ? Wtxid(Sha256d(raw)) : txid);
    draft.weight += static_cast<int64_t>(3 * stripped.size() + raw.size());
    Append(draft.body, raw);
    RecordSpends(coins);
    AddOutputs(txid, plan);
}

void Chain::AddOutputs(const Txid& txid, const std::vector<PlannedOutput>& outputs)
{
    for (size_t i = 0; i < outputs.size(); ++i) {
        const PlannedOutput& output = outputs[i];
        const uint64_t number = m_truth.AddOutput(output.spendable);
        const Coin coin{
            txid, static_cast<uint32_t>(i), output.value, number, m_height, output.script, false};
        Schedule(coin, output.lifetime);
    }
}

} // namespace ibd::sim
