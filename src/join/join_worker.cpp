// See join_worker.h.
#include "join/join_worker.h"

#include "consensus/block_check.h"
#include "consensus/rule_verdict.h"
#include "script/coin.h"
#include "storage/crc32c.h"

namespace ibd {

namespace {

/** A number as secret as the salt, which itself is used for outpoints only. */
uint64_t SecretOf(const AggregateSalt& salt)
{
    const Hash32 digest =
        Sha256().Write(AsBytes("order of spending within a block")).Write(salt).Finalize();
    return ReadLE64(digest.data());
}

uint64_t CoinOf(const OutputView& output, bool coinbase)
{
    return MadeCoin{output.value, SpendKindOf(output.script_pubkey), coinbase}.Number();
}

/** Rules and order of spending were checked before; the merkle root proves that the transactions
 *  are the same. */
RuleVerdict CheckIsSame(const BlockView& block, const SuppliedBlock&)
{
    return CheckMerkleRoot(block);
}

} // namespace

JoinWorker::JoinWorker(const JoinContext& context, size_t number, JoinCounters& counters)
    : m_context(context), m_number(number), m_counters(counters),
      m_taker(context.params, SecretOf(context.salt),
              context.connected ? BlockTaker::OtherCheck(CheckIsSame) : nullptr),
      m_account(context.log.NewAccount(number, context.params.consensus)), m_namer(context.salt),
      m_sum(context.log.NewSum())
{
}

std::optional<FoldFailure> JoinWorker::Run(BlockSource& source)
{
    using Kind = FoldFailure::Kind;
    SuppliedBlock block;
    while (!m_context.stop.load(std::memory_order_relaxed)) {
        const Result<bool> more = source.Next(block);
        if (!more) return FoldFailure{Kind::kMachine, more.GetError()};
        if (!*more) break;
        bool kept = false;
        if (auto failure = m_taker.Take(source, block, kept)) return failure;
        if (!kept || !block.fold) continue;
        if (const Result<> done = Record(block); !done) {
            return FoldFailure{Kind::kMachine, done.GetError()};
        }
    }
    return std::nullopt;
}

Result<> JoinWorker::Record(const SuppliedBlock& block)
{
    const auto height = static_cast<uint32_t>(block.node->height);
    const BlockView& view = m_taker.View();
    const size_t most = 1 + view.Outputs().size() + view.Inputs().size(); // 1: the coinbase's id
    m_account ? m_valued.Reset(most) : m_records.Reset(most);
    if (m_sum) m_sum->Clear();
    AddCoinbaseId(height);
    const uint32_t outputs = AddCreated(height);
    AddSpent(height);
    const uint32_t checksum = m_context.log.KeepsChecksums() ? Crc32c(view.Raw()) : 0;
    const JoinLog::BlockRead read{height, outputs, checksum};
    if (m_account) {
        m_account->Begin(*block.node, view.Txs(), m_taker.LegacySigOps());
        IBD_RETURN_IF_ERROR(m_context.log.Record(m_number, read, block.bytes.size(), m_valued,
                                                 *m_account, m_sum.get()));
    } else {
        IBD_RETURN_IF_ERROR(
            m_context.log.Record(m_number, read, block.bytes.size(), m_records, m_sum.get()));
    }
    AddTo(m_counters.blocks, 1);
    AddTo(m_counters.bytes, block.bytes.size());
    return {};
}

/** Adds the id under a name that no outpoint of the block has. */
void JoinWorker::AddCoinbaseId(uint32_t height)
{
    if (!m_context.unique.Contains(height) || m_context.rules.IsOverwritten(height)) return;
    m_listed.Reset(1);
    m_listed.Add(m_taker.View().Txs()[0].txid, OutPoint::kNullIndex);
    const OutpointName name = m_namer.NameOf(m_listed.data());
    const JoinRecord record = JoinRecord::Of(name, JoinKind::kCoinbaseId, height, 0);
    m_account ? m_valued.Add({record, 0}) : m_records.Add(record);
}

/** Adds the outputs that the fold counts, so that hints fit (fold.h). Returns their number. */
uint32_t JoinWorker::AddCreated(uint32_t height)
{
    const BlockView& view = m_taker.View();
    m_listed.Reset(view.Outputs().size());
    m_coins.clear();
    const auto txs = view.Txs().subspan(m_context.rules.IsOverwritten(height) ? 1 : 0);
    for (const TxView& tx : txs) {
        for (size_t i = 0; i < tx.outputs.size(); ++i) {
            if (IsUnspendable(tx.outputs[i].script_pubkey)) continue;
            m_listed.Add(tx.txid, static_cast<uint32_t>(i));
            if (m_account) m_coins.push_back(CoinOf(tx.outputs[i], &tx == view.Txs().data()));
        }
    }
    AddListed(JoinKind::kCreated, height, 0);
    return static_cast<uint32_t>(m_listed.size());
}

void JoinWorker::AddSpent(uint32_t height)
{
    const BlockView& view = m_taker.View();
    const size_t first = view.Txs()[0].inputs.size();
    m_listed.Reset(view.Inputs().size());
    for (const InputView& input : view.Inputs().subspan(first)) m_listed.Add(input.prevout_bytes);
    AddListed(JoinKind::kSpent, height, static_cast<uint32_t>(first));
}

/** Sums and records the listed outpoints, numbered from `first`. */
void JoinWorker::AddListed(JoinKind kind, uint32_t height, uint32_t first)
{
    const bool spent = kind == JoinKind::kSpent;
    const uint8_t* const outpoints = m_listed.data();
    const size_t count = m_listed.size();
    CHECK(first + count <= JoinRecord::kMaxIndex);
    if (m_sum) spent ? m_sum->AddSpent(outpoints, count) : m_sum->AddCreated(outpoints, count);
    const auto record = [&](uint32_t i) {
        const OutpointName name = m_namer.NameOf(outpoints + i * kOutpointSize);
        return JoinRecord::Of(name, kind, height, first + i);
    };
    if (!m_account) {
        for (uint32_t i = 0; i < count; ++i) m_records.Add(record(i));
    } else if (spent) {
        for (uint32_t i = 0; i < count; ++i) m_valued.Add({record(i), 0});
    } else {
        for (uint32_t i = 0; i < count; ++i) m_valued.Add({record(i), m_coins[i]});
    }
}

} // namespace ibd
