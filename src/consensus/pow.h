// Proof of work: targets, retargeting, work of a header. Pure; any thread.
#pragma once

#include "consensus/ancestry.h"
#include "consensus/params.h"

#include <optional>

namespace ibd {

/** The target that `bits` encode; nothing if negative, zero, overflowing or above the limit. */
std::optional<Arith256> DeriveTarget(uint32_t bits, const Arith256& pow_limit);

/** Whether the hash, as a number, is not above the target. */
bool CheckProofOfWork(const BlockHash& hash, uint32_t bits, const ConsensusParams& params);

/** The bits that the block after `prev`, with time `block_time`, must have. `prev` is not empty. */
uint32_t GetNextWorkRequired(const Ancestry& prev, uint32_t block_time,
                             const ConsensusParams& params);

/** Retargets after the last block of a period, whose first block has time `first_time`. */
uint32_t CalculateNextWorkRequired(const Ancestry& prev, int64_t first_time,
                                   const ConsensusParams& params);

/** Whether the new bits are possible at `height` for any block times: equal within a period, within
 *  a factor of 4 across one. Always true where minimum difficulty is allowed. */
bool PermittedDifficultyTransition(const ConsensusParams& params, int height, uint32_t old_bits,
                                   uint32_t new_bits);

/** Expected number of hashes to meet the target: 2^256 / (target + 1). Zero for bad bits. */
Arith256 BlockWork(uint32_t bits);

/** Ratio to difficulty 1 (bits 0x1d00ffff). */
double Difficulty(uint32_t bits);

} // namespace ibd
