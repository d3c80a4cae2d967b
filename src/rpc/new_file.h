// Files written by calls. See chain_context.h.
#pragma once

#include "rpc/chain_context.h"
#include "rpc/unfinished_file.h"

namespace ibd {

/** A file made by a call: written under a temporary name until it is complete. */
struct NewFile {
    /** Whether an existing named pipe is accepted; data is then written directly into it. */
    enum class Pipes { kRefused, kTaken };

    Path path;
    Path incomplete;
    bool is_pipe = false; //!< `incomplete` is `path`

    /** A relative `name` is below the data directory. Throws RpcError (-8) if the path exists. */
    NewFile(const ChainContext& context, const std::string& name, Pipes pipes = Pipes::kRefused)
        : path(name.empty() ? context.net_dir : context.net_dir / name), incomplete(path)
    {
        const auto kind = context.env.KindOf(path);
        const bool pipe = kind && (*kind == FileKind::kNamedPipe || *kind == FileKind::kPipe);
        is_pipe = pipe && pipes == Pipes::kTaken;
        if (is_pipe) return;
        incomplete += ".incomplete";
        if (!context.env.Exists(path)) return;
        ThrowRpc(RpcCode::kInvalidParameter,
                 "{} already exists. If you are sure this is what you want, move it out of the way "
                 "first",
                 path.string());
    }
};

/** The temporary name of a call's file. Throws RpcError (-8) if it exists or cannot be created. */
inline UnfinishedFile ClaimUnfinished(const ChainContext& context, const Path& incomplete)
{
    auto claimed = UnfinishedFile::Claim(context.env, context.net_dir, incomplete);
    if (claimed) return std::move(*claimed);
    const std::string name = incomplete.string();
    if (context.env.Exists(incomplete)) { // Core would overwrite it
        ThrowRpc(RpcCode::kInvalidParameter, "Couldn't open file {} for writing: {}", name,
                 claimed.Message());
    }
    context.log.Error("{}", claimed.Message());
    ThrowRpc(RpcCode::kInvalidParameter, "Couldn't open file {} for writing.", name);
}

} // namespace ibd
