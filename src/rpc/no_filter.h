// Errors about missing block filters, for calls and REST.
#pragma once

#include "rpc/chain_context.h"

namespace ibd {

inline constexpr const char* kBasicFilter = "basic"; //!< the only type

/** Whether the block was ever in the active chain, so that it has a filter. */
inline bool WasConnected(const ChainContext& context, const HeaderNode& node)
{
    const ChainReader chain = context.Headers().Read();
    return node.IsValid(kValidScripts);
}

/** The reason why there is no filter. `indexed`: the index is at the tip. */
inline RpcError NoFilter(bool was_connected, bool indexed)
{
    if (!was_connected) {
        return {RpcCode::kInvalidAddressOrKey,
                "Filter not found. Block was not connected to active chain."};
    }
    if (!indexed) {
        return {RpcCode::kMisc,
                "Filter not found. Block filters are still in the process of being indexed."};
    }
    return {RpcCode::kInternalError,
            "Filter not found. This error is unexpected and indicates index corruption."};
}

/** Damaged records count as missing, as in Core; the log has the cause. */
template <typename T>
std::optional<T> LogIfUnreadable(const ChainContext& context, Found<T> found)
{
    if (found) return std::move(*found);
    context.log.Error("{}", found.Message());
    return std::nullopt;
}

} // namespace ibd
