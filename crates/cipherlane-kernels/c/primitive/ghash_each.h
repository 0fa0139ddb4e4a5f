/* GHASH on binary tensor cores where every message has a key of its own: a small matrix, made by those who use it.
 *
 * 32 threads take a unit of 64 blocks, thread 4 q + t the blocks 4 q + t (row (q, 0)) and 32 + 4 q + t (row (q, 1)). The
 * sum of a row runs over its four blocks,
 *
 *     row = sum of X * H^(64 - t)
 *
 * and, added to the block t = 0 of the row in the next unit, moves on by a unit (Horner's rule). The last unit is left to
 * the threads: block 4 q + t takes H^(64 - 4 q - t), row (q, 0)'s sum with it where t = 0.
 *
 * A tensor instruction takes a half of the blocks of a quad times 256 x 8 bits.
 */
#ifndef CL_GHASH_EACH
#define CL_GHASH_EACH
#include "primitive/ghash_mma.h"

#define EACH_UNIT 64
/* Words of a thread, which nobody else reads: 3 products x 4 pairs of groups of columns x 2 groups x 2 words. */
#define EACH_WORDS MMA_COLUMN_WORDS

/* The matrix of H^(64 - t) = h, as this thread reads it. */
FN void each_matrix(LOCAL u32 *matrix, const block_t *h) {
    u32 words[EACH_WORDS];
    mma_columns(words, h, THREAD % LANES / 4);
    UNROLL for (u32 i = 0; i < EACH_WORDS; ++i)
        matrix[((i / 16 * 4 + i % 8 / 2) * LANES + THREAD % LANES) * 4 + i % 2 * 2 + i / 8 % 2] = words[i];
}

/* Part t of the rows (q, 0) and (q, 1): x[0] and x[1] are the thread's blocks of a unit. */
FN void each_rows(u32 *rows, const block_t *x, LOCAL const u32 *matrix) {
    LOCAL const words4 *b = (LOCAL const words4 *)matrix + THREAD % LANES;
    u32 both[4];
    UNROLL for (u32 i = 0; i < 4; ++i) both[i] = x[i % 2].w[i / 2] ^ x[i % 2].w[i / 2 + 2];
    rows[0] = rows[1] = 0;
    UNROLL for (u32 n = 4; n-- > 0;) {
        u32 first[8], second[8];
        words4 m = b[(MMA_SHARED * 4 + n) * LANES];
        UNROLL for (u32 i = 0; i < 8; ++i) first[i] = 0;
        MMA_XOR(first, both[0], both[1], both[2], both[3], m.x, m.y);
        MMA_XOR(first + 4, both[0], both[1], both[2], both[3], m.z, m.w);
        UNROLL for (u32 i = 0; i < 8; ++i) second[i] = first[i];
        m = b[(MMA_FIRST * 4 + n) * LANES];
        MMA_XOR(first, x[0].w[2], x[1].w[2], x[0].w[3], x[1].w[3], m.x, m.y);
        MMA_XOR(first + 4, x[0].w[2], x[1].w[2], x[0].w[3], x[1].w[3], m.z, m.w);
        m = b[(MMA_SECOND * 4 + n) * LANES];
        MMA_XOR(second, x[0].w[0], x[1].w[0], x[0].w[1], x[1].w[1], m.x, m.y);
        MMA_XOR(second + 4, x[0].w[0], x[1].w[0], x[0].w[1], x[1].w[1], m.z, m.w);
        UNROLL for (u32 r = 0; r < 2; ++r) {
            rows[r] = mma_bits(rows[r], first + 4 + 2 * r, second + 4 + 2 * r);
            rows[r] = mma_bits(rows[r], first + 2 * r, second + 2 * r);
        }
    }
}

#endif
