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

/* U1: 256 blocks. */
#define COUNTER_SHARED 4096

/* What a thread keeps while the upper 12 bytes stay. */
typedef struct {
    u32 a[4];      /* the columns after round 1 without their part of the counter */
    block_t own;   /* U0(c0) and the key of round 2 */
    block_t rest;  /* and U2(c2), U3(c3) for the upper half `half` of the counter */
    u32 count, half;
} counter_t;

/* U_s(v), added to `to`: byte v of the counter enters column s by table 3 - s, and each row of the column goes on to
 * another one in round 2.
 */
FN void counter_add(block_t *to, u32 s, u32 v, u32 a, KEY const u32 *k, LOCAL const u32 *shared, u32 lane) {
    u32 column = a ^ BANKED(shared, (v ^ (k[3] >> (24 - 8 * s))) & 255u, 0, 3 - s, lane);
    UNROLL for (u32 r = 0; r < 4; ++r) to->w[(s + 4 - r) % 4] ^= BANKED(shared, column, r, r, lane);
}

/* `counter` is the counter block in host order, `count` its last word for this thread's first block. All threads of
 * the block call it.
 */
FN void counter_start(counter_t *s, const block_t *counter, u32 count, KEY const u32 *k, LOCAL u32 *shared) {
    const u32 lane = BANKED_LANE;
    LOCAL u32 *table = shared + BANKED_BYTES / 4;
    u32 w[3];
    UNROLL for (u32 i = 0; i < 3; ++i) w[i] = SWAP32(counter->w[i]) ^ k[i];
    UNROLL for (u32 c = 0; c < 4; ++c) {
        s->a[c] = k[4 + c];
        UNROLL for (u32 r = 0; r < 4; ++r)
            if ((c + r) % 4 < 3) s->a[c] ^= BANKED(shared, w[(c + r) % 4], r, r, lane);
    }
    UNROLL for (u32 c = 0; c < 4; ++c) s->own.w[c] = k[8 + c];
    counter_add(&s->own, 0, count & 255, s->a[0], k, shared, lane);
    s->count = count;
    s->half = ~(count >> 16);
    BARRIER();
    ROLLED for (u32 v = THREAD; v < 256; v += THREADS) {
        block_t u = zero_block();
        counter_add(&u, 1, v, s->a[1], k, shared, lane);
        UNROLL for (u32 i = 0; i < 4; ++i) table[4 * v + i] = u.w[i];
    }
    BARRIER();
}

/* The state after round 2 for the counter `count`, whose lowest byte is that of the start. */
FN block_t counter_state(counter_t *s, u32 count, KEY const u32 *k, LOCAL const u32 *shared) {
    if (count >> 16 != s->half) {
        s->half = count >> 16;
        s->rest = s->own;
        counter_add(&s->rest, 2, count >> 16 & 255, s->a[2], k, shared, BANKED_LANE);
        counter_add(&s->rest, 3, count >> 24, s->a[3], k, shared, BANKED_LANE);
    }
    block_t x = s->rest;
    words4 u = *(LOCAL const words4 *)(shared + BANKED_BYTES / 4 + (count >> 8 & 255) * 4);
    x.w[0] ^= u.x, x.w[1] ^= u.y, x.w[2] ^= u.z, x.w[3] ^= u.w;
    return x;
}

#endif
