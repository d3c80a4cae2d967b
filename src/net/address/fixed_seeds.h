// Fixed seeds: addresses compiled into the program, for use when no other source gives any.
#pragma once

#include "consensus/params.h"
#include "crypto/random_stream.h"
#include "net/address/net_address.h"

#include <vector>

namespace ibd {

// Base64 of BIP155 entries; in fixed_seeds_mainnet.cpp (a text in two halves) and
// fixed_seeds_others.cpp.
extern const char* const kMainSeeds[2];
extern const char* const kTestnet3Seeds;
extern const char* const kTestnet4Seeds;
extern const char* const kSignetSeeds;

/** The seeds of a network, with last-seen times one to two weeks ago. None for regtest and for a
 *  custom signet. `now`: seconds since 1970. */
std::vector<PeerAddress> FixedSeeds(const ChainParams& params, RandomStream& chance, int64_t now);

} // namespace ibd
