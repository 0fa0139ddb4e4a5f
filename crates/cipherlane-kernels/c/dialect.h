/* The one file that knows the three compilers: NVRTC (CUDA C++), OpenCL C 1.2 and host C11.
 *
 * Everything else in this folder is written in the words defined here and never asks which compiler reads it.
 * What each block gives:
 *
 *   u8 u32 u64 i64 words4      types; words4 is 16 bytes with members x y z w
 *   KERNEL(threads)            head of an entry point that runs in blocks of `threads` threads
 *   FN                         head of a helper; always inlined
 *   GLOBAL LOCAL CONSTANT      address spaces of pointers, used as `GLOBAL const u32 *p`; no word: registers
 *   TABLE                      head of a constant at file scope
 *   SHARED(name, bytes)        shared memory of a block as `LOCAL u32 *name`, at the top of an entry point only
 *   SCHEDULE(argument)         the one schedule of a launch whose messages share a key, as `CONSTANT const u32 *`
 *   THREAD BLOCK BLOCKS        index in the block, index of the block, number of blocks
 *   BARRIER()                  all threads of the block meet; shared memory is seen by all
 *   GROUP_BARRIER()            the LANES neighbouring threads that walk a tile meet; so does memory they share
 *   GROUP_STEPS(own, most)     trip count of a loop with a GROUP_BARRIER: `own` where groups need not step together
 *   UNROLL                     unroll the loop that follows; ROLLED keeps it a loop
 *   LOOKUP3(a, b, c, table)    any function of three bits, bit by bit: bit 4a+2b+c of `table` (PTX lop3)
 *   PERMUTE(a, b, selector)    four bytes picked out of eight (PTX prmt)
 *   ROTL32 ROTL64 SWAP32       rotation to the left; byte order reversed
 *   FUNNEL_RIGHT(lo, hi, n)    low word of hi:lo >> n, for 0 <= n < 32
 *   WIDE(a, b)                 32 x 32 -> 64 bit product
 *   LOCAL_WORD(base, at, plus) word in shared memory at `at` plus the constant `plus`, which the load adds itself
 *   ATOMIC_XOR(pointer, word)  on global memory
 *   GROUP_XOR(word, scratch)   XOR over the LANES neighbouring threads, in all of them; all threads of a block call it
 *   MMA_XOR(c, a.., b..)       where HAS_MMA_XOR: 16 x 8 counts of a 16 x 256 by 256 x 8 product of bits, added to c
 *                              (PTX mma.m16n8k256, whose layout of rows and columns over the lanes it has)
 *   SHUFFLE(word, lane)        where HAS_SHUFFLE, as there: the word of another lane of the group; all of its lanes call it
 */
#ifndef CL_DIALECT
#define CL_DIALECT

/* Threads that walk one tile together. */
#define LANES 32

#if defined(__CUDACC_RTC__) || defined(__CUDACC__)
/* ---- CUDA C++ ------------------------------------------------------------------------------------------- */
typedef unsigned char u8;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef long long i64;
typedef uint4 words4;
#define KERNEL(threads) extern "C" __global__ void __launch_bounds__(threads, 1)
#define FN static __device__ __forceinline__
#define GLOBAL
#define LOCAL
#define CONSTANT
#define TABLE static __device__ __constant__ const
#define SHARED(name, bytes)                                                                                    \
    extern __shared__ words4 cl_shared[];                                                                      \
    u32 *const name = (u32 *)cl_shared
#ifdef SCHEDULE_WORDS
/* Written by the runtime between the stages; LOP3 takes its words straight from the constant bank. */
extern "C" {
__constant__ u32 cipherlane_schedule[SCHEDULE_WORDS];
}
#define SCHEDULE(argument) cipherlane_schedule
#else
#define SCHEDULE(argument) (argument)
#endif
#define THREAD ((u32)threadIdx.x)
#define BLOCK ((u32)blockIdx.x)
#define BLOCKS ((u32)gridDim.x)
#define BARRIER() __syncthreads()
#define UNROLL _Pragma("unroll")
#define ROLLED _Pragma("unroll 1")
template <int TABLE_> FN u32 cl_lookup3(u32 a, u32 b, u32 c) {
    u32 d;
    asm("lop3.b32 %0, %1, %2, %3, %4;" : "=r"(d) : "r"(a), "r"(b), "r"(c), "n"(TABLE_));
    return d;
}
#define LOOKUP3(a, b, c, table) cl_lookup3<(table)>((a), (b), (c))
#define PERMUTE(a, b, selector) __byte_perm((a), (b), (selector))
#define ROTL32(x, n) __funnelshift_l((x), (x), (n))
#define SWAP32(x) __byte_perm((x), 0, 0x0123)
#define FUNNEL_RIGHT(lo, hi, n) __funnelshift_r((lo), (hi), (n))
/* Spelt out: left to itself the compiler adds products with upper halves that it does not see are zero. */
FN u64 cl_wide(u32 a, u32 b) {
    u64 d;
    asm("mul.wide.u32 %0, %1, %2;" : "=l"(d) : "r"(a), "r"(b));
    return d;
}
#define WIDE(a, b) cl_wide((a), (b))
/* Without the rank of the block in its cluster, which stands above these 24 bits and is 0, as there are no clusters: where
 * the base is also needed in a register, the compiler adds it there to every address, an instruction for each look-up.
 */
