// The gate for hints: whether the booster may work up to their end, on the headers that are known;
// and how far it may go with hints of its own. Pure; a reader of the header tree.
#pragma once

#include "swiftsync/engine.h"
#include "validation/chain_manager.h"

namespace ibd {

struct HintsStanding {
    const HeaderNode* terminal = nullptr; //!< what the booster may work up to; null: it may not
    std::string refusal;                  //!< why it may not, one line for the user
    bool may_change = false;              //!< headers that are yet to come may allow it
};

/** `full_validation`: nothing is assumed valid. `now`: seconds since 1970; where the best header is
 *  no older than -maxtipage, all headers are there. */
HintsStanding JudgeHints(const HintsInfo& hints, const HeaderTree& headers,
                         const ChainManagerOptions& trust, bool full_validation, int64_t now);

/** The highest block up to which the booster may make its own hints and work with them: on the best
 *  header chain, under the same conditions as where hints end. Where there is no assumed-valid
 *  block, or with full validation, any will do. `stored`: of blocks that can be had; nothing: all.
 *  `may_change`: headers that are yet to come may lead higher. */
HintsStanding FindOwnTerminal(const HeaderTree& headers, const ChainManagerOptions& trust,
                              bool full_validation, int64_t now,
                              const std::function<bool(const HeaderNode&)>& stored);

/** The block up to which blocks are fetched for a full validation from blocks alone: the highest of
 *  the best header chain that has two weeks of work on top, so that no reorganisation will move it.
 *  `may_change`: headers are yet to come. */
HintsStanding FindBuriedTerminal(const HeaderTree& headers, const ChainManagerOptions& trust,
                                 int64_t now);

} // namespace ibd
