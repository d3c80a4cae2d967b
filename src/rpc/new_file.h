// Where calls that write a file put it. See chain_context.h.
#pragma once

#include "rpc/chain_context.h"
#include "rpc/unfinished_file.h"

namespace ibd {

/** A file that a call makes: written under a name of its own until it is complete. */
struct NewFile {
    Path path;
    Path incomplete;

    /** A relative `name` is below the data directory. Throws RpcError (-8) if something is there.
     */
    NewFile(const ChainContext& context, const std::string& name)
        : path(context.net_dir / name), incomplete(path)
    {
        incomplete += ".incomplete";
        if (!context.env.Exists(path)) return;
        ThrowRpc(RpcCode::kInvalidParameter,
                 "{} already exists. If you are sure this is what you want, move it out of the way "
                 "first",
                 path.string());
    }
};

/** The name under which a call writes. Throws RpcError (-8) if it is taken or cannot be made. */
inline UnfinishedFile ClaimUnfinished(const ChainContext& context, const Path& incomplete)
{
    auto claimed = UnfinishedFile::Claim(context.env, context.net_dir, incomplete);
    if (claimed) return std::move(*claimed);
    ThrowRpc(RpcCode::kInvalidParameter, "Couldn't open file {} for writing: {}",
             incomplete.string(), claimed.Message());
}

} // namespace ibd