FN u32 cl_window(const u32 *base) {
    return (u32)__cvta_generic_to_shared(base) & 0xffffffu;
}
#define LOCAL_WORD(base, at, plus) (*(const u32 *)__cvta_shared_to_generic(cl_window(base) + (at) + (plus)))
#define ATOMIC_XOR(pointer, word) atomicXor((pointer), (word))
FN u32 cl_group_xor(u32 x) {
    UNROLL for (int step = 16; step > 0; step >>= 1) x ^= __shfl_xor_sync(0xffffffffu, x, step);
    return x;
}
#define GROUP_XOR(word, scratch) cl_group_xor(word)
#define GROUP_SCRATCH(threads) 0
#define HAS_SHUFFLE 1
#define SHUFFLE(word, lane) __shfl_sync(0xffffffffu, (word), (lane))
#define GROUP_BARRIER() __syncwarp()
#define GROUP_STEPS(own, most) (own)
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
#define HAS_MMA_XOR 1
FN void cl_mma_xor(u32 *c, u32 a0, u32 a1, u32 a2, u32 a3, u32 b0, u32 b1) {
    asm("mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.and.popc {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
        "{%0,%1,%2,%3};"
        : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])
        : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
}
#define MMA_XOR(c, a0, a1, a2, a3, b0, b1) cl_mma_xor((c), (a0), (a1), (a2), (a3), (b0), (b1))
#endif

#elif defined(__OPENCL_VERSION__)
/* ---- OpenCL C 1.2 --------------------------------------------------------------------------------------- */
typedef uchar u8;
typedef uint u32;
typedef ulong u64;
typedef long i64;
typedef uint4 words4;
#define KERNEL(threads) __kernel __attribute__((reqd_work_group_size(threads, 1, 1))) void
/* Not left to the compiler: PoCL 3.1 inlines large helpers later by itself, and crashes on some and gives wrong code for
 * others. */
#define FN static inline __attribute__((always_inline))
#define GLOBAL __global
#define LOCAL __local
#define CONSTANT __constant
#define TABLE __constant const
#define SHARED(name, bytes)                                                                                    \
    __local u32 cl_shared[(bytes) / 4] __attribute__((aligned(16)));                                           \
    __local u32 *const name = cl_shared
