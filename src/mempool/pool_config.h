// Options about the pool of unconfirmed transactions that rows of option_table.h do not read.
#pragma once

#include "mempool/policy.h"
#include "util/args.h"

namespace ibd {

/** "0.00001" BTC in satoshi; nothing: malformed, or above the money supply. */
std::optional<Amount> ParseMoney(std::string_view text);
/** Reads amounts that passed CheckParameters(), and options that depend on others. */
void ReadPolicy(const ArgsManager& args, PolicyOptions& out);
/** Sets `out` if the option is given; the value passed CheckParameters(). */
void ReadAmount(const ArgsManager& args, const char* name, Amount& out);

} // namespace ibd
