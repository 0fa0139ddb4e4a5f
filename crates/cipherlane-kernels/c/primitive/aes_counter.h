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

/* U_s(v), added to `to`: byte v of the counter enters column s, which is `column` without it, by table 3 - s, and each row
 * of the column goes on to another one in round 2.
 */
FN void counter_add(block_t *to, u32 s, u32 v, u32 column, KEY const u32 *k, LOCAL const u32 *shared) {
    const u32 lane = BANKED_LANE;
    column ^= BANKED_TURNED(shared, (v ^ (k[3] >> (24 - 8 * s))) & 255u, 0, 3 - s, lane);
    UNROLL for (u32 r = 0; r < 4; ++r) to->w[(s + 4 - r) % 4] ^= BANKED_TURNED(shared, column, r, r, lane);
}

/* Column `c` after round 1 without the counter's part, from the upper three words `w` of the block, in memory order and
 * with the first round key.
 */
FN u32 counter_column(const u32 *w, u32 c, KEY const u32 *k, LOCAL const u32 *shared) {
    const u32 lane = BANKED_LANE;
    u32 column = k[4 + c];
    UNROLL for (u32 r = 0; r < 4; ++r)
        if ((c + r) % 4 < 3) column ^= BANKED_TURNED(shared, w[(c + r) % 4], r, r, lane);
    return column;
}

/* The same of the columns that all threads share. */
FN void counter_add_shared(block_t *to, u32 s, u32 v, KEY const u32 *k, LOCAL const u32 *shared) {
    counter_add(to, s, v, COUNTER_COLUMNS(shared)[s], k, shared);
}

/* What all threads share. `upper` is the counter block in host order; its last word does not count. All threads of the
 * block call it.
 */
FN void counter_tables(const block_t *upper, KEY const u32 *k, LOCAL u32 *shared) {
    LOCAL u32 *table = COUNTER_TABLE(shared);
    u32 w[3];
    UNROLL for (u32 i = 0; i < 3; ++i) w[i] = SWAP32(upper->w[i]) ^ k[i];
    BARRIER();
    UNROLL for (u32 c = 0; c < 4; ++c) {
        u32 column = counter_column(w, c, k, shared);
        if (THREAD == 0) COUNTER_COLUMNS(shared)[c] = column;
    }
    BARRIER();
    ROLLED for (u32 v = THREAD; v < 256; v += THREADS) {
        block_t u = zero_block();
        counter_add_shared(&u, 1, v, k, shared);
        UNROLL for (u32 i = 0; i < 4; ++i) table[4 * v + i] = u.w[i];
    }
    BARRIER();
}

FN void counter_start(counter_t *s, const block_t *upper, KEY const u32 *k, LOCAL u32 *shared) {
    counter_tables(upper, k, shared);
    s->upper = 0x10000;
}

/* The state after round 2 for the counter `count`; a thread's counts all have the same lowest byte. */
FN block_t counter_state(counter_t *s, u32 count, KEY const u32 *k, LOCAL const u32 *shared) {
    if (count >> 16 != s->upper) {
        s->upper = count >> 16;
        UNROLL for (u32 c = 0; c < 4; ++c) s->rest.w[c] = k[8 + c];
        counter_add_shared(&s->rest, 0, count & 255, k, shared);
        counter_add_shared(&s->rest, 2, count >> 16 & 255, k, shared);
        counter_add_shared(&s->rest, 3, count >> 24, k, shared);
    }
    block_t x = s->rest;
    words4 u = *(LOCAL const words4 *)(COUNTER_TABLE(shared) + (count >> 8 & 255) * 4);
    x.w[0] ^= u.x, x.w[1] ^= u.y, x.w[2] ^= u.z, x.w[3] ^= u.w;
    return x;
}

/* The same where a thread has several blocks under way, and a test for each would cost more than one more look-up: the
 * sums U2(c2) + U3(c3) and the key of round 2 for every upper half that a run meets, up to COUNTER_MOST of them.
 */
#define COUNTER_MOST 512
#define COUNTER_RUN_SHARED (COUNTER_SHARED + 16 * COUNTER_MOST)
#define COUNTER_UPPERS(shared) (COUNTER_TABLE(shared) + 4 * 256)

/* `first` is the counter block of the run's first of `blocks` blocks in host order; fewer than 65536 before it may be
 * asked for as well. Gives U0(c0) of a thread whose counts have the lowest byte `c0`, and what `first` counts from then
 * on: from 65536, and what its lower half is above that. All threads of the block call it.
 */
FN block_t counter_start_run(u32 *count, const block_t *first, u64 blocks, u32 c0, KEY const u32 *k, LOCAL u32 *shared) {
    LOCAL u32 *uppers = COUNTER_UPPERS(shared);
    block_t low = zero_block();
    counter_tables(first, k, shared);
    *count = (first->w[3] & 65535) + 65536;
    u32 most = (u32)((*count + blocks) >> 16) + 1;
    ROLLED for (u32 i = THREAD; i < most; i += THREADS) {
        block_t u;
        u32 high = (first->w[3] >> 16) - 1 + i;
        UNROLL for (u32 c = 0; c < 4; ++c) u.w[c] = k[8 + c];
        counter_add_shared(&u, 2, high & 255, k, shared);
        counter_add_shared(&u, 3, high >> 8 & 255, k, shared);
        UNROLL for (u32 c = 0; c < 4; ++c) uppers[4 * i + c] = u.w[c];
    }
    counter_add_shared(&low, 0, c0, k, shared);
    BARRIER();
    return low;
}

/* The state after round 2 for the counter `count`, as counter_start_run counts, of a thread with this U0(c0). */
FN block_t counter_run_state(const block_t *low, u32 count, LOCAL const u32 *shared) {
    block_t x = *low;
    words4 u = *(LOCAL const words4 *)(COUNTER_TABLE(shared) + (count >> 8 & 255) * 4);
    words4 v = *(LOCAL const words4 *)(COUNTER_UPPERS(shared) + (count >> 16) * 4);
    x.w[0] ^= u.x ^ v.x, x.w[1] ^= u.y ^ v.y, x.w[2] ^= u.z ^ v.z, x.w[3] ^= u.w ^ v.w;
    return x;
}

#endif
