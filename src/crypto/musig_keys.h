// Aggregates several public keys into one (MuSig2, BIP327). Pure; any thread.
#pragma once

#include "crypto/secp256k1.h"

#include <span>

namespace ibd {

/** KeyAgg of BIP327, which depends on the order. Nothing: there is no key, one is invalid, or (odds
 *  2^-128) they have no sum. */
std::optional<CompressedKey> AggregateKeys(std::span<const CompressedKey> keys);

} // namespace ibd
