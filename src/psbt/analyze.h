// The analyst: what a PSBT still lacks, who is to add it, and what the transaction will cost. Pure;
// any thread.
#pragma once

#include "psbt/psbt.h"

namespace ibd {

/** In the order in which a PSBT passes through their hands (BIP174). */
enum class PsbtRole { kCreator, kUpdater, kSigner, kFinalizer, kExtractor };

/** "updater" and the like. */
const char* PsbtRoleName(PsbtRole role);

struct PsbtInputAnalysis {
    bool has_output = false; //!< it is known what is spent
    bool is_final = false;
    PsbtRole next = PsbtRole::kExtractor;
    SpendData missing; //!< its missing_... members
};

struct PsbtAnalysis {
    std::vector<PsbtInputAnalysis> inputs;
    PsbtRole next = PsbtRole::kExtractor;
    std::optional<Amount> fee; //!< if all outputs that are spent are known
    std::optional<int64_t> estimated_vsize;
    std::optional<Amount> estimated_fee_rate; //!< per 1,000 virtual bytes
    std::string error;                        //!< in Core's words; then nothing else is known
};

/** By value: it is signed with dummies to find out how large it gets. */
PsbtAnalysis AnalyzePsbt(Psbt psbt);

} // namespace ibd
