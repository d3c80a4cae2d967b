// RuleResult: the verdict of a consensus or policy rule. Empty means valid; otherwise it names the
// broken rule, in Core's words on the wire and over RPC, and the kind of violation. A value; any
// thread.
#pragma once

#include <optional>
#include <string>
#include <utility>

namespace ibd {

struct RuleViolation {
    /** The consequence of the violation: is the peer at fault, may the block be retried? */
    enum class Kind {
        // Blocks, and transactions where the kind fits.
        kConsensus,     //!< broken rule; the block with this hash is permanently invalid
        kInvalidHeader, //!< proof of work or header fields
        kMutated,       //!< the data does not match the header: the hash says nothing about it
        kUndecodable,   //!< the data are not a block; the hash says nothing about it
        kSpentCoins,    //!< with the spent coins that a peer sent along; true ones may be valid
        kMissingPrev,   //!< the previous block is unknown
        kInvalidPrev,   //!< a previous block is invalid
        kCachedInvalid, //!< known to be invalid from before
        kTimeFuture,    //!< too far in the future now; may become valid
        kHeaderLowWork, //!< not enough work on the chain to be stored
        // Transactions offered to the pool.
        kMissingInputs,     //!< an input is unknown or spent
        kPrematureSpend,    //!< locked by time, height, sequence or coinbase maturity
        kNotStandard,       //!< refused by policy
        kInputsNotStandard, //!< refused by policy because of the scripts it spends
        kWitnessMutated,    //!< the witness may have been changed by a relay
        kWitnessStripped,   //!< the witness is missing
        kConflict,          //!< in the pool already, or conflicts with a transaction there
        kMempoolPolicy,     //!< fee, ancestors, size of the pool
        kReconsiderable,    //!< fee too low alone, may pass in a package
    };

    /** The violation concerns these bytes; the block with that hash may be valid. */
    bool IsOfDataAlone() const
    {
        return kind == Kind::kMutated || kind == Kind::kUndecodable || kind == Kind::kSpentCoins;
    }

    Kind kind = Kind::kConsensus;
    std::string reason; //!< Core's reject reason, e.g. "bad-txns-vin-empty"
    std::string detail; //!< Core's debug message; may be empty

    /** "reason, detail", as Core prints it. */
    std::string ToString() const { return detail.empty() ? reason : reason + ", " + detail; }
};

/** Empty: the data keeps every rule that the function checks. */
using RuleResult = std::optional<RuleViolation>;

inline RuleViolation Violation(RuleViolation::Kind kind, std::string reason,
                               std::string detail = {})
{
    return {kind, std::move(reason), std::move(detail)};
}

/** Violation of kind kConsensus. */
inline RuleViolation Invalid(std::string reason, std::string detail = {})
{
    return {RuleViolation::Kind::kConsensus, std::move(reason), std::move(detail)};
}

} // namespace ibd

/** Returns from the enclosing function with the violation of a RuleResult expression, if any. */
#define IBD_RETURN_IF_VIOLATED(expression)                                                         \
    do {                                                                                           \
        if (auto ibd_violation = (expression)) return ibd_violation;                               \
    } while (0)
