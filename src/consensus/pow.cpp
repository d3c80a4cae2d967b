// See pow.h.
#include "consensus/pow.h"

#include "util/check.h"

#include <algorithm>

namespace ibd {
namespace {

/** Testnet rule inside a period: minimum difficulty after 20 minutes without a block, else the bits
 *  of the last block that did not use the exception. */
uint32_t MinDifficultyWork(const Ancestry& prev, uint32_t block_time, const ConsensusParams& params)
{
    const uint32_t limit = params.pow_limit.ToCompact();
    const HeaderFacts tip = prev.Tip();
    if (int64_t{block_time} > int64_t{tip.time} + 2 * params.pow_target_spacing) return limit;
    const int interval = params.DifficultyAdjustmentInterval();
    uint32_t bits = 0;
    prev.WalkDown(prev.Height(), [&](int height, const HeaderFacts& facts) {
        bits = facts.bits;
        return height % interval != 0 && bits == limit;
    });
    return bits;
}

/** old * timespan / target timespan, at most the limit, rounded by compact encoding. */
Arith256 ScaledTarget(uint32_t old_bits, int64_t timespan, const ConsensusParams& params)
{
    Arith256 target = Arith256::FromCompact(old_bits);
    target *= Arith256(static_cast<uint64_t>(timespan));
    target /= Arith256(static_cast<uint64_t>(params.pow_target_timespan));
    if (target > params.pow_limit) target = params.pow_limit;
    return Arith256::FromCompact(target.ToCompact());
}

} // namespace

std::optional<Arith256> DeriveTarget(uint32_t bits, const Arith256& pow_limit)
{
    bool negative = false;
    bool overflow = false;
    const Arith256 target = Arith256::FromCompact(bits, &negative, &overflow);
    if (negative || overflow || target == Arith256(0) || target > pow_limit) return {};
    return target;
}

bool CheckProofOfWork(const BlockHash& hash, uint32_t bits, const ConsensusParams& params)
{
    const auto target = DeriveTarget(bits, params.pow_limit);
    return target && Arith256::FromUint256(hash) <= *target;
}

uint32_t GetNextWorkRequired(const Ancestry& prev, uint32_t block_time,
                             const ConsensusParams& params)
{
    const int interval = params.DifficultyAdjustmentInterval();
    const int height = prev.Height();
    CHECK(height >= 0);
    if ((height + 1) % interval != 0) {
        if (params.pow_allow_min_difficulty_blocks) {
            return MinDifficultyWork(prev, block_time, params);
        }
        return prev.Tip().bits;
    }
    const int first = height - (interval - 1);
    CHECK(first >= 0);
    return CalculateNextWorkRequired(prev, prev.At(first).time, params);
}

uint32_t CalculateNextWorkRequired(const Ancestry& prev, int64_t first_time,
                                   const ConsensusParams& params)
{
    const HeaderFacts last = prev.Tip();
    if (params.pow_no_retargeting) return last.bits;
    const int64_t timespan =
        std::clamp(int64_t{last.time} - first_time, params.pow_target_timespan / 4,
                   params.pow_target_timespan * 4);
    uint32_t base = last.bits;
    if (params.enforce_bip94) {
        // The last block may have used the minimum difficulty exception; the first may not.
        base = prev.At(prev.Height() - (params.DifficultyAdjustmentInterval() - 1)).bits;
    }
    return ScaledTarget(base, timespan, params).ToCompact();
}

bool PermittedDifficultyTransition(const ConsensusParams& params, int height, uint32_t old_bits,
                                   uint32_t new_bits)
{
    if (params.pow_allow_min_difficulty_blocks) return true;
    if (height % params.DifficultyAdjustmentInterval() != 0) return old_bits == new_bits;
    const Arith256 observed = Arith256::FromCompact(new_bits);
    return observed <= ScaledTarget(old_bits, params.pow_target_timespan * 4, params) &&
           observed >= ScaledTarget(old_bits, params.pow_target_timespan / 4, params);
}

Arith256 BlockWork(uint32_t bits)
{
    bool negative = false;
    bool overflow = false;
    const Arith256 target = Arith256::FromCompact(bits, &negative, &overflow);
    if (negative || overflow || target == Arith256(0)) return {};
    // 2^256 does not fit; (2^256 - target - 1) / (target + 1) + 1 is equal.
    return ~target / (target + Arith256(1)) + Arith256(1);
}

double Difficulty(uint32_t bits)
{
    const uint32_t mantissa = bits & 0x00ffffff;
    if (mantissa == 0) return 0;
    double difficulty = 65535.0 / mantissa;
    int shift = static_cast<int>(bits >> 24);
    for (; shift < 29; ++shift) difficulty *= 256.0;
    for (; shift > 29; --shift) difficulty /= 256.0;
    return difficulty;
}

} // namespace ibd
