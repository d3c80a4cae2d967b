// Options that change defaults of others at start, as in Bitcoin Core.
#pragma once

#include "util/args.h"
#include "util/log.h"

namespace ibd {

/** Sets options implied by others: -connect sets -listen=0 and so on; logs each. */
void ApplyParameterInteraction(ArgsManager& args, Logger& log);

} // namespace ibd
