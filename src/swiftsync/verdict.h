// Verdict: the end of a fold, a join, or a whole session of the booster. A value.
#pragma once

#include <cstdint>
#include <string>

namespace ibd {

enum class VerdictKind {
    kDone,         //!< all is done: the chainstate is complete, or the hints or undo data are made
    kHintsWrong,   //!< a check failed; the chainstate is unchanged: validate serially
    kUnprovable,   //!< coinbases repeat on this chain, where hints prove nothing: validate serially
    kBlockInvalid, //!< a block with the right hash broke a rule; validate serially
    kNoUndo,       //!< full validation: undo data is missing or damaged; validate serially
    /** A join found an outpoint that is made or spent more than once, or is missing. Memory was too
     *  small to find the block, or to tell whether only coinbases repeat, which is allowed. */
    kUndecided,
    kNoRoom,      //!< too little disk space to continue; finished work is kept
    kFolded,      //!< BoosterOptions::fold_only: all blocks are folded
    kIncomplete,  //!< blocks are missing, or not all could be folded; finished work is kept
    kSerial,      //!< of a session: not wanted, or given up with a logged reason: validate serially
    kInterrupted, //!< stopped on request; finished work is kept for the next start
};

struct Verdict {
    VerdictKind kind = VerdictKind::kInterrupted;
    std::string reason = {}; //!< the exact failed check, for the log
    int32_t height = -1;     //!< of the invalid block, or the terminal height
    uint64_t coins = 0;      //!< of a fold: in the new chainstate
    /** With kHintsWrong: the cause may also be an invalid block up to the terminal one. */
    bool suspect = false;
    /** The hints may be right: coinbases repeat or, with kHintsWrong, the cause may also be the
     *  spent coins that full validation was given. */
    bool doubtful = false;
};

} // namespace ibd
