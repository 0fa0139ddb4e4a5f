/* What probes repeat: for each operation the two steps of a repetition, the second of which waits for the first.
 *
 * A chain has two registers of the operation's type, a and b; k and m are words that the chains of a thread share, and
 * kf and mf the same bits as numbers of 32 bits with a point. All come from memory, so that no compiler knows them.
 */
#ifndef CL_PROBE_STEPS
#define CL_PROBE_STEPS
#include "dialect.h"

#if defined(__CUDACC_RTC__) || defined(__CUDACC__) || defined(__NV_CL_C_VERSION)
#define NVIDIA 1
#else
#define NVIDIA 0
#endif

/* KEEP ends each step: an assembler statement without text that reads and writes the register. No compiler folds steps
 * across it, and it costs nothing. */
#if NVIDIA
#define KEEP_u32(x) asm volatile("" : "+r"(x))
#define KEEP_u64(x) asm volatile("" : "+l"(x))
#define KEEP_f32(x) asm volatile("" : "+f"(x))
#define KEEP_f64(x) asm volatile("" : "+d"(x))
#elif defined(__AMDGCN__) || defined(__x86_64__) || defined(__aarch64__)
#if defined(__AMDGCN__)
#define KEEP_u32(x) __asm__ volatile("" : "+v"(x))
#define KEEP_f32(x) __asm__ volatile("" : "+v"(x))
#else
#define KEEP_u32(x) __asm__ volatile("" : "+r"(x))
#if defined(__x86_64__)
#define KEEP_f32(x) __asm__ volatile("" : "+x"(x))
#else
#define KEEP_f32(x) __asm__ volatile("" : "+w"(x))
#endif
#endif
#define KEEP_u64(x) KEEP_u32(x)
#define KEEP_f64(x) KEEP_f32(x)
#else
#error "no empty assembler statement is known for this device, and without one its compiler would fold the steps"
#endif

/* NVIDIA's assembler folds on: (a ^ b) ^ b is a, and two functions of two words are one of three. It stops at
 * instructions that wait for a condition; an issue slot is all that such an instruction takes, as without. Conditions
 * that take turns are k != 0 and m != 0, which hold. */
#if NVIDIA
#define GUARDED(instruction, x, y, guard)                                                                      \
    asm volatile("{.reg .pred p; setp.ne.u32 p, %2, 0; @p " instruction " %0, %0, %1;}"                        \
                 : "+r"(x)                                                                                     \
                 : "r"(y), "r"(guard))
#define ADD(x, y, guard) GUARDED("add.u32", x, y, guard)
#define SUBTRACT(x, y, guard) GUARDED("sub.u32", x, y, guard)
#define XOR(x, y, guard) GUARDED("xor.b32", x, y, guard)
#define AND(x, y, guard) GUARDED("and.b32", x, y, guard)
#define OR(x, y, guard) GUARDED("or.b32", x, y, guard)
#else
#define ADD(x, y, guard) x += y
#define SUBTRACT(x, y, guard) x -= y
#define XOR(x, y, guard) x ^= y
#define AND(x, y, guard) x &= y
#define OR(x, y, guard) x |= y
#endif

typedef float f32;
typedef union {
    u32 bits;
    f32 number;
} bits32;
#if NEEDS_F64
#if defined(__OPENCL_VERSION__) && !defined(cl_khr_fp64)
#error "this device has no double"
#endif
typedef double f64;
typedef union {
    u64 bits;
    f64 number;
} bits64;
#define NUMBER f64
#else
#define NUMBER f32
#endif
#if defined(__OPENCL_VERSION__)
#define FMA_f32(x, y, z) fma((x), (y), (z))
#else
#define FMA_f32(x, y, z) fmaf((x), (y), (z))
#endif
#define FMA_f64(x, y, z) fma((x), (y), (z))

