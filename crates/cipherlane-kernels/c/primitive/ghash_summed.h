/* The multiplication of primitive/ghash.h in an eighth fewer instructions, for kernels that have the registers: products are
 * added before their bits are picked, and those that Karatsuba's rule adds up are all there at once.
 */
#ifndef CL_GHASH_SUMMED
#define CL_GHASH_SUMMED
#include "primitive/ghash.h"
#include "primitive/transpose.h"

/* 32 x 32 bits without carries. Of each group of four bits the lowest is the parity of as many ones as met there, and the
 * others are room to count them, fifteen at most. In a product that is eight, in the eighth group; products of bits i and j
 * lie a group higher where i + j > 3, and one of those may be added to one that does not: eight and seven.
 */
FN u64 ghash_carryless_summed(u32 a, u32 b) {
    u32 x[4], y[4];
    UNROLL for (u32 i = 0; i < 4; ++i) x[i] = a & 0x11111111u << i, y[i] = b & 0x11111111u << i;
    u64 sums[4];
    sums[0] = (WIDE(x[0], y[0]) + WIDE(x[1], y[3])) ^ WIDE(x[2], y[2]) ^ WIDE(x[3], y[1]);
    sums[1] = (WIDE(x[0], y[1]) + WIDE(x[2], y[3])) ^ (WIDE(x[1], y[0]) + WIDE(x[3], y[2]));
    sums[2] = (WIDE(x[0], y[2]) + WIDE(x[3], y[3])) ^ WIDE(x[1], y[1]) ^ WIDE(x[2], y[0]);
    sums[3] = WIDE(x[0], y[3]) ^ WIDE(x[1], y[2]) ^ WIDE(x[2], y[1]) ^ WIDE(x[3], y[0]);
    u32 low = (u32)sums[0], high = (u32)(sums[0] >> 32);
    UNROLL for (u32 k = 1; k < 4; ++k) {
        low = SELECT(0x11111111u << k, (u32)sums[k], low);
        high = SELECT(0x11111111u << k, (u32)(sums[k] >> 32), high);
    }
    return (u64)high << 32 | low;
}

/* What Karatsuba's rule multiplies: words, and their sums; of the upper half, the lower, and both added up. */
FN void ghash_halves(u32 *x, const block_t *a) {
    UNROLL for (u32 i = 0; i < 2; ++i) x[i] = a->w[i], x[3 + i] = a->w[2 + i], x[6 + i] = x[i] ^ x[3 + i];
    UNROLL for (u32 i = 0; i < 9; i += 3) x[i + 2] = x[i] ^ x[i + 1];
}

/* a * (the power whose key form is b). */
FN block_t ghash_multiply_summed(const block_t *a, const block_t *b) {
    u32 x[9], y[9], product[3][4], r[8];
    ghash_halves(x, a), ghash_halves(y, b);
    UNROLL for (u32 i = 0; i < 3; ++i) {
        u64 high = ghash_carryless_summed(x[3 * i], y[3 * i]), low = ghash_carryless_summed(x[3 * i + 1], y[3 * i + 1]);
        u64 middle = ghash_carryless_summed(x[3 * i + 2], y[3 * i + 2]) ^ high ^ low;
        product[i][0] = (u32)(high >> 32), product[i][1] = (u32)high ^ (u32)(middle >> 32);
        product[i][2] = (u32)(low >> 32) ^ (u32)middle, product[i][3] = (u32)low;
    }
    UNROLL for (u32 i = 0; i < 4; ++i) r[i] = product[0][i], r[4 + i] = product[1][i];
    UNROLL for (u32 i = 0; i < 4; ++i) r[2 + i] ^= product[0][i] ^ product[1][i] ^ product[2][i];
    return ghash_reduce(r);
}

#endif
