// ChainWarnings: what stays wrong with the chain as a whole, beyond the verdict on one block. Owned
// by the ChainManager, under its headers lock. It only notes; the owner tells log and observers,
// when it holds that lock no more. Memory: a line for each kind of warning.
#pragma once

#include "chain/header_tree.h"
#include "util/warnings.h"

#include <set>
#include <string>

namespace ibd {

class ChainWarnings {
public:
    /** A warning that did not hold before; without text: one that holds no more. */
    struct News {
        NodeWarning warning;
        std::string text; //!< for the user
    };

    /** `rules` are version bits that we do not know, each with whether it is active already (it is
     *  locked in otherwise). Those that will be active soon are returned as text for the log. */
    std::string NoteUnknownRules(const std::vector<std::pair<int, bool>>& rules);
    /** `node` or one below it broke a rule. */
    void NoteInvalid(const HeaderNode& node);
    /** Failures were taken back. */
    void ForgetReconsidered();
    /** `target` is the better tip and cannot be reached, until undo data of `stuck` is made. */
    void NoteOutOfReach(const HeaderNode& target, const HeaderNode& stuck);
    /** Compares what was noted with the tip: an invalid chain counts when it has much more work
     *  than ours, and one out of reach until ours is the better one again. `downloading`: during
     *  the initial download invalid chains say nothing. */
    void Review(const HeaderNode& tip, bool downloading);

    /** What changed since the last call. */
    std::vector<News> TakeNews() { return std::exchange(m_news, {}); }

private:
    void Set(NodeWarning warning, const std::string& text);
    void Clear(NodeWarning warning);

    const HeaderNode* m_best_invalid = nullptr; //!< most work of those that broke a rule
    const HeaderNode* m_out_of_reach = nullptr; //!< best of those that cannot be reached
    std::set<NodeWarning> m_set;                //!< that hold
    std::vector<News> m_news;
};

} // namespace ibd
