// The script rules in force for a block. Pure; any thread.
#pragma once

#include "consensus/params.h"

namespace ibd {

/** Flags for the scripts of the block `hash` at `height`: P2SH, witness and taproot everywhere
 *  (exceptions by hash), the others from their heights. */
ScriptFlags BlockScriptFlags(int height, const BlockHash& hash, const ConsensusParams& params);

/** Whether the buried rule is in force in the block at `height`. */
bool BuriedActive(int height, const ConsensusParams& params, BuriedDeployment deployment);

/** Height from which the buried rule is in force. */
int BuriedHeight(const ConsensusParams& params, BuriedDeployment deployment);

/** Whether BIP34 prevents a coinbase from repeating an older one on a branch, so that BIP30 need
 *  not be checked in the branch's block at `height`. `bip34_ancestor`: hash of the block at
 *  bip34_height on the branch; null if the branch is shorter. */
bool Bip34ImpliesBip30(int height, const BlockHash& bip34_ancestor, const ConsensusParams& params);

/** Whether the block is one of the two whose coinbase repeats that of an older one. */
bool IsBip30Repeat(int height, const BlockHash& hash, const ConsensusParams& params);

/** Whether every coinbase and transaction id must be new at `height` (BIP30). */
bool Bip30Enforced(int height, const BlockHash& hash, const BlockHash& bip34_ancestor,
                   const ConsensusParams& params);

/** Whether the coinbase of this block was overwritten later, so that its outputs are not coins:
 *  heights 91,722 and 91,812 of mainnet. */
bool IsBip30Unspendable(int height, const BlockHash& hash, const ConsensusParams& params);

} // namespace ibd
