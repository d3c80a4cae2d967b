// ChainContext: the data and objects for the calls about the chain, and their shared look-ups.
// Owned by the node, which sets the members before the server's warm-up ends.
#pragma once

#include "booster/coins_walk.h"
#include "jsonrpc/error.h"
#include "jsonrpc/method.h"
#include "keys/address.h"
#include "rpc/tip_waiters.h"
#include "util/overall_progress.h"
#include "validation/chain_thread.h"

#include <atomic>

namespace ibd {

class Indexes;         // index/indexes.h
class SnapshotSession; // booster/snapshot_session.h

/** Turns a failure of the machine into an RPC error with code -20. */
inline void OrThrow(const Result<>& result)
{
    if (!result.Ok()) throw RpcError{RpcCode::kDatabase, result.Message()};
}

template <typename T>
T OrThrow(Result<T> result)
{
    if (!result.Ok()) throw RpcError{RpcCode::kDatabase, result.Message()};
    return std::move(result).Value();
}

struct ChainContext {
    Env& env;
    Logger& log; //!< of calls that take long
    TipWaiters& waiters;
    NodeWarnings& warnings;
    const std::atomic<bool>& interrupt;
    /** Null until the node sets it, while callers may be running. */
    std::atomic<ChainManager*> chain = nullptr;
    /** Set before `chain`; null in tests, which change the chain on the caller's thread. */
    std::atomic<ChainThread*> chain_thread = nullptr;
    /** Calls that need no coins show genesis as the tip: set by the node from the start of a
     *  rebuild until it answers all calls. A client that waits for a height may then call
     *  everything. */
    std::atomic<bool> hides_tip = false;
    /** Null until they are open, and in tests. */
    std::atomic<const Indexes*> indexes = nullptr;
    bool wants_tx_index = false; //!< -txindex, open or not
    /** Returns when all observers have handled the chain's events so far. */
    std::function<void()> drain_events = {};
    /** Set by the node when -reindex and -loadblock are over. */
    std::atomic<bool> import_done = false;
    Path net_dir = {}; //!< base of relative paths for written files
    size_t coins_db_cache_bytes = 0;
    size_t coins_cache_bytes = 0;
    std::string user_agent = {};      //!< as in version messages and getnetworkinfo
    bool deprecated_warnings = false; //!< -deprecatedrpc=warnings: one string, not an array
    /** Receives failures of the machine that make the chain unusable: the node stops. */
    std::function<void(const Error&)> fatal = {};
    /** A sentence while missing undo data is being made; else empty. */
    std::function<std::string()> undo_state = {};
    /** Progress of the work that builds the chainstate; null in tests. */
    const OverallProgress* overall = nullptr;
    /** Null in tests. */
    SnapshotSession* snapshots = nullptr;

    /** -28 until the block index is loaded. There may be no tip yet. */
    ChainManager& Headers() const;
    /** -28 until there is a tip; the same for the functions below. */
    ChainManager& Chain() const;
    /** Locks headers and active chain; there is a tip. Copy the data and release the lock: no disk
     *  access and no other lock while it is held. */
    ChainReader Read() const { return Chain().Read(); }
    TipInfo Current() const { return Chain().Current(); }
    /** The value of an operation that changes the chain; an error is fatal to the node. */
    template <typename T>
    T OrFatal(Result<T>&& result) const
    {
        if (!result.Ok() && fatal) fatal(result.GetError());
        return OrThrow(std::move(result));
    }
    /** Runs `task` on the thread that changes the chain and returns its result; it must not throw.
     */
    template <typename Task>
    auto OnChainThread(Task task) const
    {
        if (ChainThread* const thread = chain_thread) return thread->Run(std::move(task));
        return task();
    }
    /** Throws RpcError (-1) if blocks above `target`, whose undo data is needed, are pruned. */
    void RequireUnpruned(const HeaderNode& target) const;
    /** A walk, ready for Next(), over the coins at `target`; null: at the tip. */
    std::unique_ptr<CoinsWalk> WalkCoins(const HeaderNode* target) const;
    /** Waits until the tip meets the condition, the time is over (0: no limit), or the node stops.
     */
    TipInfo WaitForTip(const TipWaiters::Condition& condition,
                       std::chrono::milliseconds timeout) const;
    AddressPrefixes Prefixes() const;
    /** The value of a member "warnings". */
    UniValue Warnings() const;
    /** A sentence, after a full stop, for the error of a call without undo data: the height up to
     *  which it exists; empty if none is being made. */
    std::string UndoNote() const;
};

/** The tip for calls that need no coins; genesis without a chainstate, or if the tip is hidden. */
const HeaderNode& TipOrGenesis(const ChainContext& context);

/** A block and the coins that it spent. */
struct BlockData {
    UnzeroedBytes raw;
    BlockView view; //!< of raw
    std::optional<BlockUndo> undo;
};

// Errors in Core's words.

/** -5 "Block not found". */
const HeaderNode& FindBlock(const ChainReader& chain, const BlockHash& hash);
/** A height of the active chain or a block hash. */
const HeaderNode& FindBlockByHashOrHeight(const ChainReader& chain, const UniValue& value);
enum class UndoUse {
    kNone,     //!< not read
    kIfThere,  //!< -32603 if it should exist and is unreadable
    kRequired, //!< -1 if it does not exist, or is unreadable
};

/** Reads from disk, so do not hold a ChainReader. -1 if the block is not stored. */
std::unique_ptr<BlockData> ReadBlockData(const BlockStore& blocks, const StoredBlock& block,
                                         UndoUse use);
/** Throws -1 with UndoNote() if the block's undo data is still being made, so that an incomplete
 *  answer is not mistaken for a complete one. */
void RequireUndoIfMade(const ChainContext& context, const StoredBlock& block);
/** Number of blocks from `node` up, inclusive; -1 off the active chain. */
int Confirmations(const ChainReader& chain, const HeaderNode& node);

} // namespace ibd
