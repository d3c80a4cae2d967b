// The file that WriteFileAtomically() (env.h) writes first, and that a crash may leave.
#pragma once

#include "util/env.h"

namespace ibd {

inline constexpr const char* kUnwrittenEnding = ".new"; //!< after its name; env.cpp writes it

/** Removes what a crash left of a write of the file, then the file, if they exist. Returns whether
 *  one did. Does not sync the directory. */
Result<bool> RemoveWithUnwritten(Env& env, const Path& file);

} // namespace ibd
