/* How 32 threads that walk a tile count, where it is too short for the tables of a block of threads.
 *
 * As in primitive/aes_counter.h, the state after round 2 is U0(c0) + U1(c1) + U2(c2) + U3(c3). The threads of a tile
 * share U1 + U2 + U3 for all upper 24 bits that its counters have: U0 is left of the two rounds, five look-ups of 32.
 */
#ifndef CL_AES_COUNTED
#define CL_AES_COUNTED
#include "primitive/aes_counter.h"

/* Words of a tile: four for the upper 24 bits of the counters before its first, four for those of its first, and so
 * on.
 */
#define COUNTED_WORDS (4 * (MOST_TILE / 256 + 2))

typedef struct {
    LOCAL const u32 *uppers;
    /* Column 0 after round 1 without the counter's part. */
    u32 column;
    /* What the tile's first block counts from the first of `uppers` on. */
    u32 low;
} counting_t;

/* For `blocks` blocks from that of the counter block `first` on, which is in host order. The tile's threads call it,
 * and meet before they count.
 */
FN counting_t counting_from(const block_t *first, u32 blocks, KEY const u32 *k, LOCAL const u32 *shared,
                            LOCAL u32 *uppers) {
    counting_t s;
    u32 w[3], columns[4];
    UNROLL for (u32 i = 0; i < 3; ++i) w[i] = SWAP32(first->w[i]) ^ k[i];
    UNROLL for (u32 c = 0; c < 4; ++c) columns[c] = counter_column(w, c, k, shared);
    s.uppers = uppers, s.column = columns[0], s.low = (first->w[3] & 255) + 256;
    ROLLED for (u32 i = THREAD % LANES; i <= (s.low + blocks) >> 8; i += LANES) {
        u32 upper = (first->w[3] >> 8) - 1 + i;
        block_t u;
        UNROLL for (u32 c = 0; c < 4; ++c) u.w[c] = k[8 + c];
        UNROLL for (u32 c = 1; c < 4; ++c) counter_add(&u, c, upper >> (8 * c - 8) & 255, columns[c], k, shared);
        UNROLL for (u32 c = 0; c < 4; ++c) uppers[4 * i + c] = u.w[c];
    }
    return s;
}

/* U1 + U2 + U3 and the key of round 2 for `count`, which counts from the first of `uppers` on. */
FN block_t counting_upper(LOCAL const u32 *uppers, u32 count) {
    words4 u = *(LOCAL const words4 *)(uppers + (count >> 8) * 4);
    block_t x;
    x.w[0] = u.x, x.w[1] = u.y, x.w[2] = u.z, x.w[3] = u.w;
    return x;
}

/* The state after round 2 of block `n` of the tile, which may be up to 256 before its first. */
FN block_t counting_state(const counting_t *s, u32 n, KEY const u32 *k, LOCAL const u32 *shared) {
    u32 count = s->low + n;
    block_t x = counting_upper(s->uppers, count);
    counter_add(&x, 0, count & 255, s->column, k, shared);
    return x;
}

#endif
