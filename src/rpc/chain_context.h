// ChainContext: what the calls about the chain work on, and the look-ups that many of them share.
// Owned by the node; its members are set before the server's warm-up ends.
#pragma once

#include "rpc/error.h"
#include "rpc/events.h"
#include "rpc/method.h"
#include "script/address.h"

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
    ChainEvents& events;
    const std::atomic<bool>& interrupt;
    /** Null while the node starts, set by it while callers run. */
    std::atomic<ChainManager*> chain = nullptr;
    /** Set by the node when -reindex and -loadblock are over. */
    std::atomic<bool> import_done = false;
    Path net_dir = {}; //!< relative paths of files to write are below it
    size_t coins_db_cache_bytes = 0;
    size_t coins_cache_bytes = 0;
    std::string user_agent = {};      //!< as peers and getnetworkinfo see it
    bool deprecated_warnings = false; //!< -deprecatedrpc=warnings: one string, not an array
    /** Told of failures of the machine that leave the chain unusable: the node stops. */
    std::function<void(const Error&)> fatal = {};

    /** -28 until there is a tip. */
    ChainManager& Chain() const;
    /** The value of what changes the chain; an error is fatal to the node. */
    template <typename T>
    T OrFatal(Result<T> result) const
    {
        if (!result.Ok() && fatal) fatal(result.GetError());
        return OrThrow(std::move(result));
    }
    AddressPrefixes Prefixes() const;
    /** For a member "warnings". */
    UniValue Warnings() const { return events.Warnings().Json(deprecated_warnings); }
};

/** A block and its coins spent, read under the lock and independent of it. */
struct BlockData {
    Bytes raw;
    BlockView view; //!< of raw
    std::optional<BlockUndo> undo;
};

// These need the manager's lock. Errors in Core's words.

/** -5 "Block not found". */
HeaderNode& FindBlock(ChainManager& chain, const BlockHash& hash);
/** A height of the active chain or a block hash. */
HeaderNode& FindBlockByHashOrHeight(ChainManager& chain, const UniValue& value);
/** -1 when the block or, with `need_undo`, its undo data is not there; without, undo is read if
 *  it is. */
std::unique_ptr<BlockData> ReadBlockData(ChainManager& chain, const HeaderNode& node,
                                         bool need_undo);
/** Blocks on top of and with `node`; -1 off the active chain. */
int Confirmations(const ChainManager& chain, const HeaderNode& node);

} // namespace ibd
