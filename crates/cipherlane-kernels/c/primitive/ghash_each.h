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
 * A tensor instruction takes words v and v + 1 of the blocks of a quad times 256 x 8 bits.
 */
#ifndef CL_GHASH_EACH
#define CL_GHASH_EACH
#include "primitive/ghash_mma.h"

#define EACH_UNIT 64
/* Words of a thread, which nobody else reads: 2 pairs of words x 8 pairs of columns x 2 x 2. */
#define EACH_WORDS 64

/* All bits in reverse. */
FN u32 reverse_bits(u32 x) {
    x = SWAP32(x);
    x = (x >> 4 & 0x0f0f0f0fu) | (x & 0x0f0f0f0fu) << 4;
    x = (x >> 2 & 0x33333333u) | (x & 0x33333333u) << 2;
    return (x >> 1 & 0x55555555u) | (x & 0x55555555u) << 1;
}

/* The bits s(0) to s(255), from the top of s[0]: s(k) is the coefficient of x^127 in h x^k, so that they follow the
 * recurrence of the field's polynomial, s(k) = s(k - 128) + s(k - 127) + s(k - 126) + s(k - 121), and begin as the
 * coefficients of h in reverse.
 */
FN void each_sequence(u32 *s, const block_t *h) {
    UNROLL for (u32 i = 0; i < 4; ++i) s[i] = reverse_bits(h->w[3 - i]);
    s[3] ^= s[0] >> 25 ^ s[0] >> 30 ^ s[0] >> 31;
    UNROLL for (u32 i = 4; i < 8; ++i) {
        u32 high = s[i - 4], low = s[i - 3];
        s[i] = high ^ FUNNEL_RIGHT(low, high, 25) ^ FUNNEL_RIGHT(low, high, 30) ^ FUNNEL_RIGHT(low, high, 31);
    }
}

/* The matrix of H^(64 - t) = h, as this thread reads it: for columns 8 n + g, which are bits 2 n + g % 2 of word g / 2
 * (thread 4 g + t), and words v of a block.
 *
 * The coefficient of x^c in h x^i is s(i - c + 127): each division by x turns one into the next, but that x^128 comes
 * back at x^7, x^2, x and 1, so that those before x^7 have terms of their own. A word of the matrix is therefore 32
 * neighbouring bits of s, in the order of the bits of a block.
 */
FN void each_matrix(LOCAL u32 *matrix, const block_t *h) {
    u32 s[8], run[6], g = THREAD % LANES / 4, word = g / 2, odd = g % 2;
    each_sequence(s, h);
    /* c = 32 word + j is at 127 - c + 32 v = 32 (3 - word + v) + 31 - j. The bit is bit ^ 7 = j: one less if odd. */
    UNROLL for (u32 i = 0; i < 5; ++i) {
        u32 low = word > 1 ? s[i] : s[i + 2], high = word > 1 ? s[i + 1] : s[i + 3];
        run[i] = word % 2 ? low : high;
    }
    run[5] = 0;
    UNROLL for (u32 i = 0; i < 5; ++i) run[i] = odd ? FUNNEL_RIGHT(run[i + 1], run[i], 31) : run[i];
    UNROLL for (u32 n = 0; n < 16; ++n) {
        /* Of even bits: j is odd. */
        u32 j = (2 * n) ^ 7;
        UNROLL for (u32 v = 0; v < 4; ++v) {
            u32 high = run[v], low = run[v + 1];
            u32 bits = j == 31 ? high : FUNNEL_RIGHT(low, high, j + 1);
            if (j <= 7 && word == 0) {
                u32 c = j - odd;
                u64 pair = (u64)s[v] << 32 | s[v + 1];
                if (c < 7) bits ^= (u32)(pair << (6 - c) >> 32);
                if (c < 2) bits ^= (u32)(pair << (1 - c) >> 32);
                if (c < 1) bits ^= (u32)(pair >> 32);
            }
            matrix[((v / 2 * 8 + n / 2) * LANES + THREAD % LANES) * 4 + n % 2 * 2 + v % 2] = SWAP32(bits);
        }
    }
}

/* Adds the products of a unit: x[0] and x[1] are the thread's blocks of it. */
FN void each_step(u32 *sums, const block_t *x, LOCAL const u32 *matrix) {
    LOCAL const words4 *b = (LOCAL const words4 *)matrix + THREAD % LANES;
    UNROLL for (u32 v = 0; v < 4; v += 2) {
        UNROLL for (u32 n = 0; n < 8; ++n) {
            words4 m = b[(v / 2 * 8 + n) * LANES];
            MMA_XOR(sums + 8 * n, x[0].w[v], x[1].w[v], x[0].w[v + 1], x[1].w[v + 1], m.x, m.y);
            MMA_XOR(sums + 8 * n + 4, x[0].w[v], x[1].w[v], x[0].w[v + 1], x[1].w[v + 1], m.z, m.w);
        }
    }
}

/* Word t of the rows (q, 0) and (q, 1), from the lowest bits of the counts. */
FN void each_rows(u32 *rows, const u32 *sums) {
    UNROLL for (u32 r = 0; r < 2; ++r) {
        rows[r] = 0;
        UNROLL for (u32 n = 0; n < 16; ++n)
            rows[r] |= (sums[4 * n + 2 * r] & 1) << (2 * n) | (sums[4 * n + 2 * r + 1] & 1) << (2 * n + 1);
    }
}

#endif
