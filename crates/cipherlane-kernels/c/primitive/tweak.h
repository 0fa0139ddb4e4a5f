/* Multiplication by powers of alpha in XTS's GF(2^128) (IEEE 1619 section 5.2).
 *
 * Little-endian: bit 0 of byte 0 is the coefficient of 1, so words in memory order are the integer as it stands, and
 * x^128 = x^7 + x^2 + x + 1.
 */
#ifndef CL_TWEAK
#define CL_TWEAK
#include "batch.h"

/* What `high`, the coefficients that went beyond x^127, becomes below: words 0 and 1 of high * (x^7 + x^2 + x + 1). */
FN void fold_tweak(block_t *t, u32 high) {
    t->w[0] ^= high ^ high << 1 ^ high << 2 ^ high << 7;
    t->w[1] ^= high >> 31 ^ high >> 30 ^ high >> 25;
}

/* t * x^n for n < 32. */
FN block_t shift_tweak(const block_t *t, u32 n) {
    block_t r;
    u32 back = (32 - n) & 31, keep = n ? 0xffffffffu : 0, high = (t->w[3] >> back) & keep;
    r.w[0] = t->w[0] << n;
    UNROLL for (u32 i = 1; i < 4; ++i) r.w[i] = t->w[i] << n | ((t->w[i - 1] >> back) & keep);
    fold_tweak(&r, high);
    return r;
}

/* t * x^32. */
FN void step_tweak(block_t *t) {
    u32 high = t->w[3];
    t->w[3] = t->w[2], t->w[2] = t->w[1], t->w[1] = t->w[0], t->w[0] = 0;
    fold_tweak(t, high);
}

/* t * x^128. */
FN void leap_tweak(block_t *t) {
    u32 w0 = t->w[0], w1 = t->w[1], w2 = t->w[2], w3 = t->w[3];
    t->w[0] = w0 ^ w0 << 1 ^ w0 << 2 ^ w0 << 7;
    t->w[1] = w1 ^ FUNNEL_RIGHT(w0, w1, 31) ^ FUNNEL_RIGHT(w0, w1, 30) ^ FUNNEL_RIGHT(w0, w1, 25);
    t->w[2] = w2 ^ FUNNEL_RIGHT(w1, w2, 31) ^ FUNNEL_RIGHT(w1, w2, 30) ^ FUNNEL_RIGHT(w1, w2, 25);
    t->w[3] = w3 ^ FUNNEL_RIGHT(w2, w3, 31) ^ FUNNEL_RIGHT(w2, w3, 30) ^ FUNNEL_RIGHT(w2, w3, 25);
    fold_tweak(t, w3 >> 31 ^ w3 >> 30 ^ w3 >> 25);
}

/* t * t: its bits apart, and what is beyond x^127 folded. */
FN void square_tweak(block_t *t) {
    block_t low, high;
    UNROLL for (u32 i = 0; i < 2; ++i) {
        low.w[2 * i] = spread_bits(t->w[i] & 0xffffu), low.w[2 * i + 1] = spread_bits(t->w[i] >> 16);
        high.w[2 * i] = spread_bits(t->w[i + 2] & 0xffffu), high.w[2 * i + 1] = spread_bits(t->w[i + 2] >> 16);
    }
    leap_tweak(&high);
    *t = low;
    xor_block(t, &high);
}

/* t * x^n. n is a number of blocks, not a secret. A thousand or two of instructions, whatever n. */
FN block_t move_tweak(const block_t *t, u64 n) {
    block_t power = zero_block(), product = zero_block();
    u32 bits = 0;
    power.w[0] = 1;
    ROLLED while (n >> bits) ++bits;
    ROLLED while (bits-- > 0) {
        square_tweak(&power);
        power = shift_tweak(&power, (u32)(n >> bits) & 1);
    }
    UNROLL for (u32 word = 4; word-- > 0;) {
        u32 factor = power.w[word];
        ROLLED for (u32 bit = 0; bit < 32; ++bit, factor <<= 1) {
            u32 take = 0 - (factor >> 31);
            product = shift_tweak(&product, 1);
            UNROLL for (u32 i = 0; i < 4; ++i) product.w[i] ^= t->w[i] & take;
        }
    }
    return product;
}

#endif
