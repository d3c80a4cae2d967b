// A block about as large and as mixed as those of 2024, for the benches.
#pragma once

#include "sim/block_draft.h"
#include "sim/rng.h"

namespace ibd::bench {

constexpr size_t kTransactions = 2500; //!< with the coinbase

/** A transaction has two inputs and two outputs; every second one has a witness. Every fifth one
 *  spends an output of the previous transaction. */
inline MutableTransaction TypicalTransaction(size_t i, const Txid& before, sim::Rng& rng)
{
    MutableTransaction tx;
    for (uint32_t n = 0; n < 2; ++n) {
        MutableInput input;
        for (size_t at = 0; at < 32; at += 8) WriteLE64(input.prevout.txid.data() + at, rng());
        if (i % 5 == 0 && n == 0) input.prevout.txid = before;
        input.prevout.vout = n;
        if (i % 2) input.witness = {Bytes(71, 1), Bytes(33, 2)};
        if (i % 2 == 0) input.script_sig = Bytes(107, 3);
        tx.inputs.push_back(input);
        tx.outputs.push_back({Amount(i), Bytes(i % 2 ? 22 : 25, 0x51)});
    }
    return tx;
}

inline sim::BlockDraft TypicalBlock()
{
    sim::Rng rng(1);
    sim::BlockDraft block;
    MutableTransaction& coinbase = block.txs.emplace_back();
    coinbase.inputs.emplace_back().script_sig = Bytes(8, 1);
    coinbase.outputs.push_back({0, Bytes(22, 0x51)});
    while (block.txs.size() < kTransactions) {
        const Txid before = block.txs.back().Id();
        block.txs.push_back(TypicalTransaction(block.txs.size(), before, rng));
    }
    block.FixRoot();
    return block;
}

} // namespace ibd::bench
