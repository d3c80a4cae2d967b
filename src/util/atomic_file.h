// Removal of files that may exist, also of the file that WriteFileAtomically() (env.h) writes first
// and that a crash may leave.
#pragma once

#include "util/env.h"

namespace ibd {

inline constexpr const char* kUnwrittenEnding = ".new"; //!< after its name; env.cpp writes it

/** Removes the file if it exists; returns whether it did. Does not sync the directory. */
Result<bool> RemoveIfThere(Env& env, const Path& file);

/** Removes what a crash left of a write of the file, then the file, if they exist. Returns whether
 *  one did. Does not sync the directory. */
Result<bool> RemoveWithUnwritten(Env& env, const Path& file);

} // namespace ibd
