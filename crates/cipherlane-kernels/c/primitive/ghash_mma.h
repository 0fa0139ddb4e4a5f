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
 * A tensor instruction takes word v of a half of both J of a row, from the quads of two r, as they lie in registers after
 * the cipher, times 256 x 8 bits; what is read of the matrix serves all four r. Counts are exact, and their lowest bit is
 * the sum in GF(2).
 *
 * The matrix of a product takes three quarters of that by Karatsuba's method. The functional `coefficient of x^127` of
 * y x^k for 0 <= k < 128 says what y is, and for y = h x^i it is s(i + k), a bit of the sequence s of h alone. So with
 * matrices A, B, C of 64 x 64 bits, s(i + k), s(i + k + 64) and s(i + k + 128), the halves of a block give
 *
 *     k < 64:    A first + B second = B (first + second) + (A + B) first
 *     k >= 64:   B first + C second = B (first + second) + (B + C) second
 *
 * and the counts of what they share are where those of both begin. The coefficient of x^c in y is the bit for k = 127 - c,
 * but that x^128 comes back at x^7, x^2, x and 1: mma_gather adds that.
 */
#ifndef CL_GHASH_MMA
#define CL_GHASH_MMA
#include "primitive/ghash.h"

/* Blocks of a thread in a unit. */
#define MMA_BLOCKS 8
#define UNIT (MMA_BLOCKS * UNIT_THREADS)
#define MMA_ROWS UNIT_THREADS
/* In the region `hash` after the powers: 1/H; the matrix, 3 products x 8 groups of columns x 32 lanes x 2 words x 2 J; a
 * factor for each row.
 */
#define MMA_INVERSE (LANES + GHASH_SQUARES)
#define MMA_MATRIX 3072
/* The products: by B for both halves of the sum, by B + C for the first one, by A + B for the second. */
enum { MMA_SHARED, MMA_FIRST, MMA_SECOND };
/* Words of a column of each group, in all three. */
#define MMA_COLUMN_WORDS 48
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
FN void mma_sequence(u32 *s, const block_t *h) {
    UNROLL for (u32 i = 0; i < 4; ++i) s[i] = reverse_bits(h->w[3 - i]);
    s[3] ^= s[0] >> 25 ^ s[0] >> 30 ^ s[0] >> 31;
    UNROLL for (u32 i = 4; i < 8; ++i) {
        u32 high = s[i - 4], low = s[i - 3];
        s[i] = high ^ FUNNEL_RIGHT(low, high, 25) ^ FUNNEL_RIGHT(low, high, 30) ^ FUNNEL_RIGHT(low, high, 31);
    }
}

/* 32 bits of high:low from bit `at` < 32, counted from the top. */
FN u32 bits_from(u32 high, u32 low, u32 at) {
    return at ? FUNNEL_RIGHT(low, high, 32 - at) : high;
}

/* Column g of each group of the matrix of h: word v of a half in product `which` at 16 which + 8 v + n for group n.
 *
 * Both halves of a sum have column 8 n + g at bit 16 (g / 2) + 2 n + g % 2: in memory order that is coefficient c = bit ^ 7,
 * and its bit of the sequence 63 - c, which is 48 - 16 (g / 2) + g % 2 + (2 n ^ 8). A word is 32 neighbouring bits from
 * there, in the order of the bits of a block.
 */
FN void mma_columns(u32 *words, const block_t *h, u32 g) {
    u32 s[9], run[7], at = 48 - 16 * (g / 2) + g % 2;
    mma_sequence(s, h);
    s[8] = 0;
    UNROLL for (u32 i = 0; i < 7; ++i) {
        u32 high = at < 32 ? s[i] : s[i + 1], low = at < 32 ? s[i + 1] : s[i + 2];
        run[i] = bits_from(high, low, at % 32);
    }
    UNROLL for (u32 which = 0; which < 3; ++which) {
        u32 part[3];
        UNROLL for (u32 i = 0; i < 3; ++i) {
            part[i] = run[i + 2];
            if (which == MMA_FIRST) part[i] ^= run[i + 4];
            if (which == MMA_SECOND) part[i] ^= run[i];
        }
        UNROLL for (u32 n = 0; n < 8; ++n) {
            UNROLL for (u32 v = 0; v < 2; ++v)
                words[16 * which + 8 * v + n] = SWAP32(bits_from(part[v], part[v + 1], (2 * n) ^ 8));
        }
    }
}

