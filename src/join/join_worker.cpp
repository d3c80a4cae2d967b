// See join_worker.h.
#include "join/join_worker.h"

#include "script/coin.h"
#include "storage/crc32c.h"

namespace ibd {

namespace {

/** A number as secret as the key, which itself serves the outpoints alone. */
uint64_t SecretOf(SipKey key)
{
    return SipHasher(key).Write(AsBytes("order of spending within a block")).Finalize();
}

} // namespace

JoinWorker::JoinWorker(const JoinContext& context, size_t number, JoinCounters& counters)
    : m_context(context), m_number(number), m_hash(context.key), m_counters(counters),
      m_taker(context.params, SecretOf(context.key)), m_sum(context.log.NewSum())
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
    m_records.Reset(1 + view.Outputs().size() + view.Inputs().size()); // one for the coinbase's id
    m_created.Reset(m_sum ? view.Outputs().size() : 0);
    m_spent.Reset(m_sum ? view.Inputs().size() : 0);
    const uint32_t outputs = AddCreated(height);
    AddSpent(height);
    if (m_sum) {
        m_sum->Clear();
        m_sum->AddCreated(m_created.data(), m_created.size());
        m_sum->AddSpent(m_spent.data(), m_spent.size());
    }
    const uint32_t checksum = m_context.log.KeepsChecksums() ? Crc32c(view.Raw()) : 0;
    IBD_RETURN_IF_ERROR(m_context.log.Record(m_number, {height, outputs, checksum},
                                             block.bytes.size(), m_records, m_sum.get()));
    AddTo(m_counters.blocks, 1);
    AddTo(m_counters.bytes, block.bytes.size());
    return {};
}

/** What the fold counts, so that hints fit: see fold.h. Returns their number. */
uint32_t JoinWorker::AddCreated(uint32_t height)
{
    uint32_t index = 0;
    bool coinbase = true;
    const bool overwritten = m_context.rules.IsOverwritten(height);
    for (const TxView& tx : m_taker.View().Txs()) {
        const sip::State begun = m_hash.Begin(tx.txid.data());
        if (coinbase && m_context.unique.Contains(height) && !overwritten) {
            m_records.Add({OutpointHash::Finish(begun, OutPoint::kNullIndex),
                           JoinRecord::Event(JoinKind::kCoinbaseId, height, 0)});
        }
        const bool gone = std::exchange(coinbase, false) && overwritten;
        for (size_t i = 0; i < tx.outputs.size() && !gone; ++i) {
            if (IsUnspendable(tx.outputs[i].script_pubkey)) continue;
            const auto vout = static_cast<uint32_t>(i);
            m_records.Add({OutpointHash::Finish(begun, vout),
                           JoinRecord::Event(JoinKind::kCreated, height, index++)});
            if (m_sum) m_created.Add(tx.txid, vout);
        }
    }
    return index;
}

void JoinWorker::AddSpent(uint32_t height)
{
    const BlockView& view = m_taker.View();
    const auto inputs = view.Inputs();
    for (size_t i = view.Txs()[0].inputs.size(); i < inputs.size(); ++i) {
        const uint8_t* outpoint = inputs[i].prevout_bytes;
        m_records.Add({OutpointHash::Finish(m_hash.Begin(outpoint), ReadLE32(outpoint + 32)),
                       JoinRecord::Event(JoinKind::kSpent, height, static_cast<uint32_t>(i))});
        if (m_sum) m_spent.Add(outpoint);
    }
}

} // namespace ibd
