// A coin in statistics of the set of unspent outputs, as Bitcoin Core hashes and measures it. Pure
// functions.
#pragma once

#include "primitives/serialize.h"
#include "script/coin.h"

namespace ibd {

/** Writes what the hashes of the set cover: outpoint, height and kind, amount, script. */
void WriteHashedCoin(Writer& out, const OutPoint& outpoint, const Coin& coin);
void WriteHashedCoin(Writer& out, const OutPoint& outpoint, uint32_t height, bool coinbase,
                     Amount value, ByteSpan script);

/** Core's measure of a coin's size, bytes, which depends on no database. */
uint64_t BogoSize(ByteSpan script);

} // namespace ibd
