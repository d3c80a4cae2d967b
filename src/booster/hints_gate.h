// Conditions for hints: whether the booster may work up to their end, given the known headers; and
// how far its own hints may go. Pure; reads the header tree.
#pragma once

#include "swiftsync/engine.h"
#include "validation/chain_manager.h"

namespace ibd {

struct HintsStanding {
    const HeaderNode* terminal = nullptr; //!< end of the booster's work; null: it may not run
    std::string refusal;                  //!< the reason, one line for the user
    bool may_change = false;              //!< later headers may allow it
    bool lacks_headers = false;           //!< refused because headers are missing
};

/** `full_validation`: no block is assumed valid. `now`: seconds since 1970; if the best header is
 *  within -maxtipage, all headers are known. */
HintsStanding JudgeHints(const HintsInfo& hints, const HeaderTree& headers,
                         const ChainManagerOptions& trust, bool full_validation, int64_t now);

/** The highest block up to which the booster may make and use its own hints: on the best header
 *  chain, under the same conditions as the terminal block of given hints. Without an assumed-valid
 *  block, or with full validation, any block is allowed. `stored`: whether a block is available;
 *  empty: all are. `may_change`: later headers may allow a higher block. */
HintsStanding FindOwnTerminal(const HeaderTree& headers, const ChainManagerOptions& trust,
                              bool full_validation, int64_t now,
                              const std::function<bool(const HeaderNode&)>& stored);

/** The block up to which blocks are fetched for a full validation from blocks alone: the highest
 *  one of the best header chain with two weeks of work above it, so that no reorganisation moves
 *  it. `may_change`: more headers will come. */
HintsStanding FindBuriedTerminal(const HeaderTree& headers, const ChainManagerOptions& trust,
                                 int64_t now);

} // namespace ibd
