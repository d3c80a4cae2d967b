// See muhash_multiply.h.
#include "crypto/muhash_multiply.h"

#include "crypto/fastest_available.h"

#include <algorithm>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace ibd {

namespace {

__extension__ typedef unsigned __int128 Uint128;

constexpr size_t kLimbs = kNum3072Limbs;
using Limbs = Num3072Limbs;

void MultiplyPortable(const Limbs& a, const Limbs& b, WideProduct& out)
{
    out.fill(0);
    for (size_t i = 0; i < kLimbs; ++i) {
        uint64_t carry = 0;
        for (size_t j = 0; j < kLimbs; ++j) {
            const Uint128 sum = Uint128{a[j]} * b[i] + out[i + j] + carry;
            out[i + j] = static_cast<uint64_t>(sum);
            carry = static_cast<uint64_t>(sum >> 64);
        }
        out[i + kLimbs] = carry;
    }
}

#if defined(__x86_64__)

// One step: (r0 .. r7) + out[j] + a[0..7] * b[j]. The lowest word goes to out[j], the other eight
// move one place down, and r0 becomes the top. The sum fits: (2^512 - 1) (2^64 - 1) + (2^512 - 1) +
// (2^64 - 1) = 2^576 - 1. Two carry chains run in parallel: CF adds the low halves of the products,
// OF the high halves.
#define IBD_STEP(j, r0, r1, r2, r3, r4, r5, r6, r7)                                                \
    "movq 8*" #j "(%[b]), %%rdx\n\t"                                                               \
    "xorl %%eax, %%eax\n\t"                                                                        \
    "mulxq (%[a]), %%rax, %%rcx\n\t"                                                               \
    "adoxq 8*" #j "(%[out]), %%" #r0 "\n\t"                                                        \
    "adcxq %%rax, %%" #r0 "\n\t"                                                                   \
    "movq %%" #r0 ", 8*" #j "(%[out])\n\t"                                                         \
    "adoxq %%rcx, %%" #r1 "\n\t" IBD_TERM(8, r1, r2) IBD_TERM(16, r2, r3) IBD_TERM(24, r3, r4)     \
        IBD_TERM(32, r4, r5) IBD_TERM(40, r5, r6)                                                  \
            IBD_TERM(48, r6, r7) "mulxq 56(%[a]), %%rax, %%" #r0 "\n\t"                            \
                                 "adcxq %%rax, %%" #r7 "\n\t"                                      \
                                 "movl $0, %%eax\n\t"                                              \
                                 "adoxq %%rax, %%" #r0 "\n\t"                                      \
                                 "adcxq %%rax, %%" #r0 "\n\t"

#define IBD_TERM(offset, low, high)                                                                \
    "mulxq " #offset "(%[a]), %%rax, %%rcx\n\t"                                                    \
    "adcxq %%rax, %%" #low "\n\t"                                                                  \
    "adoxq %%rcx, %%" #high "\n\t"

/** For b of n limbs, a multiple of eight, up to `end`: out[0..n+7] = a[0..7] * b + out[0..n-1]; the
 *  last eight of out may be uninitialised. Uses every register but the two of the stack, so it is
 *  neither inlined nor instrumented by sanitizers. */
__attribute__((noinline, no_sanitize("address", "undefined", "thread"))) void
MultiplyAddEight(const uint64_t* a, const uint64_t* b, const uint64_t* end, uint64_t* out)
{
    asm volatile("xorl %%esi, %%esi\n\t"
                 "xorl %%edi, %%edi\n\t"
                 "xorl %%r8d, %%r8d\n\t"
                 "xorl %%r9d, %%r9d\n\t"
                 "xorl %%r10d, %%r10d\n\t"
                 "xorl %%r11d, %%r11d\n\t"
                 "xorl %%r12d, %%r12d\n\t"
                 "xorl %%r13d, %%r13d\n\t"
                 ".p2align 4\n"
                 "1:\n\t" // eight steps rotate every word back into its register
                 IBD_STEP(0, rsi, rdi, r8, r9, r10, r11, r12, r13)
                     IBD_STEP(1, rdi, r8, r9, r10, r11, r12, r13, rsi)
                         IBD_STEP(2, r8, r9, r10, r11, r12, r13, rsi, rdi)
                             IBD_STEP(3, r9, r10, r11, r12, r13, rsi, rdi, r8)
                                 IBD_STEP(4, r10, r11, r12, r13, rsi, rdi, r8, r9)
                                     IBD_STEP(5, r11, r12, r13, rsi, rdi, r8, r9, r10)
                                         IBD_STEP(6, r12, r13, rsi, rdi, r8, r9, r10, r11)
                                             IBD_STEP(7, r13, rsi, rdi, r8, r9, r10, r11,
                                                      r12) "addq $64, %[b]\n\t"
                                                           "addq $64, %[out]\n\t"
                                                           "cmpq %[end], %[b]\n\t"
                                                           "jne 1b\n\t"
                                                           "movq %%rsi, (%[out])\n\t"
                                                           "movq %%rdi, 8(%[out])\n\t"
                                                           "movq %%r8, 16(%[out])\n\t"
                                                           "movq %%r9, 24(%[out])\n\t"
                                                           "movq %%r10, 32(%[out])\n\t"
                                                           "movq %%r11, 40(%[out])\n\t"
                                                           "movq %%r12, 48(%[out])\n\t"
                                                           "movq %%r13, 56(%[out])\n\t"
                 : [b] "+r"(b), [out] "+r"(out)
                 : [a] "r"(a), [end] "m"(end)
                 : "rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "r12", "r13", "cc",
                   "memory");
}

#undef IBD_STEP
#undef IBD_TERM

constexpr size_t kHalf = kLimbs / 2;

#define IBD_LIMB(op, offset)                                                                       \
    "movq " #offset "(%[a]), %%rax\n\t" op "q " #offset "(%[b]), %%rax\n\t"                        \
    "movq %%rax, " #offset "(%[out])\n\t"

// Eight limbs in a turn; neither leaq nor decq changes the carry. Compilers put it into a register
// and back for each limb.
#define IBD_CHAIN(op)                                                                              \
    uint64_t turns = kCount / 8;                                                                   \
    uint64_t carry = 0;                                                                            \
    asm volatile("clc\n\t"                                                                         \
                 ".p2align 4\n"                                                                    \
                 "1:\n\t" IBD_LIMB(op, 0) IBD_LIMB(op, 8) IBD_LIMB(op, 16) IBD_LIMB(op, 24)        \
                     IBD_LIMB(op, 32) IBD_LIMB(op, 40) IBD_LIMB(op, 48) IBD_LIMB(op, 56)           \
                 "leaq 64(%[a]), %[a]\n\t"                                                         \
                 "leaq 64(%[b]), %[b]\n\t"                                                         \
                 "leaq 64(%[out]), %[out]\n\t"                                                     \
                 "decq %[turns]\n\t"                                                               \
                 "jnz 1b\n\t"                                                                      \
                 "adcq $0, %[carry]\n\t"                                                           \
                 : [a] "+r"(a), [b] "+r"(b), [out] "+r"(out), [turns] "+r"(turns),                 \
                   [carry] "+r"(carry)                                                             \
                 :                                                                                 \
                 : "rax", "cc", "memory");                                                         \
    return carry

/** out = a + b, of kCount limbs; returns the carry. */
template <size_t kCount>
uint64_t AddLimbs(const uint64_t* a, const uint64_t* b, uint64_t* out)
{
    static_assert(kCount % 8 == 0);
    IBD_CHAIN("adc");
}

/** out = a - b; returns the borrow. */
template <size_t kCount>
uint64_t SubtractLimbs(const uint64_t* a, const uint64_t* b, uint64_t* out)
{
    static_assert(kCount % 8 == 0);
    IBD_CHAIN("sbb");
}

#undef IBD_CHAIN
#undef IBD_LIMB

/** out = a * b, each of kHalf limbs. */
void MultiplyHalves(const uint64_t* a, const uint64_t* b, uint64_t* out)
{
    std::fill_n(out, kHalf, 0);
    for (size_t i = 0; i < kHalf; i += 8) MultiplyAddEight(a + i, b, b + kHalf, out + i);
}

/** out = |upper half - lower half| of x; returns whether the lower one is greater. */
bool DifferenceOfHalves(const uint64_t* x, uint64_t* out)
{
    if (SubtractLimbs<kHalf>(x + kHalf, x, out) == 0) return false;
    SubtractLimbs<kHalf>(x, x + kHalf, out);
    return true;
}

// Three products of halves in place of four (Karatsuba, Ofman 1962): with x = x0 + x1 X the middle
// term of a b is a0 b0 + a1 b1 - (a1 - a0) (b1 - b0).
void MultiplyAdx(const Limbs& a, const Limbs& b, WideProduct& out)
{
    uint64_t difference_a[kHalf], difference_b[kHalf], product[kLimbs], middle[kLimbs];
    MultiplyHalves(a.data(), b.data(), out.data());
    MultiplyHalves(a.data() + kHalf, b.data() + kHalf, out.data() + kLimbs);
    const bool negative =
        DifferenceOfHalves(a.data(), difference_a) != DifferenceOfHalves(b.data(), difference_b);
    MultiplyHalves(difference_a, difference_b, product);
    uint64_t top = AddLimbs<kLimbs>(out.data(), out.data() + kLimbs, middle);
    top += negative ? AddLimbs<kLimbs>(middle, product, middle)
                    : uint64_t{0} - SubtractLimbs<kLimbs>(middle, product, middle);
    top += AddLimbs<kLimbs>(out.data() + kHalf, middle, out.data() + kHalf);
    for (size_t i = kHalf + kLimbs; top != 0 && i < out.size(); ++i) {
        out[i] += top;
        top = out[i] < top ? 1 : 0;
    }
}

/** Whether the CPU has mulx (BMI2) and the two independent carry chains (ADX). */
bool HasAdx()
{
    uint32_t a, b, c, d;
    if (!__get_cpuid_count(7, 0, &a, &b, &c, &d)) return false;
    return (b >> 8 & 1) != 0 && (b >> 19 & 1) != 0;
}

#endif

} // namespace

std::span<const WideMultiplier> WideMultipliers()
{
    static const WideMultiplier list[] = {
        {"portable", true, MultiplyPortable},
#if defined(__x86_64__)
        {"adx", HasAdx(), MultiplyAdx},
#endif
    };
    return list;
}

const WideMultiplier& BestWideMultiplier()
{
    static const WideMultiplier& best = FastestAvailable(WideMultipliers());
    return best;
}

} // namespace ibd
