/* SC2000 over either form of its map MS (CRYPTREC specification): `sc2000_ms` applies it to 2 * WIDTH words.
 *
 * Words are big-endian; `ROUNDS` is 6 for 128-bit keys, 7 for longer ones, and a last half round follows.
 */
#ifndef CL_SC2000
#define CL_SC2000
#include "batch.h"
#include "primitive/sc2000_table.h"
#include "primitive/sc2000_sbox.h"

#define SCHEDULE_ROW (8 * ROUNDS + 8)
#define SC2000_MASK(round) ((round) % 2 ? 0x33333333u : 0x55555555u)

/* B: S4 or its inverse on the four bits that the words have at each place. Circuits of seven look-ups, found by exact
 * synthesis; six are not enough.
 */
FN void sc2000_b(block_t *x, u32 inverse) {
    u32 a = x->w[0], b = x->w[1], c = x->w[2], d = x->w[3];
    if (inverse) {
        u32 t0 = LOOKUP3(a, c, d, 0x9a), t1 = LOOKUP3(a, b, d, 0x9c), t2 = LOOKUP3(t1, a, c, 0xe2);
        u32 t3 = LOOKUP3(t2, t0, b, 0x63), t4 = LOOKUP3(t3, t1, t0, 0x36), t5 = LOOKUP3(t3, t2, b, 0x69);
        u32 t6 = LOOKUP3(t5, t1, a, 0xa6);
        x->w[0] = t3, x->w[1] = t5, x->w[2] = t4, x->w[3] = t6;
    } else {
        u32 t0 = LOOKUP3(b, c, d, 0x56), t1 = LOOKUP3(a, b, c, 0x9c), t2 = LOOKUP3(t0, a, c, 0xd8);
        u32 t3 = LOOKUP3(t2, t1, d, 0xc9), t4 = LOOKUP3(t2, t1, d, 0x6c), t5 = LOOKUP3(t3, t1, t0, 0x65);
        u32 t6 = LOOKUP3(t4, t0, c, 0x56);
        x->w[0] = t5, x->w[1] = t6, x->w[2] = t3, x->w[3] = t4;
    }
}

/* I, B, I. */
FN void sc2000_ibi(block_t *x, KEY const u32 *k, u32 inverse) {
    UNROLL for (u32 w = 0; w < WIDTH; ++w) {
        UNROLL for (u32 i = 0; i < 4; ++i) x[w].w[i] ^= k[i];
        sc2000_b(&x[w], inverse);
        UNROLL for (u32 i = 0; i < 4; ++i) x[w].w[i] ^= k[4 + i];
    }
}

/* R, then X: the second half goes through MS into the first, and they change places. */
FN void sc2000_rx(block_t *x, u32 mask, LOCAL const u32 *shared) {
    u32 t[2 * WIDTH];
    UNROLL for (u32 w = 0; w < WIDTH; ++w) t[2 * w] = x[w].w[2], t[2 * w + 1] = x[w].w[3];
    sc2000_ms(t, shared);
    UNROLL for (u32 w = 0; w < WIDTH; ++w) {
        u32 u = t[2 * w], v = t[2 * w + 1], c = x[w].w[2], d = x[w].w[3];
        x[w].w[2] = x[w].w[0] ^ (u & mask) ^ v;
        x[w].w[3] = x[w].w[1] ^ (v & ~mask) ^ u;
        x[w].w[0] = c, x[w].w[1] = d;
    }
}

FN void sc2000_turn(block_t *x) {
    UNROLL for (u32 w = 0; w < WIDTH; ++w) {
        UNROLL for (u32 i = 0; i < 4; ++i) x[w].w[i] = SWAP32(x[w].w[i]);
    }
}

