// See fold_worker.h.
#include "swiftsync/fold_worker.h"

#include "storage/crc32c.h"

namespace ibd {

namespace {

FoldFailure Failed(FoldFailure::Kind kind, const Error& error, int32_t height = -1)
{
    return {kind, error, height};
}

/** A number as secret as the salt, which itself serves the aggregate alone. */
uint64_t SecretOf(const AggregateSalt& salt) { return ReadLE64(Sha256Of(salt).data()); }

/** Why an epoch could not be handed over: bad data is what the committer refutes. */
FoldFailure NotTaken(const Error& error)
{
    const bool refuted = error.kind == Error::Kind::kBadData;
    return Failed(refuted ? FoldFailure::Kind::kTotals : FoldFailure::Kind::kMachine, error);
}

/** Reading the clock may cost more than folding a small block. */
constexpr uint64_t kBytesPerClockCheck = 256 << 10;

} // namespace

// Half of the worker's share of an interval each: while one epoch is under way the one before may
// not yet be durable, and a crash costs both.
FoldWorker::FoldWorker(const FoldContext& context, size_t number, WorkerCounters& counters)
    : m_context(context), m_number(number),
      m_epoch_bytes(context.options.checkpoint_bytes / context.options.threads / 2),
      m_epoch_micros(context.options.checkpoint_seconds * 1'000'000 / 2), m_counters(counters),
      m_taker(context.params, SecretOf(context.salt), MakeFullCheck()),
      m_coins(context.buffer_bytes), m_sum(MakeAggregate(context.options.aggregate, context.salt)),
      m_epoch_start(context.env.MonotonicMicros())
{
}

/** Makes m_full, if it is asked for. */
BlockTaker::OtherCheck FoldWorker::MakeFullCheck()
{
    if (!m_context.options.full_validation) return {};
    m_full.emplace(m_context.params, m_context.blocks);
    return [this](const BlockView& block, const HeaderNode& node) {
        return m_full->Check(block, node);
    };
}

std::optional<FoldFailure> FoldWorker::Run(BlockSource& source)
{
    m_source = &source;
    std::optional<FoldFailure> failure;
    SuppliedBlock block;
    while (!failure && !m_context.stop.load(std::memory_order_relaxed)) {
        const Result<bool> more = source.Next(block);
        if (!more) failure = Failed(FoldFailure::Kind::kMachine, more.GetError());
        if (!more || !*more) break;
        failure = Take(block);
        if (!failure && EpochIsDue()) {
            if (const Result<> done = Spill(); !done) return NotTaken(done.GetError());
        }
    }
    // After a failure too: what was folded before is sound, and the next start goes on from it.
    const Result<> done = Spill();
    if (!done && !failure) failure = NotTaken(done.GetError());
    return failure;
}

std::optional<FoldFailure> FoldWorker::Take(const SuppliedBlock& block)
{
    if (m_context.first && block.fold && IsKnown(block)) return FoldOne(block, true);
    bool kept = false;
    if (auto failure = m_taker.Take(*m_source, block, kept)) return failure;
    if (kept && block.fold) return FoldOne(block, false);
    if (kept) AddTo(m_counters.checked_bytes, block.bytes.size());
    return std::nullopt;
}

/** Whether it is, byte for byte, the block that the first pass has checked; it is m_known then. One
 *  that has changed is held against the rules again, which tell whether it is damaged. */
bool FoldWorker::IsKnown(const SuppliedBlock& block)
{
    const auto height = static_cast<size_t>(block.node->height);
    return m_known.Parse(block.bytes) && m_known.Hash() == block.node->hash &&
           Crc32c(m_known.Raw()) == m_context.first->checksums[height];
}

std::optional<FoldFailure> FoldWorker::FoldOne(const SuppliedBlock& block, bool known)
{
    const auto height = static_cast<uint32_t>(block.node->height);
    if (const Result<> read = m_context.hints.Read(height, m_hints); !read) {
        const bool damaged = read.GetError().kind == Error::Kind::kBadData;
        return Failed(damaged ? FoldFailure::Kind::kHints : FoldFailure::Kind::kMachine,
                      read.GetError(), block.node->height);
    }
    const std::span<const TxView> txs = known ? m_known.Txs() : m_taker.View().Txs();
    const Result<> folded = m_context.first
                                ? FoldCoins(txs, height, m_hints, m_context.rules, m_delta)
                                : Fold(m_taker.View(), height, m_hints, m_context.rules, m_delta);
    if (!folded) return Failed(FoldFailure::Kind::kHints, folded.GetError(), block.node->height);
    if (known) ComputeIds(height);
    if (m_context.first) m_delta.SpendCoins();
    if (const Result<> kept = Account(height, txs.front(), block.bytes.size()); !kept) {
        return NotTaken(kept.GetError());
    }
    if (m_context.observer) m_context.observer->Folded(m_number, m_taker.View(), height);
    return std::nullopt;
}

/** Of the transactions of m_known that made a coin, and of the coinbase if it is collected. */
void FoldWorker::ComputeIds(uint32_t height)
{
    m_to_hash.clear();
    if (CollectsCoinbase(height)) m_to_hash.push_back(0);
    for (const SurvivingCoin& coin : m_delta.coins) {
        const auto number = static_cast<uint32_t>(coin.tx - m_known.Txs().data());
        if (m_to_hash.empty() || m_to_hash.back() != number) m_to_hash.push_back(number);
    }
    m_known.ComputeIds(m_to_hash);
}

/** Whether the id of that height's coinbase is one of those that must differ. */
bool FoldWorker::CollectsCoinbase(uint32_t height) const
{
    return m_context.unique.Contains(height) && !m_context.rules.IsOverwritten(height);
}

Result<> FoldWorker::Account(uint32_t height, const TxView& coinbase, size_t block_bytes)
{
    if (!m_coins.Add(m_delta, height)) {
        IBD_RETURN_IF_ERROR(Spill());
        CHECK(m_coins.Add(m_delta, height));
    }
    if (m_full) {
        m_full->AddTo(*m_sum, m_taker.View(), height, m_delta, m_context.rules);
    } else {
        m_sum->AddCreated(m_delta.created.data(), m_delta.created.size());
        m_sum->AddSpent(m_delta.spent.data(), m_delta.spent.size());
    }
    if (CollectsCoinbase(height)) m_coinbases.push_back({height, coinbase.txid});
    m_heights.push_back(height);
    m_totals.Add({m_delta.counted_outputs, m_delta.hinted_unspent, m_delta.inputs,
                  m_delta.coins.size(), m_delta.coin_value, block_bytes});
    AddTo(m_counters.blocks, 1);
    AddTo(m_counters.outputs, m_delta.counted_outputs);
    AddTo(m_counters.inputs, m_delta.inputs);
    AddTo(m_counters.bytes, block_bytes);
    AddTo(m_counters.coins, m_delta.coins.size());
    return {};
}

bool FoldWorker::EpochIsDue()
{
    if (m_totals.bytes >= m_epoch_bytes) return true;
    if (m_totals.bytes < m_look_at_clock_at) return false;
    m_look_at_clock_at = m_totals.bytes + kBytesPerClockCheck;
    return m_context.env.MonotonicMicros() - m_epoch_start >= m_epoch_micros;
}

Result<> FoldWorker::Spill()
{
    if (m_heights.empty()) return {};
    IBD_RETURN_IF_ERROR(m_context.committer.Announce(m_totals));
    Epoch epoch{m_number, m_source, m_totals, std::move(m_heights), m_sum->Serialize(), false, {}};
    if (!m_coins.Empty() || !m_coinbases.empty()) {
        const uint32_t number = m_context.next_run.fetch_add(1, std::memory_order_relaxed);
        IBD_ASSIGN_OR_RETURN(epoch.run, WriteRun(m_context.env, m_context.options.directory, number,
                                                 m_context.hints.Info().id, m_coins, m_coinbases));
        epoch.has_run = true;
    }
    m_totals = {};
    m_heights.clear();
    m_coinbases.clear();
    m_coins.Clear();
    m_sum->Clear();
    m_look_at_clock_at = 0;
    Result<> taken = m_context.committer.Submit(std::move(epoch));
    m_epoch_start = m_context.env.MonotonicMicros(); // waiting is no work that could be lost
    return taken;
}

} // namespace ibd