/* What lane 4 g + t reads of the matrix of H^e (key form `power`), for J % 2 = `odd`. */
FN void mma_matrix(GLOBAL u32 *to, const block_t *power, u32 odd, u32 t, u32 g) {
    u32 words[MMA_COLUMN_WORDS];
    block_t h = ghash_times_x(*power);
    mma_columns(words, &h, g);
    UNROLL for (u32 i = 0; i < MMA_COLUMN_WORDS; ++i)
        to[((i / 16 * 8 + i % 8) * LANES + 4 * g + t) * 4 + i / 8 % 2 * 2 + odd] = words[i];
}

/* The bits of one more group of columns: lowest bits of two counts for each half, 16 bits apart. Counts have at most 11
 * bits.
 */
FN u32 mma_bits(u32 row, const u32 *first, const u32 *second) {
    return row << 2 | ((first[0] + (second[0] << 16)) & 0x10001u) | ((first[1] + (second[1] << 16)) & 0x10001u) << 1;
}

/* Part t of the rows (q, 0) to (q, 3): x[J] is the thread's block J of a unit. */
FN void mma_rows(u32 *rows, const block_t *x, LOCAL const u32 *matrix) {
    LOCAL const words4 *b = (LOCAL const words4 *)matrix + THREAD % LANES;
    UNROLL for (u32 r = 0; r < 4; ++r) rows[r] = 0;
    /* Rolled: unrolled, the parts of the matrix that are read ahead leave no registers. There is room for half of the sums
     * of halves. The others are made in each turn: their third term is 0, but changes with n as far as compilers know.
     */
    ROLLED for (u32 n = 8; n-- > 0;) {
        u32 first[8], second[8], zero = LOOKUP3(n, 8u, 0u, 0xc0);
        words4 m = b[(MMA_SHARED * 8 + n) * LANES];
        UNROLL for (u32 i = 0; i < 8; ++i) first[i] = 0;
        UNROLL for (u32 v = 0; v < 2; ++v) {
            UNROLL for (u32 i = 0; i < 8; i += 4) {
                u32 both[4];
                UNROLL for (u32 j = 0; j < 4; ++j) both[j] = XOR3(x[i + j].w[v], x[i + j].w[v + 2], v ? zero : 0);
                MMA_XOR(first + i, both[0], both[2], both[1], both[3], v ? m.z : m.x, v ? m.w : m.y);
            }
        }
        UNROLL for (u32 i = 0; i < 8; ++i) second[i] = first[i];
        m = b[(MMA_FIRST * 8 + n) * LANES];
        UNROLL for (u32 i = 0; i < 8; i += 4) {
            MMA_XOR(first + i, x[i].w[2], x[i + 2].w[2], x[i + 1].w[2], x[i + 3].w[2], m.x, m.y);
            MMA_XOR(first + i, x[i].w[3], x[i + 2].w[3], x[i + 1].w[3], x[i + 3].w[3], m.z, m.w);
        }
        m = b[(MMA_SECOND * 8 + n) * LANES];
        UNROLL for (u32 i = 0; i < 8; i += 4) {
            MMA_XOR(second + i, x[i].w[0], x[i + 2].w[0], x[i + 1].w[0], x[i + 3].w[0], m.x, m.y);
            MMA_XOR(second + i, x[i].w[1], x[i + 2].w[1], x[i + 1].w[1], x[i + 3].w[1], m.z, m.w);
        }
        UNROLL for (u32 r = 0; r < 4; ++r) rows[r] = mma_bits(rows[r], first + 2 * r, second + 2 * r);
    }
}

/* The whole row r of the lane's quad, in every lane of it: a lane has 16 bits of each half. */
FN block_t mma_gather(u32 row) {
    block_t y;
    u32 part[4];
    UNROLL for (u32 i = 0; i < 4; ++i) part[i] = SHUFFLE(row, (THREAD % LANES & 28) + i);
    UNROLL for (u32 i = 0; i < 4; ++i)
        y.w[i] = PERMUTE(part[i % 2 * 2], part[i % 2 * 2 + 1], i < 2 ? 0x5410 : 0x7632);
    /* What comes back: of x^c the coefficient takes that of x^(c + 121), where c < 7, of x^(c + 126) and of x^(c + 127). */
    y.w[0] ^= (y.w[3] >> 23 & 0xfe) ^ (y.w[3] >> 18 & 0xc0) ^ (y.w[3] >> 17 & 0x80);
    return y;
}

/* The row's sum so far goes to its first block, which the first lane of the quad has. */
FN void mma_carry(block_t *first, u32 row) {
    block_t before = mma_gather(row);
    if (THREAD % 4 == 0) xor_block(first, &before);
}

#endif
