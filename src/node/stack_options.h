// Options of the chain's stores and of its manager, from those of the node.
#pragma once

#include "node/options.h"
#include "validation/chain_stack.h"

namespace ibd {

/** Without the checker of scripts and the observer. */
ChainStackOptions StackOptions(Env& env, const NodeOptions& options);

} // namespace ibd
