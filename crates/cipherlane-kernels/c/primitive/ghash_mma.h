/* GHASH as a product of bit matrices, for binary tensor cores.
 *
 * T threads (UNIT_THREADS) take a unit of 8 T blocks: thread w * 32 + 4 q + t (warp w, quad q) the blocks J * T + that.
 * A warp has 32 rows, (q, r) with r = J / 2; the row's sum runs over its 8 blocks (J % 2, t):
 *
 *     row = sum of X * H^(8 T - T (J % 2) - t)
 *
 * whose first block is taken with H^(8 T): the row's sum so far, added to the first block of the next unit, thus moves
 * on by a unit (Horner's rule). At the end a row owes H^-(2 T r + 32 w + 4 q).
 *
 * A tensor instruction takes word v of both J of a row, from the quads of two r, as they lie in registers after the
 * cipher, times 256 x 8 bits; there are 4 words x 16 groups of columns, and what is read of the matrix serves all four r.
 * Counts are exact, and their lowest bit is the sum in GF(2). They have at most 11 bits, so that two groups of columns
 * count in one register, 16 bits apart.
 */
#ifndef CL_GHASH_MMA
#define CL_GHASH_MMA
#include "primitive/ghash.h"
#include "primitive/transpose.h"

/* Blocks of a thread in a unit. */
#define MMA_BLOCKS 8
#define UNIT (MMA_BLOCKS * UNIT_THREADS)
#define MMA_ROWS UNIT_THREADS
/* In the region `hash` after the powers: 1/H; the matrix, 4 words x 8 pairs of groups x 32 lanes x 2 groups x 2 J; a factor
 * for each row.
 */
#define MMA_INVERSE (LANES + GHASH_SQUARES)
#define MMA_MATRIX 4096
#define MATRIX_OF(powers) ((powers) + 4 * (MMA_INVERSE + 1))
#define FACTORS_OF(powers) (MATRIX_OF(powers) + MMA_MATRIX)

/* H^n in key form, n > 0. */
FN block_t ghash_power(GLOBAL const u32 *row, u32 n) {
    u32 first = 0;
    while (!(n >> first & 1)) ++first;
    block_t y = ghash_load(row, LANES + first);
    ROLLED for (u32 i = first + 1; n >> i; ++i)
        if (n >> i & 1) {
            block_t power = ghash_load(row, LANES + i), plain = ghash_times_x(y);
            y = ghash_multiply_small(&plain, &power);
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
        a = ghash_key_form(ghash_multiply_small(&b, &a));
        a = ghash_times_x(ghash_square_key(a));
        a = ghash_key_form(ghash_multiply_small(&a, h));
        n = 2 * n + 1;
    }
    return ghash_square_key(a);
}

/* The rows of the matrix of H^e (key form `power`) that word `v` of a block meets, for J % 2 = `odd` and block `t` of a
 * quad: what lane 4 g + t reads for word `word` of the sum. Its columns are g = 2 word and one more: in group n of 16 the
 * bits 2 n and 2 n + 1 of the word, groups n and n + 8 side by side.
 */
FN void mma_matrix(GLOBAL u32 *to, const block_t *power, u32 odd, u32 t, u32 v, u32 word) {
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
        to[((v * 8 + n % 8) * 32 + lane) * 4 + n / 8 * 2 + odd] = a[bit];
    }
}

/* Word t of the rows (q, 0) to (q, 3): x[J] is the thread's block J of a unit. */
FN void mma_rows(u32 *rows, const block_t *x, LOCAL const u32 *matrix) {
    LOCAL const words4 *b = (LOCAL const words4 *)matrix + THREAD % LANES;
    UNROLL for (u32 r = 0; r < 4; ++r) rows[r] = 0;
    /* Rolled: unrolled, the parts of the matrix that are read ahead leave no registers. */
    ROLLED for (u32 n = 8; n-- > 0;) {
        u32 sums[8];
        words4 m[4];
        UNROLL for (u32 i = 0; i < 8; ++i) sums[i] = 0;
        UNROLL for (u32 v = 0; v < 4; ++v) {
            m[v] = b[(v * 8 + n) * 32];
            UNROLL for (u32 i = 0; i < 8; i += 4)
                MMA_XOR(sums + i, x[i].w[v], x[i + 2].w[v], x[i + 1].w[v], x[i + 3].w[v], m[v].z, m[v].w);
        }
        UNROLL for (u32 i = 0; i < 8; ++i) sums[i] <<= 16;
        UNROLL for (u32 v = 0; v < 4; ++v) {
            UNROLL for (u32 i = 0; i < 8; i += 4)
                MMA_XOR(sums + i, x[i].w[v], x[i + 2].w[v], x[i + 1].w[v], x[i + 3].w[v], m[v].x, m[v].y);
        }
        UNROLL for (u32 r = 0; r < 4; ++r)
            rows[r] = rows[r] << 2 | (sums[2 * r] & 0x10001u) | (sums[2 * r + 1] & 0x10001u) << 1;
    }
}

/* The whole row r of the lane's quad, in every lane of it. */
FN block_t mma_gather(u32 row) {
    block_t y;
    UNROLL for (u32 i = 0; i < 4; ++i) y.w[i] = SHUFFLE(row, (THREAD % LANES & 28) + i);
    return y;
}

/* The row's sum so far goes to its first block, which the first lane of the quad has. */
FN void mma_carry(block_t *first, u32 row) {
    block_t before = mma_gather(row);
    if (THREAD % 4 == 0) xor_block(first, &before);
}

#endif
