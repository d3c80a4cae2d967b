// Signature equations of secp256k1, checked in vector lanes, four or eight at a time. For public
// data only: not constant-time, so no secret may be passed. Used by crypto/signature_batch.h, which
// makes the equations.
#pragma once

#include "crypto/lanes_scalar.h"

#include <span>

namespace ibd::lanes {

enum class Verdict : uint8_t {
    kInvalid, //!< the equation does not hold, or the key is not on the curve
    kValid,
    kUnsure, //!< an exceptional case of the addition, or an r that stands for two x
};

enum class KeyForm : uint8_t { kEvenY, kOddY, kGivenY };
enum class Equation : uint8_t {
    kEcdsa, //!< x of the sum, modulo the order, is r
    kEvenY, //!< x of the sum is r, and its y is even
    kOddY,  //!< x of the sum is r, and its y is odd
};

using Word32 = std::array<uint8_t, 32>; //!< big-endian

/** Checks that the point g * G + q * Q matches the signature. */
struct Job {
    Word32 key_x; //!< of Q; any value
    Word32 key_y; //!< of Q if given; any value
    Word32 r;
    Scalar g, q;
    KeyForm form = KeyForm::kEvenY;
    Equation equation = Equation::kEcdsa;
};

/** Decides all jobs; one verdict for each. Safe on any thread. */
using VerifyFunction = void (*)(std::span<const Job> jobs, std::span<Verdict> verdicts);

// Each is null on a processor without the instructions.

/** Eight lanes of AVX-512 IFMA. */
VerifyFunction IfmaVerifier();
/** Four lanes of AVX2 and FMA. */
VerifyFunction Avx2Verifier();
/** The fastest one. */
VerifyFunction BestVerifier();
/** Measured speed of BestVerifier(), rounded down: signatures verified in the time that
 *  libsecp256k1 takes for one. 4 if there is no verifier. */
size_t SignaturesInTimeOfOne();

} // namespace ibd::lanes
