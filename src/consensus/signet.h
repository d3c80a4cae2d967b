// Signet blocks (BIP325): each carries a solution of the network's challenge script. The script
// verifier is a parameter, so that block rules can be tested without keys. Pure; a verifier must be
// usable from the threads that check blocks.
#pragma once

#include "consensus/params.h"
#include "consensus/rule_result.h"
#include "primitives/transaction.h"

#include <optional>

namespace ibd {

/** Runs the challenge: whether input 0 of `to_sign` validly spends an output of value 0 with the
 *  script `challenge`, under P2SH, witness, DER and null-dummy rules. */
class SignetVerifier {
public:
    virtual ~SignetVerifier() = default;
    virtual bool Verify(const TxView& to_sign, ByteSpan challenge) const = 0;
};

/** The verifier of the node: the script interpreter. */
class ScriptSignetVerifier final : public SignetVerifier {
public:
    bool Verify(const TxView& to_sign, ByteSpan challenge) const override;
};

/** The two virtual transactions of BIP325. */
struct SignetTransactions {
    MutableTransaction to_spend;
    MutableTransaction to_sign; //!< with the solution in place
};

/** Builds them from the block. Nothing: the solution or the commitment is malformed. A block
 *  without a solution gets an empty one, which some challenges accept. */
std::optional<SignetTransactions> MakeSignetTransactions(const BlockView& block,
                                                         ByteSpan challenge);

/** "bad-signet-blksig" unless the solution is good or the block is genesis. */
RuleResult CheckSignetSolution(const BlockView& block, const ConsensusParams& params,
                               const SignetVerifier& verifier);

} // namespace ibd
