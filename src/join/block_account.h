// BlockAccount: the part of a block's rules (scripts excepted) that a join cannot check while it
// reads the block. Spends whose coins are found in the join's table are checked at once. The
// account holds the rest: for each transaction with missing coins their number, sums and relative
// locks; for the block fees, reward and signature operations. AccountCheck checks it once the
// missing coins are known. The rules are the serial engine's. An account can only prove a block
// valid; otherwise SpentRules decides and names the rule. One for each thread. Memory: 20 bytes for
// each input of a block. Format: doc/formats/spill.md.
#pragma once

#include "chain/header_node.h"
#include "consensus/block_spend.h"
#include "consensus/params.h"
#include "join/pair_collector.h"
#include "join/stand_in_tx.h"
#include "join/value_record.h"

namespace ibd {

/** The form of an input whose coin is missing. With it, the kind of the coin's script suffices to
 *  count the input's signature operations. */
enum class SpendShape : uint8_t {
    kOther,      //!< any coin: the greatest possible number is assumed
    kKey,        //!< spends a key hash: no sigops, unless the coin is a script hash
    kWitnessKey, //!< the same in a witness, or a signature alone: at most one sigop, unless the
                 //!< coin is a witness script hash
};

class BlockAccount final : public MetSink<ValuedRecord> {
public:
    /** `pairs` also receives each matched pair; may be null. All arguments must outlive it. */
    BlockAccount(const ConsensusParams& params, ValueCollector& values, PairCollector* pairs)
        : m_params(params), m_values(values), m_pairs(pairs)
    {
    }

    /** Starts a block that passed CheckBlock, before its records enter the table. The arguments
     *  stay valid until End(). `legacy_sigops`: LegacySigOpCount() of the whole block. */
    void Begin(const HeaderNode& node, std::span<const TxView> txs, int64_t legacy_sigops);
    /** A coin was matched with its spend: in the current block, or in an earlier one that waited
     *  for the coin. */
    bool Met(const ValuedRecord& made, const JoinRecord& spent) override;
    /** All records of the block are in the table. False: the account could not be written. */
    bool End();

private:
    /** A coin that the block spends. */
    struct Known {
        uint64_t coin = 0;   //!< MadeCoin::Number()
        uint32_t height = 0; //!< where it was made
        bool there = false;
    };
    /** A buffer that is overwritten for each block; its memory is reserved once. */
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
    // The current block.
    const HeaderNode* m_node = nullptr;
    uint32_t m_height = 0;
    std::span<const TxView> m_txs;
    ScriptFlags m_flags = 0;
    std::vector<Known> m_known; //!< by number of the input, the coinbase's included
    bool m_broken = false;      //!< the known coins break a rule, or may do so
    bool m_written = true;
    Amount m_fees = 0;        //!< fees of transactions with all coins known
    int64_t m_sigop_cost = 0; //!< sigop cost without spends of missing coins
    int64_t m_most_more = 0;  //!< bound for spends of missing coins
    uint32_t m_missing = 0;
    size_t m_txs_left = 0;
    Scratch m_left;   //!< transactions that lack coins
    Scratch m_shapes; //!< SpendShape of each input whose coin is missing
    std::vector<uint32_t> m_sequences;
    std::vector<Costs> m_costs; //!< costs of spends of missing coins, if m_most_more is too large
    Bytes m_encoded;
};

/** One for each thread. Memory: views of the coins of a transaction. */
class AccountCheck {
public:
    explicit AccountCheck(const ConsensusParams& params) : m_params(params) {}

    /** Whether the block keeps the rules about coins, scripts excepted. `coins`: the missing ones,
     *  in the order of the inputs. False proves nothing. Bad data: the account is malformed or does
     *  not fit the coins. */
    Result<bool> KeepsRules(const HeaderNode& node, ByteSpan account,
                            std::span<const ValueRecord> coins);

private:
    struct Tx {
        uint32_t missing = 0;
        bool locked = false;
        // Value of the known coins minus value of the outputs, as two numbers: one of them is 0.
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
    ByteSpan m_shapes; //!< empty where there are costs
    std::vector<std::array<int64_t, 2>> m_costs;
    std::vector<SpentCoin> m_coins;
    StandInTx m_stand_in;
};

} // namespace ibd
