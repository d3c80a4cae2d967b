// Internals of Chain shared by its two source files.
#pragma once

#include "sim/chain.h"

namespace ibd::sim {

inline constexpr int kNeverSpent = -1; //!< a lifetime

struct Chain::PlannedOutput {
    Amount value = 0;
    Bytes keeper;        //!< script of a coin that stays or of no coin; else `script` counts
    uint16_t script = 0; //!< index in the book
    int lifetime = kNeverSpent;
    bool spendable = true;
};

/** A block in the making. */
struct Chain::Draft {
    Bytes coinbase;                     //!< serialized
    Bytes body;                         //!< the other transactions, serialized
    std::vector<Txid> txids{Txid()};    //!< the coinbase's is set last
    std::vector<Wtxid> wtxids{Wtxid()}; //!< the coinbase's stays zero (BIP141)
    size_t coinbase_payouts = 1;        //!< outputs before the witness commitment
    std::vector<uint16_t> coinbase_scripts;
    uint64_t first_output = 0; //!< number in Truth of the coinbase's first output
    Amount fees = 0;
    int64_t weight = 0; //!< of the body
    int sigops_cost = 0;
};

} // namespace ibd::sim
