// See chain_manager.h. This file: blocks that are handed in.
#include "validation/chain_manager.h"

namespace ibd {

namespace {

void LogRefused(Logger& log, const RuleViolation& violation)
{
    log.Error("ProcessNewBlock: AcceptBlock FAILED ({})", violation.ToString());
}

} // namespace

ChainManager::ChainManager(const ChainParams& params, ChainStores stores,
                           const ChainManagerOptions& options, const std::atomic<bool>& interrupt)
    : ChainView(params, stores, options, m_tree, interrupt), m_stores(stores),
      m_tree(params, stores.index), m_news(stores.log), m_scripts(*this),
      m_writer(m_stores, m_tree), m_undo(*this, m_stores, m_tree, m_writer),
      m_acceptor(*this, m_stores, m_tree, m_undo, m_news), m_repair(*this, m_stores, m_tree),
      m_snapshot(m_tree), m_pruner(*this, m_stores, m_tree, m_writer), m_prefetch(options.threads)
{
    m_last_flush = m_stores.env.MonotonicMicros();
}

ChainManager::~ChainManager() = default;

Result<BlockOutcome> ChainManager::TakeBlock(Bytes raw)
{
    BlockOutcome outcome;
    auto block = std::make_unique<LoadedBlock>();
    block->received = std::move(raw);
    outcome.violation = m_acceptor.CheckStranger(block->received, block->view);
    if (!outcome.violation) {
        IBD_ASSIGN_OR_RETURN(outcome, m_acceptor.Accept(block->view, nullptr, true));
    }
    if (outcome.is_new && outcome.node->prev == Tip()) {
        m_fresh.Keep(*outcome.node, std::move(block));
    }
    if (!outcome.violation || outcome.violation->kind == RuleViolation::Kind::kUndecodable) {
        return outcome;
    }
    if (outcome.violation->kind == RuleViolation::Kind::kMutated) {
        m_stores.log.Debug(LogCategory::kValidation, "Block mutated: {}",
                           outcome.violation->ToString());
    } else {
        LogRefused(m_stores.log, *outcome.violation);
    }
    return outcome;
}

Result<BlockOutcome> ChainManager::ProcessBlock(ByteSpan raw)
{
    BlockOutcome outcome;
    BlockView view;
    outcome.violation = m_acceptor.CheckStranger(raw, view);
    if (outcome.violation) {
        LogRefused(m_stores.log, *outcome.violation);
        return outcome;
    }
    const Lock activation(m_activation);
    IBD_ASSIGN_OR_RETURN(outcome, m_acceptor.Accept(view, nullptr, true));
    if (outcome.violation) {
        LogRefused(m_stores.log, *outcome.violation);
        return outcome;
    }
    {
        const Lock state(m_state);
        m_submitted = outcome.node;
        m_submitted_verdict.reset();
    }
    IBD_RETURN_IF_ERROR(Activate({}));
    const Lock state(m_state);
    m_submitted = nullptr;
    outcome.verdict = m_submitted_verdict;
    return outcome;
}

Result<> ChainManager::NotePruned(const BlockView& block, const HeaderNode& node)
{
    IBD_RETURN_IF_ERROR(m_pruner.SetPruned());
    m_acceptor.NotePruned(block, node);
    return {};
}

// clang cannot follow that the guard keeps the lock which is taken here.
CoinsGuard ChainManager::HoldCoins() const
{
    std::shared_lock lock(m_state);
    return {std::move(lock), *m_cache, *m_connected};
}

} // namespace ibd
