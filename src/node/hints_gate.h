// The gate for hints: whether the booster may work up to their end, on the headers that are known.
// Pure; a reader of the header tree.
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

} // namespace ibd
