// See muhash_multiply.h.
#include "crypto/muhash_multiply.h"

#include "crypto/fastest_available.h"

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

/** out[0..55] = a[0..7] * b[0..47] + out[0..47]; out[48..55] may be uninitialised. Uses every
 *  register but the two of the stack, so it is neither inlined nor instrumented by sanitizers. */
__attribute__((noinline, no_sanitize("address", "undefined", "thread"))) void
MultiplyAddEight(const uint64_t* a, const uint64_t* b, uint64_t* out)
{
    const uint64_t* const end = b + kLimbs;
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

void MultiplyAdx(const Limbs& a, const Limbs& b, WideProduct& out)
{
    out.fill(0);
    for (size_t i = 0; i < kLimbs; i += 8) MultiplyAddEight(&a[i], b.data(), &out[i]);
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
