// See chain_warnings.h.
#include "validation/chain_warnings.h"

#include <fmt/format.h>

namespace ibd {

namespace {

/** An invalid chain causes a warning if its work exceeds ours by this number of blocks like the
 *  tip. */
constexpr int kInvalidChainBlocks = 6;

constexpr const char* kDisagreement =
    "Warning: Found invalid chain more than 6 blocks longer than our best chain. This could be due "
    "to database corruption or consensus incompatibility with peers.";

/** Work above which an invalid chain indicates a problem. */
Arith256 InvalidChainThreshold(const HeaderNode& tip)
{
    Arith256 threshold = tip.chain_work;
    if (!tip.prev) return threshold;
    const Arith256 proof = tip.chain_work - tip.prev->chain_work;
    for (int i = 0; i < kInvalidChainBlocks; ++i) threshold += proof;
    return threshold;
}

} // namespace

void ChainWarnings::Set(NodeWarning warning, const std::string& text)
{
    if (m_set.insert(warning).second) m_news.push_back({warning, text});
}

void ChainWarnings::Clear(NodeWarning warning)
{
    if (m_set.erase(warning) > 0) m_news.push_back({warning, {}});
}

std::string ChainWarnings::NoteUnknownRules(const std::vector<std::pair<int, bool>>& rules)
{
    std::string expected;
    for (const auto& [bit, active] : rules) {
        const std::string text = fmt::format("Unknown new rules activated (versionbit {})", bit);
        if (active) {
            Set(NodeWarning::kUnknownRules, text);
        } else {
            expected += (expected.empty() ? "" : ", ") + text;
        }
    }
    return expected;
}

void ChainWarnings::NoteInvalid(const HeaderNode& node)
{
    if (!m_best_invalid || node.chain_work > m_best_invalid->chain_work) m_best_invalid = &node;
}

void ChainWarnings::ForgetReconsidered()
{
    if (m_best_invalid && !m_best_invalid->Failed()) m_best_invalid = nullptr;
}

void ChainWarnings::NoteOutOfReach(const HeaderNode& target, const HeaderNode& stuck, bool damaged)
{
    if (!m_out_of_reach || LessPreferred(*m_out_of_reach, target)) m_out_of_reach = &target;
    // A new obstacle replaces the text; a new target alone does not, or each block would warn.
    const Stuck now(&stuck, damaged);
    if (std::exchange(m_stuck, now) != now) Clear(NodeWarning::kMissingUndo);
    Set(NodeWarning::kMissingUndo,
        fmt::format("Warning: The chain with the most work, to block {} at height {}, cannot be "
                    "followed yet: block {} at height {} {}",
                    target.hash.ToHex(), target.height, stuck.hash.ToHex(), stuck.height,
                    damaged
                        ? "is damaged in the block files. Peers are asked for it."
                        : "cannot be disconnected, because its undo data is missing. The node is "
                          "making the undo data from the blocks."));
}

void ChainWarnings::Review(const HeaderNode& tip, bool downloading)
{
    if (!downloading) {
        const bool invalid =
            m_best_invalid && m_best_invalid->chain_work > InvalidChainThreshold(tip);
        invalid ? Set(NodeWarning::kInvalidChain, kDisagreement)
                : Clear(NodeWarning::kInvalidChain);
    }
    if (!m_out_of_reach) return;
    if (!m_out_of_reach->Failed() && LessPreferred(tip, *m_out_of_reach)) return;
    m_out_of_reach = nullptr;
    Clear(NodeWarning::kMissingUndo);
}

} // namespace ibd
