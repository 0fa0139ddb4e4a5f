/* GHASH as a product of bit matrices, for binary tensor cores.
 *
 * T threads (UNIT_THREADS) take a unit of 16 T blocks: thread w * 32 + 4 q + t (warp w, quad q) the blocks J * T + that.
 * A warp has 16 rows, (q, r) with r = J / 8; the row's sum runs over its 32 blocks (J % 8, t):
 *
 *     row = sum of X * H^(16 T - T (J % 8) - t)
 *
 * whose first block is taken with H^(16 T): the row's sum so far, added to the first block of the next unit, thus moves
 * on by a unit (Horner's rule). At the end a row owes H^-(8 T r + 32 w + 4 q).
 *
 * A tensor instruction takes word v of the four blocks of a quad and of two J, as they lie in registers after the
 * cipher, times 256 x 8 bits; there are 4 steps of J x 4 words x 16 groups of columns. Counts are exact, and their
 * lowest bit is the sum in GF(2).
 */
#ifndef CL_GHASH_MMA
#define CL_GHASH_MMA
#include "primitive/ghash.h"
#include "primitive/transpose.h"

#define UNIT (16 * UNIT_THREADS)
#define MMA_ROWS (UNIT_THREADS / 2)
/* Words: 4 steps x 4 words x 16 columns x 32 lanes x 2 halves; then a factor for each row. */
#define MMA_MATRIX 16384
#define MMA_FACTORS 512

/* H^n in key form, n > 0. */
FN block_t ghash_power(GLOBAL const u32 *row, u32 n) {
    u32 first = 0;
    while (!(n >> first & 1)) ++first;
    block_t y = ghash_load(row, LANES + first);
    ROLLED for (u32 i = first + 1; n >> i; ++i)
        if (n >> i & 1) {
            block_t power = ghash_load(row, LANES + i), plain = ghash_times_x(y);
            y = ghash_multiply(&plain, &power);
            y = ghash_key_form(y);
        }
    return y;
}

/* 1/H in key form: H^(2^128 - 2). With a(n) = H^(2^n - 1), a(2n) = a(n)^(2^n) a(n), and a(n + 1) = a(n)^2 H. */
FN block_t ghash_inverse(const block_t *h) {
    block_t a = *h;
    u32 n = 1;
    /* The bits of 127 after the first: all set. */
    ROLLED for (u32 step = 0; step < 6; ++step) {
        block_t b = a;
        ROLLED for (u32 i = 0; i < n; ++i) b = ghash_square_key(b);
        b = ghash_times_x(b);
        a = ghash_key_form(ghash_multiply(&b, &a));
        a = ghash_times_x(ghash_square_key(a));
        a = ghash_key_form(ghash_multiply(&a, h));
        n = 2 * n + 1;
    }
    return ghash_square_key(a);
}

/* The rows of the matrix of H^e (key form `power`) that word `v` of a block meets, for half `half` of step `step` and
 * block `t` of a quad: as lane 4 g + t reads them for columns 8 n + g, which are bits 2 n + g % 2 of word g / 2.
 */
FN void mma_matrix(GLOBAL u32 *to, const block_t *power, u32 step, u32 half, u32 t, u32 v) {
    ROLLED for (u32 word = 0; word < 4; ++word) {
        u32 a[32];
        block_t x = ghash_times_x(*power);
        ROLLED for (u32 i = 0; i < 32 * v; ++i) x = ghash_times_x(x);
        /* x^(32 v + j) is bit j ^ 7 of word v: bytes are in order, bits within them from the top. */
        UNROLL for (u32 j = 0; j < 32; ++j) {
            u32 column = word == 0 ? x.w[0] : word == 1 ? x.w[1] : word == 2 ? x.w[2] : x.w[3];
            a[j ^ 7] = SWAP32(column);
            x = ghash_times_x(x);
        }
        transpose_32(a);
        UNROLL for (u32 bit = 0; bit < 32; ++bit) {
            u32 n = bit / 2, lane = (2 * word + bit % 2) * 4 + t;
            to[(((step * 4 + v) * 8 + n / 2) * 32 + lane) * 4 + n % 2 * 2 + half] = a[bit];
        }
    }
}

/* Adds step `step` of a unit: x[0], x[2] of J = 2 step, 2 step + 1, and x[1], x[3] of those eight further. */
FN void mma_step(u32 *sums, const block_t *x, u32 step, LOCAL const u32 *matrix) {
    LOCAL const words4 *b = (LOCAL const words4 *)matrix + step * 4 * 8 * 32 + THREAD % LANES;
    UNROLL for (u32 v = 0; v < 4; ++v) {
        UNROLL for (u32 n = 0; n < 8; ++n) {
            words4 m = b[(v * 8 + n) * 32];
            MMA_XOR(sums + 8 * n, x[0].w[v], x[1].w[v], x[2].w[v], x[3].w[v], m.x, m.y);
            MMA_XOR(sums + 8 * n + 4, x[0].w[v], x[1].w[v], x[2].w[v], x[3].w[v], m.z, m.w);
        }
    }
}

/* Word t of the rows (q, 0) and (q, 1), from the lowest bits of the counts. */
FN void mma_rows(u32 *rows, const u32 *sums) {
    UNROLL for (u32 r = 0; r < 2; ++r) {
        rows[r] = 0;
        UNROLL for (u32 n = 0; n < 16; ++n)
            rows[r] |= (sums[4 * n + 2 * r] & 1) << (2 * n) | (sums[4 * n + 2 * r + 1] & 1) << (2 * n + 1);
    }
}

/* The whole row r of the lane's quad, in every lane of it. */
FN block_t mma_gather(u32 row) {
    block_t y;
    UNROLL for (u32 i = 0; i < 4; ++i) y.w[i] = SHUFFLE(row, (THREAD % LANES & 28) + i);
    return y;
}

#endif
