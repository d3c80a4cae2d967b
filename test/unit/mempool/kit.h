// A tip, coins and a pool without a chain behind them, for the tests of mempool.
#pragma once

#include "mempool/tx_submission.h"
#include "storage/map_coins.h"
#include "support/must.h"

namespace ibd::test {

inline const Bytes kTrue = {0x51}; //!< the redeem script of the coins here

/** P2SH of kTrue, and what spends it. */
inline const Bytes kTrueHash = {0xa9, 0x14, 0xda, 0x17, 0x45, 0xe9, 0xb5, 0x49,
                                0xbd, 0x0b, 0xfa, 0x1a, 0x56, 0x99, 0x71, 0xc7,
                                0x7e, 0xba, 0x30, 0xcd, 0x5a, 0x4b, 0x87};
inline const Bytes kSpendTrue = {0x01, 0x51};

/** The n-th of a series of outpoints. */
inline OutPoint Name(uint32_t n)
{
    OutPoint outpoint;
    outpoint.txid.data()[0] = static_cast<uint8_t>(n);
    outpoint.txid.data()[1] = static_cast<uint8_t>(n >> 8);
    outpoint.txid.data()[31] = 1;
    return outpoint;
}

inline MutableTransaction Spending(const std::vector<OutPoint>& from, std::vector<Amount> values)
{
    MutableTransaction tx;
    for (const OutPoint& outpoint : from)
        tx.inputs.push_back({outpoint, kSpendTrue, 0xffffffff, {}});
    for (const Amount value : values) tx.outputs.push_back({value, kTrueHash});
    return tx;
}

} // namespace ibd::test
