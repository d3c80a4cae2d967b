// The coinbase output that commits a block to its witnesses (BIP141). Pure; any thread.
#pragma once

#include "primitives/block.h"

#include <array>

namespace ibd {

/** The first bytes of such an output's script: OP_RETURN, a push of 36 bytes, four bytes of tag. */
inline constexpr std::array<uint8_t, 6> kCommitmentTag = {0x6a, 0x24, 0xaa, 0x21, 0xa9, 0xed};
/** The tag and the 32 bytes of the hash; more bytes may follow. */
inline constexpr size_t kCommitmentScriptSize = kCommitmentTag.size() + 32;
/** Bytes of the reserved value in the coinbase's witness, hashed together with the root. */
inline constexpr size_t kWitnessReservedSize = 32;

/** Double SHA-256 of the root over the wtxids and the reserved value. */
Uint256 WitnessCommitmentHash(const Uint256& witness_root, ByteSpan reserved);

/** The whole script of the output. */
Bytes WitnessCommitmentScript(const Uint256& witness_root, ByteSpan reserved);

/** Index of the coinbase output that holds the witness commitment (the last one); -1 if none. */
int WitnessCommitmentIndex(const TxView& coinbase);

} // namespace ibd
