// FullSetup: a generated chain that the serial engine has validated, and the same chain on another
// disk with undo data, where the booster validates it in full - with any further blocks on top and
// with any undo data.
#pragma once

#include "draft_block.h"
#include "join/undo_rebuild.h"
#include "sim/chain.h"
#include "swiftsync/accepted.h"
#include "validation/fixture.h"
#include "validation/script_threads.h"

#include <functional>
#include <map>

namespace ibd::test {

using Coins = std::map<OutPoint, Coin>;

/** Applies a block without checking it, and returns its honest undo data. An input without a coin
 *  is given an invented one. Coins made later in the block are found too. */
BlockUndo ApplyBlock(ByteSpan raw, int height, Coins& coins);

/** Wants no undo data: only the checks. */
class NoConsumer final : public UndoConsumer {
public:
    Result<> Take(const HeaderNode&, const UndoRecord&) override { return {}; }
    Result<> End() override { return {}; }
};

/** The serial engine's verdict on blocks on top of the chain. */
struct SerialVerdict {
    bool valid = false;
    std::string reason;
};

class FullSetup {
public:
    struct Options {
        uint64_t seed = 1;
        int blocks = 125;
        int outputs_per_block = 12;
        bool signed_spends = false;
    };
    explicit FullSetup(const Options& options);

    const ChainParams& Params() const { return m_params; }
    int Height() const { return static_cast<int>(m_blocks.size()); }
    /** The chain's blocks, from height 1. */
    const std::vector<Bytes>& Blocks() const { return m_blocks; }
    BlockHash TipHash() const { return m_tip->hash; }
    HeaderNode& NodeAt(int height) { return *m_tip->Ancestor(height); }
    BlockStore& Store() { return *m_store; }
    /** Coins at the tip. */
    const Coins& TipCoins() const { return m_coins; }
    /** The next block of the generator, valid on the tip; the same at each call. */
    DraftBlock NextDraft();
    DraftBlock DraftAfterNext();
    /** Undo data of a block of the chain. */
    BlockUndo UndoAt(int height) const { return m_undo[static_cast<size_t>(height) - 1]; }
    /** Writes undo data with a right checksum and sets the block's position to it. */
    void PutUndo(HeaderNode& node, const BlockUndo& undo) { PutUndoBytes(node, undo.Encode()); }
    void PutUndoBytes(HeaderNode& node, ByteSpan undo);

    SerialVerdict Serial(const std::vector<Bytes>& on_top);
    /** Appends the blocks to the chain, with matching hints and with honest undo data unless
     *  `change` alters it, and has the booster validate them. If `tune` sets coins_supplied, the
     *  same coins come with the blocks. */
    Result<Verdict> Full(const std::vector<Bytes>& on_top,
                         const std::function<void(std::vector<BlockUndo>&)>& change = nullptr,
                         std::function<void(BoosterOptions&)> tune = nullptr);
    /** Puts the blocks on top of the chain and makes the undo data of all from blocks alone. */
    Result<JoinVerdict> Rebuild(const std::vector<Bytes>& on_top, const UndoOptions& options,
                                UndoConsumer& consumer)
    {
        return RebuildIn(*m_env, on_top, options, consumer);
    }
    /** Likewise with other files than the blocks in another environment. */
    Result<JoinVerdict> RebuildIn(Env& env, const std::vector<Bytes>& on_top,
                                  const UndoOptions& options, UndoConsumer& consumer);
    /** Likewise of the chain's own blocks from UndoOptions::first_height on, by RunLast(). */
    Result<JoinVerdict> RebuildLast(const UndoOptions& options, UndoConsumer& consumer,
                                    std::optional<FoundCoins> found = {});
    /** The chain's blocks are folded: the coins that RebuildLast() with these options wants. */
    std::optional<FoundCoins> FindWhileFolding(const UndoOptions& options);
    /** Leaves the files that a join of the chain keeps for a rebuild with these options. */
    Result<JoinVerdict> KeepPairs(const UndoOptions& options);
    UndoOptions RebuildOptions(UndoChecks checks) const;
    /** The tip's height, so that blocks on top are verified without batches, or more. */
    int AnyKnownHeight() const { return Height() + static_cast<int>(TestRng().Below(2)) * 100; }
    /** Coins after the blocks of the last Full(), by the naive map. */
    const Coins& Expected() const { return m_expected; }
    /** The chainstate that the booster made. */
    Coins Published() const;
    bool HasPublished() const { return std::filesystem::exists(Chainstate()); }
    /** The serial engine's coins at the tip. */
    Coins SerialCoins();
    /** Removes the finished chainstate and the booster's files. */
    void Reset();
    Path Booster() const { return m_dir.Get() / "booster"; }
    Env& GetEnv() { return *m_env; }

private:
    Path Chainstate() const { return m_dir.Get() / "chainstate"; }
    Path HintsPath() const { return m_dir.Get() / "hints"; }
    HeaderNode* AddBlock(ByteSpan raw, const BlockUndo& undo);
    void WriteHints(const std::vector<Bytes>& on_top, const BlockHash& tip);

    TempDir m_dir{MemoryFolder()};
    std::unique_ptr<Env> m_env = MakePosixEnv();
    std::unique_ptr<Logger> m_log = MakeNullLogger();
    ChainParams m_params = MakeChainParams(Network::kRegtest);
    sim::Chain m_sim;
    ScriptThreads m_scripts{0};
    Engine m_serial;
    std::vector<Bytes> m_blocks;
    std::vector<BlockUndo> m_undo;
    std::vector<Bytes> m_next; //!< of the generator, two blocks
    Coins m_coins;
    Coins m_expected;
    HeaderTree m_tree{m_params};
    std::unique_ptr<BlockStore> m_store;
    HeaderNode* m_tip = nullptr;
};

} // namespace ibd::test