/* Rounds of I B I R X R; the last I B I has no X after it. R X R is R X twice and an X. */
FN void sc2000_rounds(block_t *x, KEY const u32 *k, LOCAL const u32 *shared, u32 inverse) {
    sc2000_turn(x);
    SC2000_LOOP for (u32 r = 0; r < ROUNDS; ++r) {
        u32 mask = SC2000_MASK(inverse ? ROUNDS - 1 - r : r);
        sc2000_ibi(x, k + 8 * r, inverse);
        sc2000_rx(x, mask, shared);
        sc2000_rx(x, mask, shared);
        UNROLL for (u32 w = 0; w < WIDTH; ++w) {
            block_t y = x[w];
            UNROLL for (u32 i = 0; i < 4; ++i) x[w].w[i] = y.w[(i + 2) % 4];
        }
    }
    sc2000_ibi(x, k + 8 * ROUNDS, inverse);
    sc2000_turn(x);
}

FN void cipher_encrypt(block_t *x, KEY const u32 *k, LOCAL const u32 *shared) {
    sc2000_rounds(x, k, shared, 0);
}

/* The same with S4's inverse, the masks in reverse, and the schedule as `cipher_expand_inverse` stores it. */
FN void cipher_decrypt(block_t *x, KEY const u32 *k, LOCAL const u32 *shared) {
    sc2000_rounds(x, k, shared, 1);
}

FN void cipher_inverse_tables(LOCAL u32 *shared) {
    cipher_forward_tables(shared);
}

/* ---- key schedule -------------------------------------------------------------------------------------------------- */

/* MS of one word with no table. */
FN u32 sc2000_ms_word(u32 x) {
    return sc2000_m(sc2000_s_word(x));
}

/* MS(0) to MS(11). */
TABLE u32 sc2000_constant[12] = {0x0eaa5e14, 0xe805a839, 0x286c899c, 0x795dd2d3, 0xf2fb60cd, 0x074ed881,
                                 0x5f9b055b, 0x83bc9bcb, 0xfdaf9199, 0x6a479cb2, 0x567f83ce, 0x9942533f};
/* The branches that make round key t mod 12, and their numbers for s mod 9: a digit each. */
TABLE u32 sc2000_order[12] = {0x0123, 0x1032, 0x2301, 0x3210, 0x0231, 0x1320,
                              0x2013, 0x3102, 0x0312, 0x1203, 0x2130, 0x3021};
TABLE u32 sc2000_index[9] = {0x0000, 0x1111, 0x2222, 0x0101, 0x1212, 0x2020, 0x0202, 0x1010, 0x2121};

/* Words of the user's key: 128 bits are there twice, 192 bits begin anew. */
FN u32 sc2000_user_word(GLOBAL const u8 *key, u32 i) {
    return SWAP32(load_word(key + 4 * (i % (KEY_BYTES / 4))));
}


FN void sc2000_expand(GLOBAL const u8 *key, GLOBAL u32 *out, u32 inverse) {
    u32 mid[12];
    UNROLL for (u32 j = 0; j < 4; ++j) {
        u32 a = sc2000_ms_word(sc2000_user_word(key, 2 * j)), b = sc2000_ms_word(sc2000_user_word(key, 2 * j + 1));
        UNROLL for (u32 i = 0; i < 3; ++i) mid[3 * j + i] = sc2000_ms_word((a + sc2000_constant[4 * i + j]) ^ (b * (i + 1)));
    }
    ROLLED for (u32 n = 0; n < SCHEDULE_ROW; ++n) {
        u32 order = sc2000_order[(n + n / 36) % 12], index = sc2000_index[n % 9], pick[4];
        UNROLL for (u32 i = 0; i < 4; ++i) {
            u32 place = (order >> (12 - 4 * i) & 3) * 3 + (index >> (12 - 4 * i) & 3);
            pick[i] = mid[0];
            UNROLL for (u32 m = 1; m < 12; ++m) pick[i] = place == m ? mid[m] : pick[i];
        }
        u32 k = (ROTL32(pick[0], 1) + pick[1]) ^ ROTL32(ROTL32(pick[2], 1) - pick[3], 1);
        out[inverse ? 8 * ROUNDS + 4 - n / 4 * 4 + n % 4 : n] = k;
    }
}

FN void cipher_expand(GLOBAL const u8 *key, GLOBAL u32 *out) {
    sc2000_expand(key, out, 0);
}

FN void cipher_expand_inverse(GLOBAL const u8 *key, GLOBAL u32 *out) {
    sc2000_expand(key, out, 1);
}

#endif
