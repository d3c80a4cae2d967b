// See fold_worker.h.
#include "swiftsync/fold_worker.h"

#include "storage/crc32c.h"
#include "swiftsync/named_hints.h"
#include "util/found.h"

namespace ibd {

namespace {

FoldFailure Failed(FoldFailure::Kind kind, const Error& error, int32_t height = -1)
{
    return {kind, error, height};
}

/** A secret number, made from the salt. The salt itself is used for the aggregate only. */
uint64_t SecretOf(const AggregateSalt& salt) { return ReadLE64(Sha256Of(salt).data()); }

/** The failure of a handed-over epoch: bad data means that the committer refuted its totals. */
FoldFailure NotTaken(const Error& error)
{
    const bool refuted = IsBadData(error);
    return Failed(refuted ? FoldFailure::Kind::kTotals : FoldFailure::Kind::kMachine, error);
}

/** Bytes between two readings of the clock, because a reading may cost more than a small block. */
constexpr uint64_t kBytesPerClockCheck = 256 << 10;

} // namespace

// Each epoch is half of the worker's share of an interval: a crash may cost both the current epoch
// and the previous one, which may not be durable yet.
FoldWorker::FoldWorker(const FoldContext& context, size_t number, WorkerCounters& counters)
    : m_context(context), m_number(number),
      m_epoch_bytes(context.options.checkpoint_bytes / context.options.threads / 2),
      m_epoch_micros(context.options.checkpoint_seconds * 1'000'000 / 2), m_counters(counters),
      m_taker(context.params, SecretOf(context.salt), MakeFullCheck()),
      m_coins(context.buffer_bytes), m_sum(MakeAggregate(context.options.aggregate, context.salt)),
      m_epoch_start(context.env.MonotonicMicros())
{
}

/** Makes m_full if full validation is on. */
BlockTaker::OtherCheck FoldWorker::MakeFullCheck()
{
    const BoosterOptions& options = m_context.options;
    if (!options.full_validation) return {};
    m_full.emplace(m_context.params, m_context.blocks, options.signature_lanes,
                   options.known_height);
    return [this](const BlockView& block, const SuppliedBlock& supplied) {
        return m_full->Check(block, *supplied.node, supplied.spent_coins);
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
        if (failure) continue;
        if (auto not_taken = SpillIfDue()) return not_taken;
    }
    // Also after a failure: blocks before it are folded, and the next start need not repeat them.
    auto not_taken = Finish();
    return failure ? std::move(failure) : std::move(not_taken);
}

std::optional<FoldFailure> FoldWorker::Finish()
{
    const Result<> done = Spill();
    return done ? std::nullopt : std::optional(NotTaken(done.GetError()));
}

std::optional<FoldFailure> FoldWorker::Take(const SuppliedBlock& block)
{
    if (m_context.first && block.fold && IsKnown(block)) {
        return FoldOneKnown(*block.node, m_known, block.bytes.size());
    }
    bool kept = false;
    if (auto failure = m_taker.Take(*m_source, block, kept)) return failure;
    if (kept && block.fold) return FoldChecked(*block.node, block.bytes.size());
    if (kept) AddTo(m_counters.checked_bytes, block.bytes.size());
    return std::nullopt;
}

/** Parses the block into m_known. Returns whether the first pass has checked the same bytes. A
 *  changed block is checked against the rules again, which shows any damage. */
bool FoldWorker::IsKnown(const SuppliedBlock& block)
{
    const auto height = static_cast<size_t>(block.node->height);
    return m_known.Parse(block.bytes) && m_known.Hash() == block.node->hash &&
           Crc32c(m_known.Raw()) == m_context.first->checksums[height];
}

std::optional<FoldFailure> FoldWorker::FoldKnown(const HeaderNode& node, PlainBlock& block)
{
    if (auto failure = FoldOneKnown(node, block, block.Raw().size())) return failure;
    return SpillIfDue();
}

/** Folds only the coins of a block that the first pass has checked. */
std::optional<FoldFailure> FoldWorker::FoldOneKnown(const HeaderNode& node, PlainBlock& block,
                                                    size_t block_bytes)
{
    const auto height = static_cast<uint32_t>(node.height);
    if (auto failure = ReadHints(node, block.Txs())) return failure;
    const Result<> folded = FoldCoins(block.Txs(), height, m_hints, m_context.rules, m_delta);
    if (!folded) return Failed(FoldFailure::Kind::kHints, folded.GetError(), node.height);
    ComputeIds(height, block);
    m_delta.SpendCoins();
    const Result<> kept = Account(height, block.Txs().front(), block_bytes);
    return kept ? std::nullopt : std::optional(NotTaken(kept.GetError()));
}

/** Folds the block that m_taker has checked. */
std::optional<FoldFailure> FoldWorker::FoldChecked(const HeaderNode& node, size_t block_bytes)
{
    const auto height = static_cast<uint32_t>(node.height);
    const BlockView& block = m_taker.View();
    if (auto failure = ReadHints(node, block.Txs())) return failure;
    const Result<> folded = m_context.first
                                ? FoldCoins(block.Txs(), height, m_hints, m_context.rules, m_delta)
                                : Fold(block, height, m_hints, m_context.rules, m_delta);
    if (!folded) return Failed(FoldFailure::Kind::kHints, folded.GetError(), node.height);
    if (m_context.first) m_delta.SpendCoins();
    if (const Result<> kept = Account(height, block.Txs().front(), block_bytes); !kept) {
        return NotTaken(kept.GetError());
    }
    for (FoldObserver* observer : m_context.observers) observer->Folded(m_number, block, height);
    return std::nullopt;
}

std::optional<FoldFailure> FoldWorker::ReadHints(const HeaderNode& node,
                                                 std::span<const TxView> txs)
{
    const NamedHints* const named = m_context.options.proves;
    const auto height = static_cast<uint32_t>(node.height);
    const Result<> read = named ? named->ReadFor(txs, height, m_hints)
                                : m_context.hints.Read(height, m_hints);
    if (read) return std::nullopt;
    const bool damaged = IsBadData(read);
    return Failed(damaged ? FoldFailure::Kind::kHints : FoldFailure::Kind::kMachine,
                  read.GetError(), node.height);
}

/** Computes the ids of transactions with a coin, and of the coinbase if it is collected. */
void FoldWorker::ComputeIds(uint32_t height, PlainBlock& block)
{
    m_to_hash.clear();
    if (CollectsCoinbase(height)) m_to_hash.push_back(0);
    for (const SurvivingCoin& coin : m_delta.coins) {
        const auto number = static_cast<uint32_t>(coin.tx - block.Txs().data());
        if (m_to_hash.empty() || m_to_hash.back() != number) m_to_hash.push_back(number);
    }
    block.ComputeIds(m_to_hash);
}

/** Whether the id of the coinbase at `height` is among the ids that must differ. */
bool FoldWorker::CollectsCoinbase(uint32_t height) const
{
    return m_context.unique.Contains(height) && !m_context.rules.IsOverwritten(height);
}

Result<> FoldWorker::Account(uint32_t height, const TxView& coinbase, size_t block_bytes)
{
    const bool keeps = !m_context.options.proves;
    if (keeps && !m_coins.Add(m_delta, height)) {
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
                  keeps ? m_delta.coins.size() : 0, m_delta.coin_value, block_bytes});
    AddTo(m_counters.blocks, 1);
    AddTo(m_counters.outputs, m_delta.counted_outputs);
    AddTo(m_counters.inputs, m_delta.inputs);
    AddTo(m_counters.bytes, block_bytes);
    AddTo(m_counters.coins, m_delta.coins.size());
    return {};
}

std::optional<FoldFailure> FoldWorker::SpillIfDue()
{
    return EpochIsDue() ? Finish() : std::nullopt;
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
    m_epoch_start = m_context.env.MonotonicMicros(); // waiting does not count as work at risk
    return taken;
}

} // namespace ibd
