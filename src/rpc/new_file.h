// Where calls that write a file put it. See chain_context.h.
#pragma once

#include "rpc/chain_context.h"
#include "rpc/unfinished_file.h"

namespace ibd {

/** A file that a call makes: written under a name of its own until it is complete. */
struct NewFile {
    /** Whether a named pipe that is there will do: what is written goes straight into it. */
    enum class Pipes { kRefused, kTaken };

    Path path;
    Path incomplete;
    bool is_pipe = false; //!< `incomplete` is `path`

    /** A relative `name` is below the data directory. Throws RpcError (-8) if something is there.
     */
    NewFile(const ChainContext& context, const std::string& name, Pipes pipes = Pipes::kRefused)
        : path(context.net_dir / name), incomplete(path)
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

/** The name under which a call writes. Throws RpcError (-8) if it is taken or cannot be made. */
inline UnfinishedFile ClaimUnfinished(const ChainContext& context, const Path& incomplete)
{
    auto claimed = UnfinishedFile::Claim(context.env, context.net_dir, incomplete);
    if (claimed) return std::move(*claimed);
    ThrowRpc(RpcCode::kInvalidParameter, "Couldn't open file {} for writing: {}",
             incomplete.string(), claimed.Message());
}

} // namespace ibd
