// See fold_worker.h.
#include "swiftsync/fold_worker.h"

#include "consensus/block_check.h"
#include "consensus/script_flags.h"

#include <algorithm>

namespace ibd {

namespace {

FoldFailure Failed(FoldFailure::Kind kind, const Error& error, int32_t height = -1)
{
    return {kind, error, height};
}

/** Only this thread writes the counter. */
void AddTo(std::atomic<uint64_t>& counter, uint64_t n)
{
    counter.store(counter.load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
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
      m_order(SecretOf(context.salt)), m_coins(context.buffer_bytes),
      m_sum(MakeAggregate(context.options.aggregate, context.salt)),
      m_epoch_start(context.env.MonotonicMicros())
{
    if (context.options.full_validation) m_full.emplace(context.params, context.blocks);
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
    const Result<> done = Spill();
    if (!done && !failure) failure = NotTaken(done.GetError());
    return failure;
}

std::optional<FoldFailure> FoldWorker::Take(const SuppliedBlock& block)
{
    const Result<RuleResult> broken = CheckOne(block);
    if (!broken) {
        const bool damaged = broken.GetError().kind == Error::Kind::kBadData;
        return Failed(damaged ? FoldFailure::Kind::kUndo : FoldFailure::Kind::kMachine,
                      broken.GetError(), block.node->height);
    }
    if (*broken) return Reject(block, **broken);
    if (const Result<> kept = m_source->Keep(block, m_view); !kept) {
        return Failed(FoldFailure::Kind::kMachine, kept.GetError());
    }
    if (block.fold) return FoldOne(block);
    AddTo(m_counters.checked_bytes, block.bytes.size());
    return std::nullopt;
}

std::optional<FoldFailure> FoldWorker::Reject(const SuppliedBlock& block, const RuleViolation& why)
{
    const Result<bool> go_on = m_source->Reject(block, why);
    if (!go_on) return Failed(FoldFailure::Kind::kMachine, go_on.GetError());
    if (*go_on) return std::nullopt;
    return Failed(FoldFailure::Kind::kBlock,
                  BadData("block {} at height {}: {}", block.node->hash.ToHex(), block.node->height,
                          why.ToString()),
                  block.node->height);
}

/** Errors of kind kBadData are the undo data's. */
Result<RuleResult> FoldWorker::CheckOne(const SuppliedBlock& block)
{
    using Kind = RuleViolation::Kind;
    const HeaderNode& node = *block.node;
    if (const Result<> parsed = m_view.Parse(block.bytes); !parsed) {
        return Violation(Kind::kMutated, parsed.Message());
    }
    if (m_view.Hash() != node.hash) {
        return Violation(Kind::kMutated,
                         "another block lies in its place: " + m_view.Hash().ToHex());
    }
    if (m_full) return m_full->Check(m_view, node);
    return block.indexed ? CheckStored(node) : CheckAnew(node);
}

/** By all rules that need no coins. What is wrong with bytes that came from a stranger may say
 *  nothing of the block that the header names, even when another rule than that fails first. */
RuleResult FoldWorker::CheckAnew(const HeaderNode& node)
{
    const ConsensusParams& params = m_context.params.consensus;
    RuleResult broken = CheckBlock(m_view, params);
    if (!broken && node.prev) {
        broken = ContextualCheckBlock(m_view, NodeAncestry(node.prev), params);
    }
    if (broken && !IsMutated(broken) &&
        IsBlockMutated(m_view, BuriedActive(node.height, params, BuriedDeployment::kSegwit))) {
        broken->kind = RuleViolation::Kind::kMutated;
    }
    return broken;
}

/** By those of them that tell whether it still is the block that was checked once. */
RuleResult FoldWorker::CheckStored(const HeaderNode& node)
{
    const ConsensusParams& params = m_context.params.consensus;
    if (auto broken = CheckBlock(m_view, params, {.check_pow = false})) return broken;
    if (node.prev == nullptr) return {}; // genesis stands, whatever the heights
    return CheckCoinbaseHeight(m_view, node.height, params);
}

/** Of what is folded only: the index's verdict on a block looks at no coin either. */
std::optional<FoldFailure> FoldWorker::CheckSpendOrder(const HeaderNode& node)
{
    if (m_full) return std::nullopt; // undo data says more
    const auto wrong = m_order.Check(m_view.Txs());
    if (!wrong) return std::nullopt;
    const auto id = [this](size_t tx) { return m_view.Txs()[tx].txid.ToHex(); };
    return Failed(FoldFailure::Kind::kBlock,
                  BadData("block {} at height {}: bad-txns-inputs-missingorspent, {} spends an "
                          "output of {}, which does not come before it",
                          node.hash.ToHex(), node.height, id(wrong->spender), id(wrong->maker)),
                  node.height);
}

std::optional<FoldFailure> FoldWorker::FoldOne(const SuppliedBlock& block)
{
    if (auto failure = CheckSpendOrder(*block.node)) return failure;
    const auto height = static_cast<uint32_t>(block.node->height);
    if (const Result<> read = m_context.hints.Read(height, m_hints); !read) {
        const bool damaged = read.GetError().kind == Error::Kind::kBadData;
        return Failed(damaged ? FoldFailure::Kind::kHints : FoldFailure::Kind::kMachine,
                      read.GetError(), block.node->height);
    }
    const Result<> folded = Fold(m_view, height, m_hints, m_context.rules, m_delta);
    if (!folded) return Failed(FoldFailure::Kind::kHints, folded.GetError(), block.node->height);
    if (const Result<> kept = Account(height, block.bytes.size()); !kept) {
        return NotTaken(kept.GetError());
    }
    return std::nullopt;
}

Result<> FoldWorker::Account(uint32_t height, size_t block_bytes)
{
    if (!m_coins.Add(m_delta, height)) {
        IBD_RETURN_IF_ERROR(Spill());
        CHECK(m_coins.Add(m_delta, height));
    }
    if (m_full) {
        m_full->AddTo(*m_sum, m_view, height, m_delta, m_context.rules);
    } else {
        m_sum->AddCreated(m_delta.created.data(), m_delta.created.size());
        m_sum->AddSpent(m_delta.spent.data(), m_delta.spent.size());
    }
    if (m_context.unique.Contains(height) && !m_context.rules.IsOverwritten(height)) {
        m_coinbases.push_back({height, m_view.Txs()[0].txid});
    }
    m_heights.push_back(height);
    m_totals.Add({m_delta.counted_outputs, m_delta.hinted_unspent, m_delta.spent.size(),
                  m_delta.coins.size(), m_delta.coin_value, block_bytes});
    AddTo(m_counters.blocks, 1);
    AddTo(m_counters.outputs, m_delta.counted_outputs);
    AddTo(m_counters.inputs, m_delta.spent.size());
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
