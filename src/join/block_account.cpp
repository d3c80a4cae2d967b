// See block_account.h.
#include "join/block_account.h"

#include "consensus/script_flags.h"
#include "consensus/sigops.h"
#include "consensus/tx_verify.h"
#include "script/opcodes.h"

#include <algorithm>

namespace ibd {

namespace {

/** Bound on the value of a transaction's known coins, and on that of its missing ones. If both are
 *  within it, their sum is in MoneyRange(); the account alone cannot show that. */
constexpr Amount kMostOfHalf = kMaxMoney / 2;

/** First byte of an account. */
enum AccountFlags : uint8_t { kBroken = 1, kHasCosts = 2 };

bool IsCompressedKey(ByteSpan bytes)
{
    return bytes.size() == 33 && (bytes[0] == 2 || bytes[0] == 3);
}

/** Recognises pushes of at most 75 bytes: a signature, then a key, or the program of a key hash. */
SpendShape ShapeOf(const InputView& input)
{
    constexpr size_t kMostPushed = 75, kProgramBytes = 22, kSignatureBytes = 64;
    const ByteSpan script = input.script_sig;
    if (input.witness_items == 0) {
        if (script.empty())
            return SpendShape::kKey; // no signature operations here, nor in a
                                     // script hash
        const size_t key = size_t{1} + script[0];
        if (script[0] > kMostPushed || key + 1 >= script.size()) return SpendShape::kOther;
        const ByteSpan pushed = script.subspan(key + 1);
        const bool is_key = script[key] == pushed.size() && IsCompressedKey(pushed);
        return is_key ? SpendShape::kKey : SpendShape::kOther;
    }
    const bool nested = script.size() == 1 + kProgramBytes && script[0] == kProgramBytes &&
                        script[1] == OP_0 && script[2] == kProgramBytes - 2;
    if (input.witness_items > 2 || (!script.empty() && !nested)) return SpendShape::kOther;
    ByteSpan last;
    ForEachWitnessItem(input, [&](ByteSpan item) { last = item; });
    const bool is_key = input.witness_items == 2 && IsCompressedKey(last);
    const bool is_signature =
        input.witness_items == 1 && !nested &&
        (last.size() == kSignatureBytes || last.size() == kSignatureBytes + 1);
    return is_key || is_signature ? SpendShape::kWitnessKey : SpendShape::kOther;
}

constexpr size_t kEntryRoom = 2 * kVarIntRoom; //!< of one transaction in an account

/** Grows `out` once for all numbers, as there are many. */
template <size_t N>
void PutVarInts(Bytes& out, const std::array<uint64_t, N>& numbers)
{
    const size_t at = out.size();
    out.resize(at + N * kVarIntRoom);
    uint8_t* to = &out[at];
    for (const uint64_t number : numbers) to = PutVarInt(to, number);
    out.resize(static_cast<size_t>(to - out.data()));
}

} // namespace

void BlockAccount::Begin(const HeaderNode& node, std::span<const TxView> txs, int64_t legacy_sigops)
{
    m_node = &node;
    m_height = static_cast<uint32_t>(node.height);
    m_txs = txs;
    m_sigop_cost = legacy_sigops * kWitnessScaleFactor;
    size_t inputs = 0;
    for (const TxView& tx : txs) inputs += tx.inputs.size();
    m_known.assign(inputs, {});
}

bool BlockAccount::Met(const ValuedRecord& made, const JoinRecord& spent)
{
    if (m_pairs) m_written = m_pairs->Add(made, spent) && m_written;
    if (spent.Height() == m_height) {
        m_known[spent.Index()] = {made.coin, made.Height(), true};
    } else {
        m_written = m_values.Met(made, spent) && m_written;
    }
    return m_written;
}

bool BlockAccount::End()
{
    m_flags = BlockScriptFlags(m_node->height, m_node->hash, m_params);
    m_broken = false;
    m_fees = 0;
    m_missing = 0;
    m_txs_left = 0;
    m_most_more = 0;
    m_left.Begin(m_txs.size() * kEntryRoom);
    m_shapes.Begin(m_known.size());
    m_sequences.clear();
    m_costs.clear();
    auto known = std::span<const Known>(m_known).subspan(m_txs[0].inputs.size());
    for (const TxView& tx : m_txs.subspan(1)) {
        Take(tx, known.first(tx.inputs.size()));
        known = known.subspan(tx.inputs.size());
    }
    if (m_sigop_cost + m_most_more > kMaxBlockSigOpsCost) {
        TakeCosts();
    } else {
        m_sigop_cost += m_most_more;
    }
    Encode();
    return Write() && m_written;
}

void BlockAccount::Take(const TxView& tx, std::span<const Known> known)
{
    if (HasRelativeLock(tx)) { // its rule also needs the height of each coin
        PutBack(tx, known);
        return Leave(tx, {}, 0);
    }
    Amount worth = 0;
    bool all = true;
    for (size_t i = 0; i < known.size(); ++i) {
        all = all && known[i].there;
        if (known[i].there) TakeKnown(known[i], tx.inputs[i], worth);
    }
    return all ? Settle(worth, ValueOut(tx)) : Leave(tx, known, worth);
}

void BlockAccount::TakeKnown(const Known& known, const InputView& input, Amount& sum)
{
    const MadeCoin coin = MadeCoin::Of(known.coin);
    if (coin.kind != SpendKind::kPlain) {
        m_sigop_cost += SpendSigOpCost(input, StandInScript(coin.kind), m_flags);
    }
    const int age = m_node->height - static_cast<int>(known.height);
    m_broken = m_broken || (coin.coinbase && age < kCoinbaseMaturity);
    sum = std::min(sum + coin.value, kMostOfHalf + 1);
    m_broken = m_broken || sum > kMostOfHalf;
}

/** Finishes the checks of a transaction whose coins are all known. */
void BlockAccount::Settle(Amount value_in, Amount value_out)
{
    m_broken = m_broken || value_in < value_out || !MoneyRange(m_fees + value_in - value_out);
    if (!m_broken) m_fees += value_in - value_out;
}

/** Records a transaction with coins still missing; `worth` is the sum of the known ones. Without
 *  `known`: all coins count as missing, because the transaction has a relative lock. */
void BlockAccount::Leave(const TxView& tx, std::span<const Known> known, Amount worth)
{
    const bool locked = known.empty();
    uint64_t missing = 0;
    for (size_t i = 0; i < tx.inputs.size(); ++i) {
        if (!locked && known[i].there) continue;
        ++missing;
        const SpendShape shape = ShapeOf(tx.inputs[i]);
        m_shapes.bytes[m_shapes.used++] = static_cast<uint8_t>(shape);
        m_most_more += shape == SpendShape::kOther ? MostSpendSigOpCost(tx.inputs[i]) : 1;
        if (locked) m_sequences.push_back(tx.inputs[i].sequence);
    }
    ++m_txs_left;
    m_missing += static_cast<uint32_t>(missing);
    // The value that the missing coins must at least have; if negative, the surplus of the known
    // ones.
    const Amount due = ValueOut(tx) - worth;
    const auto size = static_cast<uint64_t>(due < 0 ? -due : due);
    uint8_t* const to =
        PutVarInt(m_left.Next(), missing << 2 | uint64_t{due < 0} << 1 | uint64_t{locked});
    m_left.End(PutVarInt(to, size));
}

/** Treats the known coins of a transaction as missing. */
void BlockAccount::PutBack(const TxView& tx, std::span<const Known> known)
{
    const size_t first = static_cast<size_t>(known.data() - m_known.data());
    for (size_t i = 0; i < tx.inputs.size(); ++i) {
        Known& coin = m_known[first + i];
        if (!std::exchange(coin.there, false)) continue;
        const uint64_t at = JoinRecord::PlaceOf(m_height, static_cast<uint32_t>(first + i));
        m_written = m_values.AddCoin({at, coin.height, MadeCoin::Of(coin.coin)}) && m_written;
    }
}

/** Stores exact costs of spends with missing coins, since the bound exceeds the block's limit. */
void BlockAccount::TakeCosts()
{
    size_t number = m_txs[0].inputs.size();
    for (const TxView& tx : m_txs.subspan(1)) {
        for (const InputView& input : tx.inputs) {
            if (m_known[number++].there) continue;
            m_costs.push_back(
                {SpendSigOpCost(input, StandInScript(SpendKind::kScriptHash), m_flags),
                 SpendSigOpCost(input, StandInScript(SpendKind::kWitnessScriptHash), m_flags)});
        }
    }
}

void BlockAccount::Encode()
{
    m_encoded.clear();
    Writer writer(m_encoded);
    writer.U8(static_cast<uint8_t>((m_broken ? kBroken : 0) | (m_costs.empty() ? 0 : kHasCosts)));
    PutVarInts<5>(m_encoded,
                  {m_missing, static_cast<uint64_t>(ValueOut(m_txs[0])),
                   static_cast<uint64_t>(m_sigop_cost), static_cast<uint64_t>(m_fees), m_txs_left});
    writer.Raw(m_left.Written());
    for (const uint32_t sequence : m_sequences) writer.U32(sequence);
    if (m_costs.empty()) writer.Raw(m_shapes.Written());
    for (const Costs& costs : m_costs) {
        PutVarInts<2>(m_encoded, {static_cast<uint64_t>(costs.script_hash),
                                  static_cast<uint64_t>(costs.witness_script_hash)});
    }
}

bool BlockAccount::Write()
{
    bool written = true;
    ByteSpan rest = m_encoded;
    for (uint32_t piece = 0; !rest.empty(); ++piece) {
        const size_t size = std::min(rest.size(), ValueRecord::kMostPieceBytes);
        written = m_values.AddPiece(m_height, piece, rest.first(size)) && written;
        rest = rest.subspan(size);
    }
    return written;
}

Result<bool> AccountCheck::KeepsRules(const HeaderNode& node, ByteSpan account,
                                      std::span<const ValueRecord> coins)
{
    if (!Decode(account) || m_missing != coins.size()) {
        return BadData("block at height {}: {} spilled coins do not fit its account", node.height,
                       coins.size());
    }
    if (m_broken || !Looks(coins) || CostOf(node, coins) > kMaxBlockSigOpsCost) return false;
    const NodeAncestry prev(node.prev);
    BlockSpendRules rules(node.height, node.hash, prev, m_params);
    return AddAll(rules, node.height, coins) &&
           !rules.CheckCoinbaseValue(m_stand_in.Coinbase(m_coinbase_value));
}

/** False: the account is malformed. */
bool AccountCheck::Decode(ByteSpan account)
{
    Reader in(account);
    const uint8_t flags = in.U8();
    m_broken = (flags & kBroken) != 0;
    m_missing = static_cast<uint32_t>(in.VarInt());
    m_coinbase_value = static_cast<Amount>(in.VarInt());
    m_sigop_cost = static_cast<int64_t>(in.VarInt());
    m_fees = static_cast<Amount>(in.VarInt());
    if (!ReadTxs(in) || !MoneyRange(m_coinbase_value) || !MoneyRange(m_fees)) return false;
    for (uint32_t& sequence : m_sequences) sequence = in.U32();
    const bool costs_follow = (flags & kHasCosts) != 0 && m_missing <= in.Remaining();
    m_shapes = costs_follow ? ByteSpan() : in.Span(m_missing);
    m_costs.resize(costs_follow ? m_missing : 0);
    for (auto& costs : m_costs) {
        for (int64_t& cost : costs) cost = static_cast<int64_t>(in.VarInt());
    }
    return in.AtEnd();
}

bool AccountCheck::ReadTxs(Reader& in)
{
    constexpr size_t kLeastEntryBytes = 2;
    const uint64_t count = in.VarInt();
    if (!in.Ok() || count > in.Remaining() / kLeastEntryBytes) return false;
    m_txs.resize(count);
    uint64_t missing = 0, sequences = 0;
    bool in_range = true;
    for (Tx& tx : m_txs) {
        const uint64_t first = in.VarInt();
        const auto size = static_cast<Amount>(in.VarInt());
        const bool beyond = (first & 2) != 0;
        tx = {static_cast<uint32_t>(first >> 2), (first & 1) != 0, beyond ? size : 0,
              beyond ? 0 : size};
        in_range = in_range && first >> 2 <= JoinRecord::kMaxIndex && MoneyRange(size);
        missing += tx.missing;
        if (tx.locked) sequences += tx.missing;
    }
    if (!in.Ok() || !in_range || missing != m_missing ||
        sequences > in.Remaining() / sizeof(uint32_t)) {
        return false;
    }
    m_sequences.resize(sequences);
    return true;
}

/** Whether the kinds of the coins match the assumptions of SpendShape. */
bool AccountCheck::Looks(std::span<const ValueRecord> coins) const
{
    for (size_t i = 0; i < m_shapes.size(); ++i) {
        const SpendKind kind = coins[i].coin.kind;
        const auto shape = static_cast<SpendShape>(m_shapes[i]);
        if (shape == SpendShape::kKey && kind == SpendKind::kScriptHash) return false;
        if (shape == SpendShape::kWitnessKey && kind == SpendKind::kWitnessScriptHash) return false;
    }
    return true;
}

/** Cost of all signature operations: exact, or an upper bound. */
int64_t AccountCheck::CostOf(const HeaderNode& node, std::span<const ValueRecord> coins) const
{
    int64_t cost = m_sigop_cost;
    if (m_costs.empty()) return cost;
    const bool witness = (BlockScriptFlags(node.height, node.hash, m_params) & kVerifyWitness) != 0;
    for (size_t i = 0; i < coins.size(); ++i) {
        switch (coins[i].coin.kind) {
        case SpendKind::kPlain: break;
        case SpendKind::kScriptHash: cost += m_costs[i][0]; break;
        case SpendKind::kWitnessKeyHash: cost += witness; break;
        case SpendKind::kWitnessScriptHash: cost += m_costs[i][1]; break;
        }
    }
    return cost;
}

/** Transactions without relative locks need only sums and maturity. For the others the rules' own
 *  code runs on a stand-in transaction, equal in all that this code reads. */
bool AccountCheck::AddAll(BlockSpendRules& rules, int height, std::span<const ValueRecord> coins)
{
    Amount fees = m_fees;
    std::span<const uint32_t> sequences = m_sequences;
    for (const Tx& tx : m_txs) {
        const auto spent = coins.first(tx.missing);
        coins = coins.subspan(tx.missing);
        if (tx.locked) {
            if (!AddLocked(rules, tx, sequences.first(tx.missing), spent)) return false;
            sequences = sequences.subspan(tx.missing);
        } else if (!AddFee(tx, height, spent, fees)) {
            return false;
        }
    }
    m_coins.assign(1, {fees, {}, 0, false});
    return fees == 0 || !rules.Add(m_stand_in.Of(1, {}, 0), m_coins);
}

bool AccountCheck::AddFee(const Tx& tx, int height, std::span<const ValueRecord> coins,
                          Amount& fees)
{
    Amount missing = 0;
    for (const ValueRecord& coin : coins) {
        const int age = height - static_cast<int>(coin.height);
        if (coin.coin.coinbase && age < kCoinbaseMaturity) return false;
        missing += coin.coin.value;
        if (missing > kMostOfHalf) return false;
    }
    const Amount worth = tx.known + missing;
    fees += worth - tx.value_out;
    return worth >= tx.value_out && MoneyRange(fees);
}

bool AccountCheck::AddLocked(BlockSpendRules& rules, const Tx& tx,
                             std::span<const uint32_t> sequences,
                             std::span<const ValueRecord> coins)
{
    m_coins.clear();
    for (const ValueRecord& coin : coins) {
        m_coins.push_back({coin.coin.value, {}, static_cast<int>(coin.height), coin.coin.coinbase});
    }
    return !rules.Add(m_stand_in.Of(coins.size(), sequences, tx.value_out), m_coins);
}

} // namespace ibd
