// The analyser finds the missing parts of a PSBT, the role that adds them next, and the cost of the
// transaction. Pure; any thread.
#pragma once

#include "psbt/psbt.h"

namespace ibd {

/** In the order in which the roles handle a PSBT (BIP174). */
enum class PsbtRole { kCreator, kUpdater, kSigner, kFinalizer, kExtractor };

/** "updater" and the like. */
const char* PsbtRoleName(PsbtRole role);

struct PsbtInputAnalysis {
    bool has_output = false; //!< the spent output is known
    bool is_final = false;
    PsbtRole next = PsbtRole::kExtractor;
    SpendData missing; //!< its missing_... members
};

struct PsbtAnalysis {
    std::vector<PsbtInputAnalysis> inputs;
    PsbtRole next = PsbtRole::kExtractor;
    std::optional<Amount> fee; //!< if all spent outputs are known
    std::optional<int64_t> estimated_vsize;
    std::optional<Amount> estimated_fee_rate; //!< per 1,000 virtual bytes
    std::string error;                        //!< in Core's words; the other members are then unset
};

/** The argument is a copy, which is signed with dummies to find the final size. */
PsbtAnalysis AnalyzePsbt(Psbt psbt);

} // namespace ibd
