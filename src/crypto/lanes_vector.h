// Vectors of independent 64-bit numbers, one in each lane, for the arithmetic of lanes_field.h and
// muhash_lanes.h. Included by the file of each instruction set, which first defines
//   IBD_LANES_TARGET           the function attribute that enables the instructions
//   IBD_LANES                  the number of lanes, at most 8
//   IBD_MUL_LOW(sum, a, b)     sum + the low 52 bits of a * b, in each lane
//   IBD_MUL_HIGH(sum, a, b)    sum + the bits from 52 on of a * b; both take a, b < 2^52 only
//   IBD_BLEND(mask, a, b)      a in the lanes whose bit is set in the mask, else b
//   IBD_EQUAL(a, b)            the mask of lanes in which a and b are equal
// and may define
//   IBD_AT_MOST(vector, most)  ends the program if an element is larger; default: nothing
//   IBD_LANES_PLAIN            without inlining and unrolling, for tests
// For public data only: not constant-time. Everything is in an unnamed namespace, so that no copy
// compiled for one instruction set can be linked into code for another.
//
// The multiplications drop the bits of an operand from 52 on, so an operand that is too large gives
// a wrong product without a sign. Each step states the largest value of each limb by IBD_AT_MOST;
// tests compile the same headers with a multiplication and an IBD_AT_MOST that check
// (lanes_checked.h).
#pragma once

#include "util/sanitized.h"

#include <array>
#include <cstddef>
#include <cstdint>

// Inlined and unrolled, code with the checks of sanitizers takes a compiler many minutes.
#if defined(IBD_LANES_PLAIN) || IBD_SANITIZED
#define IBD_LANES_INLINE IBD_LANES_TARGET inline
#define IBD_LANES_UNROLL
#else
#define IBD_LANES_INLINE IBD_LANES_TARGET __attribute__((always_inline)) inline
#define IBD_LANES_UNROLL _Pragma("GCC unroll 16")
#endif
#ifndef IBD_AT_MOST
#define IBD_AT_MOST(vector, most) static_cast<void>(0)
#endif

namespace ibd::lanes {

namespace {

constexpr size_t kLanes = IBD_LANES;
using Mask = uint8_t; //!< bit i stands for lane i
constexpr Mask kAllLanes = (1u << kLanes) - 1;
using Vector = uint64_t __attribute__((vector_size(8 * kLanes)));

constexpr uint64_t kMask52 = (uint64_t{1} << 52) - 1;

/** 2^bits - 1, or times * 2^bits - 1. */
constexpr uint64_t Most(int bits, uint64_t times = 1) { return (times << bits) - 1; }

IBD_LANES_INLINE void Broadcast(Vector& out, uint64_t value) { out = Vector{} + value; }

} // namespace

} // namespace ibd::lanes
