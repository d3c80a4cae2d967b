// ChainManager: what the user should know beyond the verdict on one block.
#include "validation/chain_manager.h"

namespace ibd {

namespace {

/** An invalid chain counts when it has as much more work as so many blocks like the tip. */
constexpr int kInvalidChainBlocks = 6;

constexpr const char* kDisagreement =
    "Warning: We do not appear to fully agree with our peers! You may need to upgrade, or other "
    "nodes may need to upgrade.";

} // namespace

void ChainManager::SetWarning(ChainWarning warning, const std::string& text)
{
    if (!m_warnings.insert(warning).second) return;
    m_stores.log.Warning("{}", text);
    if (m_observer) m_observer->WarningSet(warning, text);
}

void ChainManager::ClearWarning(ChainWarning warning)
{
    if (m_warnings.erase(warning) > 0 && m_observer) m_observer->WarningCleared(warning);
}

std::string ChainManager::WarnOfUnknownRules()
{
    std::string expected;
    if (IsInitialBlockDownload()) return expected;
    for (const auto& [bit, active] :
         UnknownActivations(NodeAncestry(Tip()), m_params, m_version_bits)) {
        const std::string text = fmt::format("Unknown new rules activated (versionbit {})", bit);
        if (active) {
            SetWarning(ChainWarning::kUnknownRules, text);
        } else {
            expected += (expected.empty() ? "" : ", ") + text;
        }
    }
    return expected;
}

void ChainManager::NoteInvalid(const HeaderNode& node)
{
    if (!m_best_invalid || node.chain_work > m_best_invalid->chain_work) m_best_invalid = &node;
}

void ChainManager::WarnOfInvalidChain()
{
    if (IsInitialBlockDownload()) return;
    const HeaderNode& tip = *Tip();
    Arith256 threshold = tip.chain_work;
    if (tip.prev) {
        const Arith256 proof = tip.chain_work - tip.prev->chain_work;
        for (int i = 0; i < kInvalidChainBlocks; ++i) threshold += proof;
    }
    if (m_best_invalid && m_best_invalid->chain_work > threshold) {
        SetWarning(ChainWarning::kInvalidChain, kDisagreement);
    } else {
        ClearWarning(ChainWarning::kInvalidChain);
    }
}

void ChainManager::WarnOfMissingUndo(const HeaderNode& target, const HeaderNode& stuck)
{
    if (!m_out_of_reach || LessPreferred(*m_out_of_reach, target)) m_out_of_reach = &target;
    SetWarning(
        ChainWarning::kMissingUndo,
        fmt::format("Warning: The chain with the most work, to block {} at height {}, cannot "
                    "be followed: block {} at height {} has no undo data to take it back "
                    "with. Restart with -reindex-chainstate.",
                    target.hash.ToHex(), target.height, stuck.hash.ToHex(), stuck.height));
}

/** The warning goes when our own chain is the better one again. */
void ChainManager::ReviewMissingUndo()
{
    if (!m_out_of_reach) return;
    if (!m_out_of_reach->Failed() && LessPreferred(*Tip(), *m_out_of_reach)) return;
    m_out_of_reach = nullptr;
    ClearWarning(ChainWarning::kMissingUndo);
}

} // namespace ibd
