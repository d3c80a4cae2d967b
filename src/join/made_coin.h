// MadeCoin: the data of an output that the rules, scripts excepted, need when it is spent: its
// value, whether a coinbase made it, and the kind of its script, by which signature operations are
// counted. The rules give the same result for any script of that kind, so a stand-in script is
// used. Values, pure functions.
#pragma once

#include "primitives/tx_view.h"

namespace ibd {

/** The place where the signature operations of a spend are counted (BIP16, BIP141). */
enum class SpendKind : uint8_t {
    kPlain = 0,             //!< only in the scripts of the two transactions
    kScriptHash = 1,        //!< in the input's last push (P2SH), or in the witness if that push is
                            //!< a witness program
    kWitnessKeyHash = 2,    //!< exactly one
    kWitnessScriptHash = 3, //!< in the last item of the witness
};

SpendKind SpendKindOf(ByteSpan script);
/** A script of that kind; its spends have the same number of signature operations. Never destroyed.
 */
ByteSpan StandInScript(SpendKind kind);

struct MadeCoin {
    Amount value = 0; //!< in MoneyRange()
    SpendKind kind = SpendKind::kPlain;
    bool coinbase = false;

    /** The whole coin as a number below 2^54. */
    uint64_t Number() const
    {
        return static_cast<uint64_t>(value) << 3 | static_cast<uint64_t>(kind) << 1 |
               uint64_t{coinbase};
    }
    static MadeCoin Of(uint64_t number)
    {
        return {static_cast<Amount>(number >> 3), static_cast<SpendKind>(number >> 1 & 3),
                (number & 1) != 0};
    }
};

} // namespace ibd
