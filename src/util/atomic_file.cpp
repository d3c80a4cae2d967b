// See atomic_file.h.
#include "util/atomic_file.h"

namespace ibd {

Result<bool> RemoveIfThere(Env& env, const Path& file)
{
    IBD_ASSIGN_OR_RETURN(const bool there, env.IsThere(file));
    if (there) IBD_RETURN_IF_ERROR(env.Remove(file));
    return there;
}

Result<bool> RemoveWithUnwritten(Env& env, const Path& file)
{
    bool removed = false;
    for (const Path& path : {Path(file) += kUnwrittenEnding, file}) {
        IBD_ASSIGN_OR_RETURN(const bool there, RemoveIfThere(env, path));
        removed = removed || there;
    }
    return removed;
}

} // namespace ibd
