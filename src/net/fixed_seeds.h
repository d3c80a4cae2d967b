// Fixed seeds: addresses that come with the program, for when nobody else tells of any.
#pragma once

#include "consensus/params.h"
#include "crypto/random_stream.h"
#include "net/net_address.h"

#include <vector>

namespace ibd {

// Base64 of BIP155 entries; fixed_seeds_mainnet.cpp (two halves of a text) and
// fixed_seeds_others.cpp.
extern const char* const kMainSeeds[2];
extern const char* const kTestnet3Seeds;
extern const char* const kTestnet4Seeds;
extern const char* const kSignetSeeds;

/** Those of a network, as last seen one to two weeks ago. None for regtest, and for a signet that
 *  is not the public one. `now`: seconds since 1970. */
std::vector<PeerAddress> FixedSeeds(const ChainParams& params, RandomStream& chance, int64_t now);

} // namespace ibd
