// BlockOutline: the data of a block, besides its coins, that undo data and the rules about coins
// need: counts, sums, relative locks. It is small enough to be spilled with the coins, so that the
// block need not be read again. It can only prove that a block keeps the rules; otherwise
// SpentRules reads the block and decides. A value; one thread. Memory: 16 bytes for each
// transaction of the block, 4 for each input of a transaction with a lock, and views of the inputs
// of one transaction. Format: doc/formats/spill.md.
#pragma once

#include "chain/header_node.h"
#include "consensus/params.h"
#include "consensus/tx_verify.h"
#include "join/stand_in_tx.h"

namespace ibd {

class BlockOutline {
public:
    /** A transaction other than the coinbase. */
    struct Tx {
        uint32_t inputs = 0;
        bool locked = false; //!< an input has a relative lock (BIP68)
        Amount value_out = 0;
    };

    /** Takes the counts alone. `txs`: of a block that passed CheckBlock. */
    void TakeCounts(std::span<const TxView> txs);
    /** Takes also the data that KeepsRules() needs. */
    void TakeAll(std::span<const TxView> txs);

    /** Appends the taken data. */
    void Encode(Bytes& out) const;
    /** False: malformed. */
    bool Decode(ByteSpan encoded);

    std::span<const Tx> Txs() const { return m_txs; }
    /** Number of inputs, without the coinbase's. */
    uint64_t Inputs() const;

    /** Whether SpentRules would find no broken rule, scripts excepted. `spent`: for each of
     *  Inputs() a coin in undo form, made no higher than this block. False proves nothing. */
    bool KeepsRules(const HeaderNode& node, const ConsensusParams& params,
                    std::span<const ByteSpan> spent);

private:
    bool ViewCoins(std::span<const ByteSpan> spent);

    std::vector<Tx> m_txs;
    bool m_complete = false; //!< holds the data of TakeAll(), not counts alone
    Amount m_coinbase_value = 0;
    int64_t m_sigop_cost = 0;          //!< upper bound
    std::vector<uint32_t> m_sequences; //!< of the inputs of transactions with a lock
    // The current transaction.
    StandInTx m_stand_in;
    std::vector<SpentCoin> m_coins;
};

} // namespace ibd