/* Registers of a chain from four words, and back to them. */
#define LOAD_u32(w, x) (w)[2 * (x)]
#define LOAD_u64(w, x) ((u64)(w)[2 * (x) + 1] << 32 | (w)[2 * (x)])
#define STORE_u32(x) ((u64)(x))
#define STORE_u64(x) (x)
FN f32 cl_load_f32(u32 word) {
    bits32 x;
    x.bits = word;
    return x.number;
}
FN u64 cl_store_f32(f32 number) {
    bits32 x;
    x.number = number;
    return x.bits;
}
#define LOAD_f32(w, x) cl_load_f32(LOAD_u32(w, x))
#define STORE_f32(x) cl_store_f32(x)
#if NEEDS_F64
FN f64 cl_load_f64(u64 word) {
    bits64 x;
    x.bits = word;
    return x.number;
}
FN u64 cl_store_f64(f64 number) {
    bits64 x;
    x.number = number;
    return x.bits;
}
#define LOAD_f64(w, x) cl_load_f64(LOAD_u64(w, x))
#define STORE_f64(x) cl_store_f64(x)
#endif

/* Integers. */
#define TYPE_add u32
#define FIRST_add(j) ADD(a[j], b[j], k)
#define SECOND_add(j) SUBTRACT(b[j], a[j], m)
#define TYPE_add3 u32
#define FIRST_add3(j) a[j] = a[j] + b[j] + k
#define SECOND_add3(j) b[j] = b[j] + a[j] + m
#define TYPE_add_long u64
#define FIRST_add_long(j) a[j] = a[j] + b[j] + k
#define SECOND_add_long(j) b[j] = b[j] + a[j] + m
#define TYPE_mul u32
#define FIRST_mul(j) a[j] *= b[j]
#define SECOND_mul(j) b[j] *= a[j]
#define TYPE_multiply_add u32
#define FIRST_multiply_add(j) a[j] = a[j] * b[j] + k
#define SECOND_multiply_add(j) b[j] = b[j] * a[j] + m
#define TYPE_wide u64
#define FIRST_wide(j) a[j] += WIDE((u32)a[j], (u32)b[j])
#define SECOND_wide(j) b[j] += WIDE((u32)b[j], (u32)a[j])
#define TYPE_long u64
#define FIRST_long(j) a[j] = a[j] * b[j] + k
#define SECOND_long(j) b[j] = b[j] * a[j] + m
#define TYPE_xor u32
#define FIRST_xor(j) XOR(a[j], b[j], k)
#define SECOND_xor(j) XOR(b[j], a[j], m)
#define TYPE_and_or u32
#define FIRST_and_or(j) AND(a[j], b[j], k)
#define SECOND_and_or(j) OR(b[j], a[j], m)
#define TYPE_lop3 u32
#define FIRST_lop3(j) a[j] = LOOKUP3(a[j], b[j], k, 0x1e)
#define SECOND_lop3(j) b[j] = LOOKUP3(b[j], a[j], m, 0x1e)
#define TYPE_shift u32
#define FIRST_shift(j) a[j] <<= k
#define SECOND_shift(j) a[j] >>= m
#define TYPE_funnel u32
#define FIRST_funnel(j) a[j] = FUNNEL_RIGHT(a[j], b[j], k)
#define SECOND_funnel(j) b[j] = FUNNEL_RIGHT(b[j], a[j], m)
#define TYPE_prmt u32
#define FIRST_prmt(j) a[j] = PERMUTE(a[j], b[j], k)
#define SECOND_prmt(j) b[j] = PERMUTE(b[j], a[j], m)

/* Numbers with a point. */
#define TYPE_f32_add f32
#define FIRST_f32_add(j) a[j] = a[j] + b[j]
#define SECOND_f32_add(j) b[j] = b[j] - a[j]
#define TYPE_f32_mul f32
#define FIRST_f32_mul(j) a[j] = a[j] * kf
#define SECOND_f32_mul(j) a[j] = a[j] * mf
#define TYPE_f32_fma f32
#define FIRST_f32_fma(j) a[j] = FMA_f32(a[j], kf, b[j])
#define SECOND_f32_fma(j) a[j] = FMA_f32(a[j], mf, b[j])
/* What a constant without an f does to a sum of floats. */
#define TYPE_f32_cast f32
#define FIRST_f32_cast(j) a[j] = (f32)FMA_f64((f64)a[j], kf, (f64)b[j])
#define SECOND_f32_cast(j) a[j] = (f32)FMA_f64((f64)a[j], mf, (f64)b[j])
#define TYPE_f64_add f64
#define FIRST_f64_add(j) a[j] = a[j] + b[j]
#define SECOND_f64_add(j) b[j] = b[j] - a[j]
#define TYPE_f64_mul f64
#define FIRST_f64_mul(j) a[j] = a[j] * kf
#define SECOND_f64_mul(j) a[j] = a[j] * mf
#define TYPE_f64_fma f64
#define FIRST_f64_fma(j) a[j] = FMA_f64(a[j], kf, b[j])
#define SECOND_f64_fma(j) a[j] = FMA_f64(a[j], mf, b[j])

