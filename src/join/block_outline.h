// BlockOutline: what undo data and the rules about coins look at in a block beside its coins -
// counts, sums, relative locks - small enough to be spilled with them, so that the block need not
// be read again. With the coins it says that a block keeps these rules, never that it breaks one:
// who is not told that it does reads the block and asks SpentRules. A value; one thread. Memory: 16
// bytes for each transaction of the block, 4 for each input of those with a lock, and views of the
// inputs of one. Format: doc/formats/spill.md.
#pragma once

#include "chain/header_node.h"
#include "consensus/params.h"
#include "consensus/tx_verify.h"
#include "join/stand_in_tx.h"

namespace ibd {

class BlockOutline {
public:
    /** One that is not the coinbase. */
    struct Tx {
        uint32_t inputs = 0;
        bool locked = false; //!< an input has a relative lock (BIP68)
        Amount value_out = 0;
    };

    /** Of the transactions of a block that passed CheckBlock. Counts alone. */
    void TakeCounts(std::span<const TxView> txs);
    /** And what KeepsRules() needs. */
    void TakeAll(std::span<const TxView> txs);

    /** Appends what was taken. */
    void Encode(Bytes& out) const;
    /** False: it is none. */
    bool Decode(ByteSpan encoded);

    std::span<const Tx> Txs() const { return m_txs; }
    /** Of all but the coinbase. */
    uint64_t Inputs() const;

    /** Whether SpentRules would find no rule broken, scripts apart. `spent`: a coin in undo form
     *  for each of Inputs(), none of a block above. False says nothing. */
    bool KeepsRules(const HeaderNode& node, const ConsensusParams& params,
                    std::span<const ByteSpan> spent);

private:
    bool ViewCoins(std::span<const ByteSpan> spent);

    std::vector<Tx> m_txs;
    bool m_complete = false; //!< there is more than counts
    Amount m_coinbase_value = 0;
    int64_t m_sigop_cost = 0;          //!< at most
    std::vector<uint32_t> m_sequences; //!< of the inputs of those with a lock
    // Of the transaction at hand.
    StandInTx m_stand_in;
    std::vector<SpentCoin> m_coins;
};

} // namespace ibd
