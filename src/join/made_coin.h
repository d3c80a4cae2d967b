// MadeCoin: of an output that was made what the rules but scripts look at when it is spent: its
// value, whether a coinbase made it, and of its script how signature operations of the spend are
// counted. A stand-in of that kind serves the rules as the script would. Values, pure functions.
#pragma once

#include "primitives/tx_view.h"

namespace ibd {

/** Where the signature operations of a spend are (BIP16, BIP141). */
enum class SpendKind : uint8_t {
    kPlain = 0,             //!< nowhere but in the scripts of the two transactions
    kScriptHash = 1,        //!< in what the input pushes last, or as that says in the witness
    kWitnessKeyHash = 2,    //!< there is one
    kWitnessScriptHash = 3, //!< in the last item of the witness
};

SpendKind SpendKindOf(ByteSpan script);
/** A script of that kind, whose spends have as many signature operations. Lives forever. */
ByteSpan StandInScript(SpendKind kind);

struct MadeCoin {
    Amount value = 0; //!< in MoneyRange()
    SpendKind kind = SpendKind::kPlain;
    bool coinbase = false;

    /** All of it as a number below 2^54. */
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
