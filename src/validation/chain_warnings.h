// ChainWarnings: lasting problems of the chain as a whole, beyond the verdict on one block. Owned
// by the ChainManager, under its headers lock. It only collects warnings; the owner passes them to
// log and observers after it has released that lock. Memory: a line for each kind of warning.
#pragma once

#include "chain/header_tree.h"
#include "util/warnings.h"

#include <set>
#include <string>

namespace ibd {

class ChainWarnings {
public:
    /** The start of a warning or, if `text` is empty, its end. */
    struct News {
        NodeWarning warning;
        std::string text; //!< for the user
    };

    /** `rules`: unknown version bits, each with whether it is active already (otherwise locked in).
     *  Returns text for the log about bits that will be active soon. */
    std::string NoteUnknownRules(const std::vector<std::pair<int, bool>>& rules);
    /** `node` or a descendant broke a rule. */
    void NoteInvalid(const HeaderNode& node);
    /** Call it after failed blocks were reconsidered. */
    void ForgetReconsidered();
    /** `target` is a better tip that cannot be reached until the undo data of `stuck` is made. */
    void NoteOutOfReach(const HeaderNode& target, const HeaderNode& stuck, bool damaged);
    /** Compares the noted blocks with the tip and sets or clears the warnings. An invalid chain
     *  causes one if it has much more work than ours; an unreachable tip, as long as it is better
     *  than ours. `downloading`: ignore invalid chains during initial download. */
    void Review(const HeaderNode& tip, bool downloading);

    /** Changes since the last call. */
    std::vector<News> TakeNews() { return std::exchange(m_news, {}); }

private:
    using Stuck = std::pair<const HeaderNode*, bool>; //!< block, and whether it is damaged

    void Set(NodeWarning warning, const std::string& text);
    void Clear(NodeWarning warning);

    const HeaderNode* m_best_invalid = nullptr; //!< most work among blocks that broke a rule
    const HeaderNode* m_out_of_reach = nullptr; //!< best unreachable block
    Stuck m_stuck;                              //!< of the last kMissingUndo
    std::set<NodeWarning> m_set;                //!< current warnings
    std::vector<News> m_news;
};

} // namespace ibd