/* The same product and sum with its operands in one register, in two, in a register of its own and two that all chains
 * share, and in three whose places in their arrays differ by an even and by an odd number. */
#define TYPE_operands_one f32
#define FIRST_operands_one(j) a[j] = FMA_f32(a[j], a[j], a[j])
#define SECOND_operands_one(j) FIRST_operands_one(j)
#define TYPE_operands_two f32
#define FIRST_operands_two(j) a[j] = FMA_f32(a[j], a[j], b[j])
#define SECOND_operands_two(j) FIRST_operands_two(j)
#define TYPE_operands_shared f32
#define FIRST_operands_shared(j) a[j] = FMA_f32(a[j], kf, mf)
#define SECOND_operands_shared(j) FIRST_operands_shared(j)
#define TYPE_operands_even f32
#define FIRST_operands_even(j) a[j] = FMA_f32(a[j], b[j], b[((j) + 2) % CHAINS])
#define SECOND_operands_even(j) a[j] = FMA_f32(a[j], b[((j) + 4) % CHAINS], b[((j) + 6) % CHAINS])
#define TYPE_operands_odd f32
#define FIRST_operands_odd(j) a[j] = FMA_f32(a[j], b[((j) + 1) % CHAINS], b[((j) + 4) % CHAINS])
#define SECOND_operands_odd(j) a[j] = FMA_f32(a[j], b[((j) + 2) % CHAINS], b[((j) + 5) % CHAINS])

/* Look-ups: a word is the place of the next one in bytes. */
#define TYPE_local u32
#define FIRST_local(j) a[j] = LOCAL_WORD(links, a[j], 0)
#define SECOND_local(j) FIRST_local(j)
#define TYPE_constant u32
#define FIRST_constant(j) a[j] = *(CONSTANT const u32 *)((CONSTANT const char *)links + a[j])
#define SECOND_constant(j) FIRST_constant(j)

/* Products of small matrices over the lanes of a group, added to four words of each lane. */
#if NVIDIA && defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
#define HAS_MATRICES 1
#define PRODUCT_mma_b1(c) MMA_XOR(c, left[0], left[1], left[2], left[3], right[0], right[1])
/* Beside look-ups: whether units for matrices and shared memory work at a time. */
#define PRODUCT_mma_b1_local(c) PRODUCT_mma_b1(c)
#define PRODUCT_mma_u8(c)                                                                                      \
    asm("mma.sync.aligned.m16n8k32.row.col.s32.u8.u8.s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "              \
        "{%0,%1,%2,%3};"                                                                                       \
        : "+r"((c)[0]), "+r"((c)[1]), "+r"((c)[2]), "+r"((c)[3])                                               \
        : "r"(left[0]), "r"(left[1]), "r"(left[2]), "r"(left[3]), "r"(right[0]), "r"(right[1]))
#else
#define HAS_MATRICES 0
#endif

/* A counter of the clocks of the multiprocessor; 0 where the language has none. */
#if defined(__CUDACC_RTC__) || defined(__CUDACC__)
#define CLOCKS() ((u64)clock64())
#elif NVIDIA
FN u64 cl_clocks(void) {
    u64 now;
    asm volatile("mov.u64 %0, %%clock64;" : "=l"(now));
    return now;
}
#define CLOCKS() cl_clocks()
#else
#define CLOCKS() ((u64)0)
#endif

#endif
