// Options that set others at start, as in Bitcoin Core.
#pragma once

#include "util/args.h"
#include "util/log.h"

namespace ibd {

/** Options that follow from others: -connect sets -listen=0 and so on; each is told in the log. */
void ApplyParameterInteraction(ArgsManager& args, Logger& log);

} // namespace ibd
