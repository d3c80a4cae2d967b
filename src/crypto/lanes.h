// Signature equations of secp256k1, checked eight at a time in vector lanes. Public data only:
// nothing is constant-time, and no secret may come here. Used by crypto/signature_batch.h, which
// makes the equations from keys and signatures and has libsecp256k1 decide where the lanes cannot.
#pragma once

#include "crypto/lanes_scalar.h"

#include <span>

namespace ibd::lanes {

enum class Verdict : uint8_t {
    kInvalid, //!< the equation does not hold, or the key is not on the curve
    kValid,
    kUnsure, //!< an exceptional case of the addition: ask libsecp256k1
};

enum class KeyForm : uint8_t { kEvenY, kOddY, kGivenY };
enum class Equation : uint8_t {
    kEcdsa,   //!< x of the sum, modulo the order, is r
    kSchnorr, //!< x of the sum is r, and its y is even
};

using Word32 = std::array<uint8_t, 32>; //!< big-endian

/** Whether the point g * G + q * Q is what the signature says. */
struct Job {
    Word32 key_x; //!< of Q; any number
    Word32 key_y; //!< of Q where it is given; any number
    Word32 r;
    Scalar g, q;
    KeyForm form = KeyForm::kEvenY;
    Equation equation = Equation::kEcdsa;
};

/** Judges all jobs; as many verdicts as jobs. Safe on any thread. */
using VerifyFunction = void (*)(std::span<const Job> jobs, std::span<Verdict> verdicts);

/** For the eight lanes of AVX-512 IFMA; null where the machine lacks the instructions. */
VerifyFunction IfmaVerifier();

} // namespace ibd::lanes
