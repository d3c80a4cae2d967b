// See chain.h. Here: the walk from block to block, coins and their lifetimes. chain_build.cpp has
// the transactions.
#include "sim/chain_draft.h"

#include "consensus/merkle.h"
#include "consensus/subsidy.h"
#include "script/opcodes.h"
#include "script/script.h"
#include "util/check.h"

#include <algorithm>

namespace ibd::sim {

namespace {

constexpr size_t kMedianSpan = 11; //!< blocks whose median time a block must exceed
constexpr int kCoinbaseMaturity = 100;

/** Lifetimes of coins in blocks, with their shares in thousandths of all coins. */
struct Lifetimes {
    int longest; //!< of the spent coins
    int never;   //!< share never spent

    /** Coins not spent yet at the tip count as unspent too. In short chains they are many, so
     *  fewer are made to stay: about 8 % are unspent in the end, as on mainnet. */
    explicit Lifetimes(int blocks)
    {
        const int active = std::max(1, blocks - kCoinbaseMaturity);
        longest = std::max(150, active / 4);
        const int mean_of_old = longest < 300 ? (100 + longest) / 2 : (100 + longest) / 3;
        const int not_spent_yet = (360 * 40 + 170 * mean_of_old) / active;
        never = std::clamp(80 - not_spent_yet, 15, 75);
    }
};

} // namespace

Chain::Chain(const ChainParams& params, const ChainOptions& options)
    : m_params(&params), m_options(options),
      m_book(std::make_shared<ScriptBook>(options.seed, options.signed_spends)),
      m_rng(options.seed), m_tip(params.genesis.hash)
{
    CHECK(options.outputs_per_block >= 1 && options.outputs_per_block <= kMostOutputsPerBlock);
    if (const auto& pair = options.repeated_coinbase) {
        CHECK(pair->first >= 1 && pair->repeat < params.consensus.subsidy_halving_interval);
        CHECK(pair->repeat > pair->first + (pair->overwrite ? 0 : kCoinbaseMaturity + 9));
        CHECK(pair->repeat < params.consensus.bip34_height);
    }
    if (options.like_mainnet) {
        m_model.emplace(options.seed, static_cast<uint32_t>(options.blocks),
                        static_cast<uint32_t>(options.outputs_per_block));
    }
    m_times.push_back(params.genesis.header.time);
    m_truth.BeginBlock();
    m_truth.AddOutput(false); // the genesis coinbase cannot be spent
    m_stats.txs = 1;
    m_stats.bytes = params.genesis.raw.size();
}

SimBlock Chain::Genesis() const { return {0, m_params->genesis.hash, m_params->genesis.raw}; }

SimBlock Chain::Next() { return Make(true); }

SimBlock Chain::NextEmpty() { return Make(false); }

SimBlock Chain::Make(bool with_transactions)
{
    ++m_height;
    m_truth.BeginBlock();
    if (!m_calendar.empty()) {
        m_due.insert(m_due.end(), m_calendar.front().begin(), m_calendar.front().end());
        m_calendar.pop_front();
    }
    Draft draft;
    draft.coinbase_payouts = IsPairBlock() || !m_rng.Chance(1, 10) ? 1 : 2;
    draft.first_output = m_truth.Outputs();
    for (size_t i = 0; i < draft.coinbase_payouts; ++i) m_truth.AddOutput(true);
    m_truth.AddOutput(false); // the witness commitment
    if (with_transactions && !IsPairBlock()) BuildTransactions(draft);
    AddCoinbase(draft);
    SimBlock block = Assemble(draft);
    m_stats.txs += draft.txids.size();
    m_stats.bytes += block.bytes.size();
    return block;
}

bool Chain::IsPairBlock() const
{
    const auto& pair = m_options.repeated_coinbase;
    return pair && (m_height == pair->first || m_height == pair->repeat);
}

bool Chain::RepeatsCoinbase() const
{
    return IsPairBlock() && m_height == m_options.repeated_coinbase->repeat;
}

int Chain::DrawLifetime()
{
    const Lifetimes lifetimes(m_options.blocks);
    const int kind = m_rng.Between(0, 999);
    if (kind < 60) return 0;
    if (kind < 420) { // the sooner the likelier
        const int a = m_rng.Between(1, 10), b = m_rng.Between(1, 10);
        return std::min(a, b);
    }
    if (kind >= 1000 - lifetimes.never) return kNeverSpent;
    if (kind < 830 - lifetimes.never) {
        const int a = m_rng.Between(11, 100), b = m_rng.Between(11, 100);
        return std::min(a, b);
    }
    int low = 100; // each doubling of age as likely as the next
    while (low * 2 < lifetimes.longest) low *= 2;
    for (int steps = m_rng.Between(0, 7); steps > 0 && low > 100; --steps) low /= 2;
    return m_rng.Between(low + 1, std::min(2 * low, lifetimes.longest));
}

int Chain::DrawSpentLifetime()
{
    int lifetime = kNeverSpent;
    while (lifetime == kNeverSpent) lifetime = DrawLifetime();
    const int left = m_options.blocks - m_height;
    return lifetime <= left ? lifetime : m_rng.Between(0, left);
}

void Chain::Schedule(const Coin& coin, int lifetime)
{
    if (lifetime == kNeverSpent) return;
    if (lifetime == 0) {
        m_due.push_back(coin);
        return;
    }
    if (m_height + lifetime > m_options.blocks) return;
    const size_t index = static_cast<size_t>(lifetime - 1);
    if (m_calendar.size() <= index) m_calendar.resize(index + 1);
    m_calendar[index].push_back(coin);
}

void Chain::RecordSpends(const std::vector<Coin>& coins)
{
    for (const Coin& coin : coins) {
        m_truth.Spend(coin.number);
        const int age = m_height - coin.height;
        CHECK(!coin.coinbase || age >= kCoinbaseMaturity);
        m_stats.spent_same_block += age == 0;
        m_stats.spent_within_10 += age <= 10;
        m_stats.spent_within_100 += age <= 100;
    }
    m_stats.inputs += coins.size();
}

MutableTransaction Chain::BuildCoinbase(Draft& draft, const std::vector<Wtxid>& wtxids)
{
    MutableTransaction tx;
    MutableInput& input = tx.inputs.emplace_back();
    input.witness = {Bytes(32, 0)}; // BIP141's reserved value
    if (IsPairBlock()) {
        AppendPush(input.script_sig, AsBytes("the same coinbase twice"));
    } else {
        AppendPushInt(input.script_sig, m_height);
        AppendPush(input.script_sig, m_rng.RandomBytes(8));
    }
    Amount left = BlockSubsidy(m_height, m_params->consensus) + draft.fees;
    if (!IsPairBlock() && m_rng.Chance(1, 50)) left -= left / 1000; // miners do claim too little
    for (size_t i = 0; i < draft.coinbase_payouts; ++i) {
        const Amount value = i + 1 == draft.coinbase_payouts ? left : left / 3;
        draft.coinbase_scripts.push_back(m_book->Draw(m_rng));
        tx.outputs.push_back({value, m_book->At(draft.coinbase_scripts.back()).script_pubkey});
        left -= value;
    }
    Bytes preimage;
    Append(preimage, MerkleRoot(wtxids).root.Span());
    Append(preimage, input.witness[0]);
    Bytes commitment{OP_RETURN, 0x24, 0xaa, 0x21, 0xa9, 0xed};
    Append(commitment, Sha256d(preimage));
    tx.outputs.push_back({0, commitment});
    return tx;
}

void Chain::AddCoinbase(Draft& draft)
{
    const auto& pair = m_options.repeated_coinbase;
    MutableTransaction tx;
    if (RepeatsCoinbase()) {
        tx = *m_first_coinbase;
        draft.coinbase_scripts = m_pair_scripts;
        if (pair->overwrite) {
            m_truth.Overwrite(m_first_coinbase_output);
            ++m_stats.overwritten;
        }
    } else {
        tx = BuildCoinbase(draft, draft.wtxids);
    }
    if (IsPairBlock() && !RepeatsCoinbase()) {
        m_first_coinbase = tx;
        m_pair_scripts = draft.coinbase_scripts;
        m_first_coinbase_output = draft.first_output;
    }
    draft.coinbase = tx.Serialize();
    const Txid txid = draft.txids[0] = tx.Id();
    for (size_t i = 0; i < draft.coinbase_payouts; ++i) {
        const Coin coin{txid,
                        static_cast<uint32_t>(i),
                        tx.outputs[i].value,
                        draft.first_output + i,
                        m_height,
                        draft.coinbase_scripts[i],
                        true};
        const bool is_first = IsPairBlock() && !RepeatsCoinbase();
        if (is_first && pair->overwrite) continue;
        Schedule(coin, kCoinbaseMaturity + (is_first ? 0 : m_rng.Between(0, 20)));
    }
}

uint32_t Chain::NextTime()
{
    std::vector<uint32_t> sorted(m_times.begin(), m_times.end());
    std::sort(sorted.begin(), sorted.end());
    const uint32_t median = sorted[sorted.size() / 2];
    uint32_t time = m_times.back() + static_cast<uint32_t>(m_rng.Between(1, 600));
    if (m_rng.Chance(1, 10)) time = m_times.back() - static_cast<uint32_t>(m_rng.Between(0, 100));
    time = std::max(time, median + 1);
    m_times.push_back(time);
    if (m_times.size() > kMedianSpan) m_times.pop_front();
    return time;
}

SimBlock Chain::Assemble(const Draft& draft)
{
    BlockHeader header;
    header.version = 0x20000000;
    header.prev_hash = m_tip;
    header.merkle_root = MerkleRoot(draft.txids).root;
    header.time = NextTime();
    header.bits = m_params->consensus.pow_limit.ToCompact();
    const Arith256 target = Arith256::FromCompact(header.bits);
    while (Arith256::FromUint256(header.Hash()) > target) ++header.nonce;

    SimBlock block{m_height, header.Hash(), {}};
    block.bytes.reserve(BlockHeader::kSize + 9 + draft.coinbase.size() + draft.body.size());
    Writer writer(block.bytes);
    writer.Raw(header.ToBytes());
    writer.CompactSize(draft.txids.size());
    writer.Raw(draft.coinbase);
    writer.Raw(draft.body);
    m_tip = block.hash;
    return block;
}

} // namespace ibd::sim
