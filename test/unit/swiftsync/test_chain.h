// TestChain: a small random chain from a seed, with the coins a naive map says are left. Regtest
// rules but BIP34 from height 40 only, and two pairs of equal coinbases of which the earlier is
// overwritten (BIP30). No proof of work, no signatures: the booster looks at neither.
#pragma once

#include "chain/header_tree.h"
#include "hints/hints_writer.h"
#include "sim/rng.h"
#include "storage/block_store.h"
#include "support/must.h"
#include "support/temp_dir.h"
#include "swiftsync/engine.h"

#include <map>

namespace ibd::test {

struct TestOutput {
    bool spendable = false;
    bool overwritten = false;
    bool unspent = false; //!< at the tip
};

struct TestChainOptions {
    uint32_t blocks = 60;
    uint32_t txs_per_block = 6; //!< at most
    bool bip30_pairs = true;
    /** 0, or the height of a block that ends in a transaction that spends the only output of
     *  another one in it, and in that other one: before it or, against the rules, after it. */
    uint32_t chained_at = 0;
    bool spent_before_made = false;
};

/** Chainstate key without 'C' -> chainstate value. */
using CoinMap = std::map<Bytes, Bytes>;

class TestChain {
public:
    TestChain(uint64_t seed, const TestChainOptions& options);

    uint32_t Height() const { return static_cast<uint32_t>(m_raw.size()); }
    const ChainParams& Params() const { return m_params; }
    ChainParams& Params() { return m_params; } //!< for runs under other rules
    HeaderTree& Tree() { return *m_tree; }
    const HeaderNode& Tip() const { return *m_tree->BestHeader(); }
    ByteSpan Raw(uint32_t height) const { return m_raw[height - 1]; }
    const CoinMap& Coins() const { return m_coins; }
    /** Outputs of the block at `height` in block order. */
    std::vector<TestOutput>& Outputs(uint32_t height) { return m_outputs[height - 1]; }

    /** Stores all blocks in random order over several files, with repeats, stale blocks and
     *  garbage between them, and points the header tree at them. */
    std::unique_ptr<BlockStore> Store(Env& env, Logger& log, const Path& directory);

    /** Which of the block's counted outputs are unspent, by Outputs(). */
    struct BlockSays {
        uint32_t outputs = 0;
        std::vector<uint32_t> unspent;
    };
    BlockSays HintsOf(uint32_t height, HintsCounting counting) const;
    /** Writes hints in either format from Outputs(). */
    void WriteHints(Env& env, const Path& path, HintsCounting counting) const;

private:
    struct Live {
        OutPoint outpoint;
        Amount value = 0;
        Bytes script;
        uint32_t height = 0;
        bool coinbase = false;
        size_t index = 0; //!< in the block's outputs
    };

    void AddBlock(const TestChainOptions& options);
    Bytes RandomScript();
    Bytes MakeCoinbase(uint32_t height);
    Bytes SomeBytes(size_t n);
    Bytes MakeSpend();
    void AddChained(std::vector<Bytes>& txs, bool spent_before_made);
    void TakeOutputs(ByteSpan raw_tx, bool coinbase);
    void EraseLive(const OutPoint& outpoint);
    Live TakeLive(size_t i);
    size_t Below(size_t n) { return m_rng() % n; }

    sim::Rng m_rng;
    ChainParams m_params;
    std::unique_ptr<HeaderTree> m_tree;
    std::vector<Bytes> m_raw;
    std::vector<std::vector<TestOutput>> m_outputs;
    std::vector<Live> m_live;
    std::map<uint32_t, Bytes> m_coinbases; //!< that a later block repeats
    CoinMap m_coins;
};

/** All coins of a finished chainstate, checked to be at `best`. */
CoinMap ReadChainstate(const Path& directory, const BlockHash& best);

} // namespace ibd::test
