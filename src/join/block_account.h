// BlockAccount: what the rules but scripts have yet to be told of a block when a join has read it.
// Coins that it spends and that met it in the join's table are dealt with at once; what is left -
// of transactions that spend others how many, which sums, relative locks; of the block fees, reward
// and signature operations - is written for AccountCheck, which is given these others. The rules
// are the serial engine's, but nobody is told what is broken: who is not told that a block keeps
// them asks SpentRules. One for each thread. Memory: 20 bytes for each input of a block. Format:
// doc/formats/spill.md.
#pragma once

#include "chain/header_node.h"
#include "consensus/block_spend.h"
#include "consensus/params.h"
#include "join/pair_collector.h"
#include "join/stand_in_tx.h"
#include "join/value_record.h"

namespace ibd {

/** What an input looks like that spends a coin which is missing: then little has to be known of the
 *  coin to tell how the input's signature operations count. */
enum class SpendShape : uint8_t {
    kOther,      //!< as much as may be is assumed, whatever the coin
    kKey,        //!< of a key hash: none, unless the coin is of a script hash
    kWitnessKey, //!< likewise in a witness, or a signature alone: one at most, unless the coin is
                 //!< of a script hash in a witness
};

class BlockAccount final : public MetSink<ValuedRecord> {
public:
    /** `pairs`: is told of all pairs, too; null: nobody. All must outlive it. */
    BlockAccount(const ConsensusParams& params, ValueCollector& values, PairCollector* pairs)
        : m_params(params), m_values(values), m_pairs(pairs)
    {
    }

    /** A block that passed CheckBlock is about to be given to the table; valid until End().
     *  `legacy_sigops`: LegacySigOpCount() of all of it. */
    void Begin(const HeaderNode& node, std::span<const TxView> txs, int64_t legacy_sigops);
    /** Of the block at hand, or of another one that waited for what this one makes. */
    bool Met(const ValuedRecord& made, const JoinRecord& spent) override;
    /** The table has taken all of it. False: what is left could not be written. */
    bool End();

private:
    /** A coin that the block spends. */
    struct Known {
        uint64_t coin = 0;   //!< MadeCoin::Number()
        uint32_t height = 0; //!< where it was made
        bool there = false;
    };
    /** Bytes that are written over for each block: room is made once for all of it. */
    struct Scratch {
        Bytes bytes;
        size_t used = 0;

        void Begin(size_t room)
        {
            if (bytes.size() < room) bytes.resize(room);
            used = 0;
        }
        uint8_t* Next() { return bytes.data() + used; }
        void End(const uint8_t* end) { used = static_cast<size_t>(end - bytes.data()); }
        ByteSpan Written() const { return ByteSpan(bytes).first(used); }
    };
    struct Costs {
        int64_t script_hash = 0, witness_script_hash = 0;
    };

    void Take(const TxView& tx, std::span<const Known> known);
    void TakeKnown(const Known& known, const InputView& input, Amount& sum);
    void Settle(Amount value_in, Amount value_out);
    void Leave(const TxView& tx, std::span<const Known> known, Amount worth);
    void PutBack(const TxView& tx, std::span<const Known> known);
    void TakeCosts();
    void Encode();
    bool Write();

    const ConsensusParams& m_params;
    ValueCollector& m_values;
    PairCollector* const m_pairs;
    // Of the block at hand.
    const HeaderNode* m_node = nullptr;
    uint32_t m_height = 0;
    std::span<const TxView> m_txs;
    ScriptFlags m_flags = 0;
    std::vector<Known> m_known; //!< by number of the input, the coinbase's too
    bool m_broken = false;      //!< or so it seems
    bool m_written = true;
    Amount m_fees = 0;        //!< of transactions all of whose coins were known
    int64_t m_sigop_cost = 0; //!< but for spends of coins that are missing
    int64_t m_most_more = 0;  //!< of these
    uint32_t m_missing = 0;
    size_t m_txs_left = 0;
    Scratch m_left;   //!< transactions that lack coins
    Scratch m_shapes; //!< SpendShape of each input whose coin is missing
    std::vector<uint32_t> m_sequences;
    std::vector<Costs> m_costs; //!< of spends of missing coins, if need be
    Bytes m_encoded;
};

/** One for each thread. Memory: views of the coins of a transaction. */
class AccountCheck {
public:
    explicit AccountCheck(const ConsensusParams& params) : m_params(params) {}

    /** Whether the block keeps the rules about coins but scripts. `coins`: those that were missing,
     *  in the order of the inputs. False says nothing. Bad data: it is no account, or wants other
     *  coins. */
    Result<bool> KeepsRules(const HeaderNode& node, ByteSpan account,
                            std::span<const ValueRecord> coins);

private:
    struct Tx {
        uint32_t missing = 0;
        bool locked = false;
        // Of what the coins that are not missing are worth and of the outputs, what one is more.
        Amount known = 0;
        Amount value_out = 0;
    };
    bool Decode(ByteSpan account);
    bool Looks(std::span<const ValueRecord> coins) const;
    bool ReadTxs(Reader& in);
    int64_t CostOf(const HeaderNode& node, std::span<const ValueRecord> coins) const;
    bool AddAll(BlockSpendRules& rules, int height, std::span<const ValueRecord> coins);
    static bool AddFee(const Tx& tx, int height, std::span<const ValueRecord> coins, Amount& fees);
    bool AddLocked(BlockSpendRules& rules, const Tx& tx, std::span<const uint32_t> sequences,
                   std::span<const ValueRecord> coins);

    const ConsensusParams& m_params;
    bool m_broken = false;
    uint32_t m_missing = 0;
    Amount m_coinbase_value = 0;
    Amount m_fees = 0;
    int64_t m_sigop_cost = 0;
    std::vector<Tx> m_txs;
    std::vector<uint32_t> m_sequences;
    ByteSpan m_shapes; //!< none where there are costs
    std::vector<std::array<int64_t, 2>> m_costs;
    std::vector<SpentCoin> m_coins;
    StandInTx m_stand_in;
};

} // namespace ibd
