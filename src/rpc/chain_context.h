// ChainContext: what the calls about the chain work on, and the look-ups that many of them share.
// Owned by the node; its members are set before the server's warm-up ends.
#pragma once

#include "rpc/error.h"
#include "rpc/method.h"
#include "rpc/tip_waiters.h"
#include "script/address.h"
#include "util/overall_progress.h"
#include "validation/chain_thread.h"
#include "validation/coins_walk.h"

#include <atomic>

namespace ibd {

/** Turns a failure of the machine into an RPC error of code -20. */
template <typename T>
T OrThrow(Result<T> result)
{
    if (!result.Ok()) throw RpcError{RpcCode::kDatabase, result.Message()};
    if constexpr (!std::is_void_v<T>) return std::move(result).Value();
}

struct ChainContext {
    Env& env;
    TipWaiters& waiters;
    NodeWarnings& warnings;
    const std::atomic<bool>& interrupt;
    /** Null while the node starts, set by it while callers run. */
    std::atomic<ChainManager*> chain = nullptr;
    /** Set before `chain`; null in tests, where the caller's thread changes the chain. */
    std::atomic<ChainThread*> chain_thread = nullptr;
    /** Returns when what happened to the chain so far was told to whom it concerns. */
    std::function<void()> drain_events = {};
    /** Set by the node when -reindex and -loadblock are over. */
    std::atomic<bool> import_done = false;
    Path net_dir = {}; //!< relative paths of files to write are below it
    size_t coins_db_cache_bytes = 0;
    size_t coins_cache_bytes = 0;
    std::string user_agent = {};      //!< as peers and getnetworkinfo see it
    bool deprecated_warnings = false; //!< -deprecatedrpc=warnings: one string, not an array
    /** Told of failures of the machine that leave the chain unusable: the node stops. */
    std::function<void(const Error&)> fatal = {};
    /** While undo data is missing and being made: a sentence about it, else nothing. */
    std::function<std::string()> undo_state = {};
    /** Of the work that leads to a chainstate; null in tests. */
    const OverallProgress* overall = nullptr;

    /** -28 until the block index is loaded. There may be no tip yet. */
    ChainManager& Headers() const;
    /** -28 until there is a tip, as of all that follow. */
    ChainManager& Chain() const;
    /** Headers and active chain as they are now; there is a tip. Copy and let go: no disk, no other
     *  lock. */
    ChainReader Read() const { return Chain().Read(); }
    TipInfo Current() const { return Chain().Current(); }
    /** The value of what changes the chain; an error is fatal to the node. */
    template <typename T>
    T OrFatal(Result<T> result) const
    {
        if (!result.Ok() && fatal) fatal(result.GetError());
        return OrThrow(std::move(result));
    }
    /** Runs `task` on the thread that changes the chain and waits for what it returns; it must not
     *  throw. */
    template <typename Task>
    auto OnChainThread(Task task) const
    {
        if (ChainThread* const thread = chain_thread) return thread->Run(std::move(task));
        return task();
    }
    /** A walk over the coins at `target`; null: at the tip. */
    std::unique_ptr<CoinsWalk> WalkCoins(const HeaderNode* target) const;
    /** Waits until the tip meets the condition, or for so long (0: no limit), or the node stops. */
    TipInfo WaitForTip(const TipWaiters::Condition& condition,
                       std::chrono::milliseconds timeout) const;
    AddressPrefixes Prefixes() const;
    /** For a member "warnings". */
    UniValue Warnings() const;
    /** What a call that lacks undo data adds to its error, a sentence after a full stop: up to
     *  which height it is there; empty if nobody makes it. */
    std::string UndoNote() const;
};

/** A block and the coins that it spent. */
struct BlockData {
    Bytes raw;
    BlockView view; //!< of raw
    std::optional<BlockUndo> undo;
};

// Errors in Core's words.

/** -5 "Block not found". */
const HeaderNode& FindBlock(const ChainReader& chain, const BlockHash& hash);
/** A height of the active chain or a block hash. */
const HeaderNode& FindBlockByHashOrHeight(const ChainReader& chain, const UniValue& value);
enum class UndoUse {
    kNone,     //!< not looked at: a block can be shown without
    kIfThere,  //!< -32603 if it should be there and cannot be read
    kRequired, //!< -1 if it is not there, or cannot be read
};

/** Reads from disk, so not with a ChainReader at hand. -1 when the block is not there. */
std::unique_ptr<BlockData> ReadBlockData(const BlockStore& blocks, const StoredBlock& block,
                                         UndoUse use);
/** -1 with UndoNote() when the block's undo data is yet to be made: no caller is to take what is
 *  left out without it for all there is. */
void RequireUndoIfMade(const ChainContext& context, const StoredBlock& block);
/** Blocks on top of and with `node`; -1 off the active chain. */
int Confirmations(const ChainReader& chain, const HeaderNode& node);

} // namespace ibd