#define SCHEDULE(argument) (argument)
#define THREAD ((u32)get_local_id(0))
#define BLOCK ((u32)get_group_id(0))
#define BLOCKS ((u32)get_num_groups(0))
#define BARRIER() barrier(CLK_LOCAL_MEM_FENCE)
#define GROUP_BARRIER() barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)
#ifdef __clang__
#define UNROLL _Pragma("unroll")
#define ROLLED _Pragma("nounroll")
#else
#define UNROLL
#define ROLLED
#endif
#if defined(__NV_CL_C_VERSION) || defined(cl_nv_pragma_unroll)
/* NVIDIA's compiler takes PTX. Four bytes that are picked one by one it picks one by one. */
FN u32 cl_prmt(u32 a, u32 b, u32 selector) {
    u32 d;
    asm("prmt.b32 %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(selector));
    return d;
}
#define PERMUTE(a, b, selector) cl_prmt((a), (b), (selector))
/* "i": a constant once this is inlined. */
FN u32 cl_lop3(u32 a, u32 b, u32 c, u32 table) {
    u32 d;
    asm("lop3.b32 %0, %1, %2, %3, %4;" : "=r"(d) : "r"(a), "r"(b), "r"(c), "i"(table));
    return d;
}
#define LOOKUP3(a, b, c, table) cl_lop3((a), (b), (c), (table))
#else
#define PERMUTE(a, b, selector) cl_permute((a), (b), (selector))
#endif
#define ROTL32(x, n) rotate((u32)(x), (u32)(n))
#if defined(__NV_CL_C_VERSION) || defined(cl_nv_pragma_unroll)
#define SWAP32(x) cl_prmt((x), 0u, 0x0123u)
#else
#define SWAP32(x) ((rotate((u32)(x), 8u) & 0x00ff00ffu) | (rotate((u32)(x), 24u) & 0xff00ff00u))
#endif
#define LOCAL_WORD(base, at, plus) (*(__local const u32 *)((__local const char *)(base) + (at) + (plus)))
#define ATOMIC_XOR(pointer, word) atomic_xor((pointer), (word))

#else
/* ---- host C: a block is as many POSIX threads as it has threads; see tests/host/grid.c -------------------- */
#include <stddef.h>
#include <stdint.h>
typedef uint8_t u8;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int64_t i64;
typedef struct {
    u32 x, y, z, w;
} __attribute__((aligned(16))) words4;
extern _Thread_local u32 cl_thread;
extern u32 cl_block, cl_blocks;
extern u32 cl_shared[];
void cl_barrier(void);
u32 cl_shuffle(u32 word, u32 lane);
void cl_mma_xor(u32 *c, const u32 *a, const u32 *b);
#define KERNEL(threads) void
#define FN static inline
#define GLOBAL
#define LOCAL
#define CONSTANT
#define TABLE static const
#define SHARED(name, bytes) u32 *const name = cl_shared
#define SCHEDULE(argument) (argument)
#define THREAD cl_thread
#define BLOCK cl_block
#define BLOCKS cl_blocks
#define BARRIER() cl_barrier()
#define GROUP_BARRIER() cl_barrier()
#define UNROLL
#define ROLLED
#define PERMUTE(a, b, selector) cl_permute((a), (b), (selector))
#define ROTL32(x, n) ((u32)(x) << ((n)&31) | (u32)(x) >> (-(n)&31))
#define SWAP32(x) __builtin_bswap32(x)
#define LOCAL_WORD(base, at, plus) (*(const u32 *)((const char *)(base) + (at) + (plus)))
#define ATOMIC_XOR(pointer, word) __atomic_fetch_xor((pointer), (word), __ATOMIC_RELAXED)
#define HAS_MMA_XOR 1
#define MMA_XOR(c, a0, a1, a2, a3, b0, b1) cl_mma_xor((c), (u32[]){a0, a1, a2, a3}, (u32[]){b0, b1})
#define HAS_SHUFFLE 1
#define SHUFFLE(word, lane) cl_shuffle((word), (lane))
#endif

/* ---- what OpenCL C and host C spell alike ------------------------------------------------------------------ */
#ifndef GROUP_XOR
FN u32 cl_permute_byte(u32 a, u32 b, u32 s) {
    return (((s & 4) ? b : a) >> ((s & 3) * 8)) & 255u;
}
FN u32 cl_permute(u32 a, u32 b, u32 s) {
    return cl_permute_byte(a, b, s) | cl_permute_byte(a, b, s >> 4) << 8 | cl_permute_byte(a, b, s >> 8) << 16 |
           cl_permute_byte(a, b, s >> 12) << 24;
}
#ifndef LOOKUP3
FN u32 cl_lookup3(u32 a, u32 b, u32 c, u32 t) {
    return (t & 1 ? ~a & ~b & ~c : 0u) | (t & 2 ? ~a & ~b & c : 0u) | (t & 4 ? ~a & b & ~c : 0u) |
           (t & 8 ? ~a & b & c : 0u) | (t & 16 ? a & ~b & ~c : 0u) | (t & 32 ? a & ~b & c : 0u) |
           (t & 64 ? a & b & ~c : 0u) | (t & 128 ? a & b & c : 0u);
}
#define LOOKUP3(a, b, c, table) cl_lookup3((a), (b), (c), (table))
#define XOR3(a, b, c) ((a) ^ (b) ^ (c))
#endif
#define FUNNEL_RIGHT(lo, hi, n) ((u32)((((u64)(hi) << 32) | (lo)) >> (n)))
#define WIDE(a, b) ((u64)(u32)(a) * (u32)(b))
FN u32 cl_group_xor(u32 x, LOCAL u32 *scratch) {
    u32 lane = THREAD % LANES, sum = 0;
    scratch += THREAD - lane;
    BARRIER();
    scratch[lane] = x;
    BARRIER();
    for (u32 i = 0; i < LANES; ++i) sum ^= scratch[i];
    return sum;
}
#define GROUP_XOR(word, scratch) cl_group_xor((word), (scratch))
#define GROUP_SCRATCH(threads) (4 * (threads))
#define GROUP_STEPS(own, most) (most)
#endif
#ifndef HAS_SHUFFLE
#define HAS_SHUFFLE 0
#endif
#ifndef HAS_MMA_XOR
#define HAS_MMA_XOR 0
#endif
#define ROTL64(x, n) ((u64)(x) << (n) | (u64)(x) >> (64 - (n)))
#ifndef XOR3
#define XOR3(a, b, c) LOOKUP3(a, b, c, 0x96)
#endif

#endif
