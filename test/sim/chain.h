// Chain: makes one valid block after the other, deterministically from a seed, on the genesis block
// of the given network (regtest rules: constant trivial proof of work). Every block keeps every
// consensus rule with all buried deployments active from height 1: BIP34 heights, witness
// commitment, maturity, finality, relative locks, amounts, scripts, limits of weight and sigops.
// Spends are valid with both forms of scripts (script_book.h), so a fully validating node accepts
// the chain.
//
// A value: a copy continues independently, and after Reseed() makes another branch. One thread.
// Memory is about 80 bytes for each coin that will be spent and 2 bits for each output.
#pragma once

#include "consensus/params.h"
#include "primitives/transaction.h"
#include "sim/hints_model.h"
#include "sim/script_book.h"
#include "sim/truth.h"

#include <deque>
#include <memory>
#include <optional>

namespace ibd::sim {

/** Two blocks with the same coinbase, as before BIP30. Both are otherwise empty and come before
 *  the first halving, so bip34 must be off up to `repeat`. With `overwrite` the first coin is
 *  unspent when the second replaces it, which only params with a matching bip30_exceptions entry
 *  allow. Without, the first is spent in between (repeat >= first + 110), which BIP30 allows. */
struct RepeatedCoinbase {
    int first = 0;
    int repeat = 0;
    bool overwrite = false;
};

/** More outputs and their spends would not fit into a block. */
inline constexpr int kMostOutputsPerBlock = 7'000;

struct ChainOptions {
    uint64_t seed = 1;
    /** Height up to which coins are kept for spending; more blocks may follow, but coins due above
     *  are never spent. */
    int blocks = 400;
    /** Mean number of outputs in a block after the first hundred, 1 to kMostOutputsPerBlock. */
    int outputs_per_block = 100;
    bool signed_spends = false;
    /** Transactions have the shapes of HintsModel, and the same outputs stay unspent. Only then are
     *  hints of the chain as large as mainnet's. */
    bool like_mainnet = false;
    std::optional<RepeatedCoinbase> repeated_coinbase;
    /** The first input of each transaction of this block fails its script; all else is valid, so
     *  that the chain passes where scripts are not run. 0: no such block. */
    int bad_script_height = 0;
};

struct SimBlock {
    int height = 0;
    BlockHash hash;
    Bytes bytes;
};

/** Counts since genesis. */
struct ChainStats {
    uint64_t txs = 0, inputs = 0, bytes = 0;
    uint64_t spent_same_block = 0; //!< coins spent in the block that made them
    uint64_t spent_within_10 = 0;  //!< by age in blocks, the former included
    uint64_t spent_within_100 = 0; //!< likewise
    uint64_t overwritten = 0;      //!< outputs lost under BIP30
};

class Chain {
public:
    Chain(const ChainParams& params, const ChainOptions& options);

    /** Height of the last block; 0 after construction, for genesis. */
    int Height() const { return m_height; }
    const BlockHash& TipHash() const { return m_tip; }
    const Truth& GetTruth() const { return m_truth; }
    const ChainStats& Stats() const { return m_stats; }

    SimBlock Genesis() const;
    /** Makes the next block. */
    SimBlock Next();
    /** Makes the next block without transactions but the coinbase, e.g. for a stale branch from a
     *  copy. */
    SimBlock NextEmpty();
    /** Takes other chances from here on. */
    void Reseed(uint64_t seed) { m_rng = Rng(seed); }

private:
    /** An output that will be spent. */
    struct Coin {
        Txid txid;
        uint32_t vout = 0;
        Amount value = 0;
        uint64_t number = 0; //!< in Truth
        int height = 0;
        uint16_t script = 0;
        bool coinbase = false;
    };
    struct PlannedOutput;
    struct Draft;

    SimBlock Make(bool with_transactions);
    void BuildTransactions(Draft& draft);
    void BuildModelled(Draft& draft);
    bool HasRoom(const Draft& draft) const;
    /** `lifetimes`: of its outputs; may be empty. */
    void BuildTransaction(Draft& draft, size_t inputs, size_t outputs,
                          const std::vector<int>* lifetimes = nullptr);
    std::vector<Coin> TakeCoins(size_t count);
    size_t PickDue();
    std::vector<PlannedOutput> PlanOutputs(Draft& draft, size_t count, Amount total,
                                           const std::vector<int>* lifetimes);
    void DrawLocks(MutableTransaction& tx, const std::vector<Coin>& coins);
    void RecordSpends(const std::vector<Coin>& coins);
    void AddOutputs(const Txid& txid, const std::vector<PlannedOutput>& outputs);
    void Schedule(const Coin& coin, int lifetime);
    int DrawLifetime();
    /** Share of coins that are spent before their planned height. */
    int DrawSpentLifetime();
    MutableTransaction BuildCoinbase(Draft& draft, const std::vector<Wtxid>& wtxids);
    void AddCoinbase(Draft& draft);
    bool RepeatsCoinbase() const;
    bool IsPairBlock() const;
    uint32_t NextTime();
    SimBlock Assemble(const Draft& draft);

    const ChainParams* m_params;
    ChainOptions m_options;
    std::shared_ptr<const ScriptBook> m_book;
    Rng m_rng;
    std::optional<HintsModel> m_model; //!< like_mainnet
    int m_height = 0;
    BlockHash m_tip;
    std::deque<uint32_t> m_times;             //!< of the last 11 blocks
    std::deque<std::vector<Coin>> m_calendar; //!< [i]: to be spent in block m_height + 1 + i
    std::vector<Coin> m_due;                  //!< to be spent in the block being made
    std::optional<MutableTransaction> m_first_coinbase; //!< of RepeatedCoinbase
    std::vector<uint16_t> m_pair_scripts;               //!< its scripts in the book
    uint64_t m_first_coinbase_output = 0;
    Truth m_truth;
    ChainStats m_stats;
};

} // namespace ibd::sim
