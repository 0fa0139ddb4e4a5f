/* The first two rounds of AES on counter blocks, looked up instead of computed.
 *
 * Twelve bytes of the block stay; the last four count. ShiftRows moves these four into four different columns, and
 * round 2 is linear after its S-boxes, so the state after round 2 is a sum U0(c0) + U1(c1) + U2(c2) + U3(c3) of
 * functions of one byte of the counter each, c0 the lowest. A thread whose steps are multiples of 256 keeps its
 * U0(c0); c2 and c3 change every 65536 blocks; U1 is a table in shared memory, and neighbouring threads read the same
 * entry of it. That leaves one look-up of the 32 that the two rounds take. (K. Park and J. H. Lee, "FACE", 2018, keep
 * parts of this; the split into four sums is ours.)
 */
#ifndef CL_AES_COUNTER
#define CL_AES_COUNTER
#include "primitive/aes_banked.h"
#include "primitive/counter.h"

/* U1: 256 blocks. Before it, what all threads share: the columns after round 1 without the counter's part. */
#define COUNTER_SHARED (16 + 4096)
#define COUNTER_COLUMNS(shared) ((shared) + BANKED_BYTES / 4)
#define COUNTER_TABLE(shared) ((shared) + BANKED_BYTES / 4 + 4)

/* What a thread keeps while the upper 12 bytes stay: U0(c0) + U2(c2) + U3(c3) and the key of round 2, for the upper
 * half `upper` of the last word.
 */
typedef struct {
    block_t rest;
    u32 upper;
} counter_t;

/* U_s(v), added to `to`: byte v of the counter enters column s by table 3 - s, and each row of the column goes on to
 * another one in round 2.
 */
FN void counter_add(block_t *to, u32 s, u32 v, KEY const u32 *k, LOCAL const u32 *shared, u32 lane) {
    u32 column = COUNTER_COLUMNS(shared)[s] ^ BANKED(shared, (v ^ (k[3] >> (24 - 8 * s))) & 255u, 0, 3 - s, lane);
    UNROLL for (u32 r = 0; r < 4; ++r) to->w[(s + 4 - r) % 4] ^= BANKED(shared, column, r, r, lane);
}

/* `upper` is the counter block in host order; its last word does not count. All threads of the block call it. */
FN void counter_start(counter_t *s, const block_t *upper, KEY const u32 *k, LOCAL u32 *shared) {
    const u32 lane = BANKED_LANE;
    LOCAL u32 *table = COUNTER_TABLE(shared);
    u32 w[3];
    UNROLL for (u32 i = 0; i < 3; ++i) w[i] = SWAP32(upper->w[i]) ^ k[i];
    BARRIER();
    UNROLL for (u32 c = 0; c < 4; ++c) {
        u32 column = k[4 + c];
        UNROLL for (u32 r = 0; r < 4; ++r)
            if ((c + r) % 4 < 3) column ^= BANKED(shared, w[(c + r) % 4], r, r, lane);
        if (THREAD == 0) COUNTER_COLUMNS(shared)[c] = column;
    }
    BARRIER();
    ROLLED for (u32 v = THREAD; v < 256; v += THREADS) {
        block_t u = zero_block();
        counter_add(&u, 1, v, k, shared, lane);
        UNROLL for (u32 i = 0; i < 4; ++i) table[4 * v + i] = u.w[i];
    }
    s->upper = 0x10000;
    BARRIER();
}

/* The state after round 2 for the counter `count`; a thread's counts all have the same lowest byte. */
FN block_t counter_state(counter_t *s, u32 count, KEY const u32 *k, LOCAL const u32 *shared) {
    if (count >> 16 != s->upper) {
        const u32 lane = BANKED_LANE;
        s->upper = count >> 16;
        UNROLL for (u32 c = 0; c < 4; ++c) s->rest.w[c] = k[8 + c];
        counter_add(&s->rest, 0, count & 255, k, shared, lane);
        counter_add(&s->rest, 2, count >> 16 & 255, k, shared, lane);
        counter_add(&s->rest, 3, count >> 24, k, shared, lane);
    }
    block_t x = s->rest;
    words4 u = *(LOCAL const words4 *)(COUNTER_TABLE(shared) + (count >> 8 & 255) * 4);
    x.w[0] ^= u.x, x.w[1] ^= u.y, x.w[2] ^= u.z, x.w[3] ^= u.w;
    return x;
}

#endif
