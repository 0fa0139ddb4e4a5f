/* A probe: chains of one operation in which each step waits for the one before, CHAINS of them side by side.
 *
 * A turn is 256 repetitions of two steps, spread evenly over the chains; no turn is the empty kernel. Each lane of a
 * group starts from its own row of `in`, and all groups do the same. `out` gets a word a thread, into which every register
 * of every chain is mixed, and `clocks` what the counter of each block's unit has counted during the turns.
 */
#include "probe/steps.h"

#define JOIN_(x, y) x##y
#define JOIN(x, y) JOIN_(x, y)
#define TYPE JOIN(TYPE_, PROBE)
#define KEEP JOIN(KEEP_, TYPE)
#define LOAD JOIN(LOAD_, TYPE)
#define STORE JOIN(STORE_, TYPE)
#define TIMES4(x) x x x x
#if MATRICES
#if !HAS_MATRICES
#error "this device has no products of matrices of integers: NVIDIA GPUs of capability 8.0 and newer have, through CUDA"
#endif
#if SHARED_BYTES
#define BESIDE(j)                                                                                              \
    place[j] = LOCAL_WORD(links, place[j], 0);                                                                 \
    KEEP_u32(place[j]);
#else
#define BESIDE(j)
#endif
#define PAIR(j)                                                                                                \
    JOIN(PRODUCT_, PROBE)(c[j]);                                                                               \
    BESIDE(j)                                                                                                  \
    JOIN(PRODUCT_, PROBE)(c[j]);                                                                               \
    BESIDE(j)
#else
#define PAIR(j)                                                                                                \
    JOIN(FIRST_, PROBE)(j);                                                                                    \
    KEEP(a[j]);                                                                                                \
    JOIN(SECOND_, PROBE)(j);                                                                                   \
    KEEP(a[j]);                                                                                                \
    KEEP(b[j]);
#endif
#if CHAINS == 1
#define TURN TIMES4(TIMES4(TIMES4(TIMES4(PAIR(0)))))
#elif CHAINS == 4
#define TURN TIMES4(TIMES4(TIMES4(PAIR(0) PAIR(1) PAIR(2) PAIR(3))))
#elif CHAINS == 8
#define TURN                                                                                                   \
    TIMES4(TIMES4(PAIR(0) PAIR(1) PAIR(2) PAIR(3) PAIR(4) PAIR(5) PAIR(6) PAIR(7)                              \
                  PAIR(0) PAIR(1) PAIR(2) PAIR(3) PAIR(4) PAIR(5) PAIR(6) PAIR(7)))
#endif

/* Words of a lane's row: k and m, then four of each of 8 chains. */
#define ROW (4 + 4 * 8)
#define MIX(word) mixed = ROTL32(mixed, 5) ^ (u32)(word)

#if CONSTANT_LINKS
/* A cycle of 251 links, the place 100 words on, and more that no chain comes to. 251 is prime, so that no number of steps
 * in a turn leads back to the start. */
#define LINK(i) (((i) + 100) % 251 * 4)
#define LINKS4(i) LINK(i), LINK((i) + 1), LINK((i) + 2), LINK((i) + 3)
#define LINKS16(i) LINKS4(i), LINKS4((i) + 4), LINKS4((i) + 8), LINKS4((i) + 12)
#define LINKS64(i) LINKS16(i), LINKS16((i) + 16), LINKS16((i) + 32), LINKS16((i) + 48)
TABLE u32 links[256] = {LINKS64(0), LINKS64(64), LINKS64(128), LINKS64(192)};
#endif

KERNEL(THREADS) probe(GLOBAL const u32 *in, GLOBAL u32 *out, GLOBAL u64 *clocks, u32 turns) {
#if SHARED_BYTES
    /* 61 rows of 32 words, a bank each: a word is the place of the word 17 rows on, in its bank. 61 is prime, too. */
    SHARED(links, SHARED_BYTES);
    for (u32 i = THREAD; i < SHARED_BYTES / 4; i += THREADS) links[i] = (i / 32 + 17) % 61 * 128 + i % 32 * 4;
    BARRIER();
#endif
    GLOBAL const u32 *row = in + THREAD % LANES * ROW;
#if MATRICES
    u32 left[4], right[2], c[CHAINS][4];
    UNROLL for (int i = 0; i < 4; ++i) left[i] = row[4 + i];
    UNROLL for (int i = 0; i < 2; ++i) right[i] = row[8 + i];
    UNROLL for (int j = 0; j < CHAINS; ++j) {
        UNROLL for (int i = 0; i < 4; ++i) c[j][i] = row[4 * j + i];
    }
#if SHARED_BYTES
    u32 place[CHAINS];
    UNROLL for (int j = 0; j < CHAINS; ++j) place[j] = row[4 + 4 * j];
#endif
#else
    u32 k = row[0], m = row[1];
    NUMBER kf = cl_load_f32(k), mf = cl_load_f32(m);
    TYPE a[CHAINS], b[CHAINS];
    UNROLL for (int j = 0; j < CHAINS; ++j) {
        a[j] = LOAD(row + 4 + 4 * j, 0);
        b[j] = LOAD(row + 4 + 4 * j, 1);
    }
    (void)m, (void)kf, (void)mf;
#endif
    u64 begin = CLOCKS();
    ROLLED for (u32 turn = 0; turn < turns; ++turn) { TURN }
    u64 end = CLOCKS();
    u32 mixed = 0;
    UNROLL for (int j = 0; j < CHAINS; ++j) {
#if MATRICES
        UNROLL for (int i = 0; i < 4; ++i) MIX(c[j][i]);
#if SHARED_BYTES
        MIX(place[j]);
#endif
#else
        u64 x = STORE(a[j]), y = STORE(b[j]);
        MIX(x);
        MIX(x >> 32);
        MIX(y);
        MIX(y >> 32);
#endif
    }
    out[BLOCK * THREADS + THREAD] = mixed;
    if (THREAD == 0) clocks[BLOCK] = end - begin;
}
