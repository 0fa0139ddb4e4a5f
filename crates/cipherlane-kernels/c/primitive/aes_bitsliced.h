/* AES on planes of bits: no table, no address that depends on a secret.
 *
 * Eight blocks have 32 columns. s[8 * r + i] holds bit i of row r of all of them, column c of block b in bit 8 c + b:
 * so ShiftRows is a rotation of whole bytes, MixColumns stays within a bit position, and a round key is a byte of
 * zeros or ones per column.
 */
#ifndef CL_AES_BITSLICED
#define CL_AES_BITSLICED
#include "primitive/aes_schedule.h"
#include "primitive/transpose.h"

#if WIDTH != 8
#error eight blocks of four columns fill a word
#endif
#define SCHEDULE_ROW (32 * (ROUNDS + 1))
#define CIPHER_SHARED 16

FN void cipher_forward_tables(LOCAL u32 *shared) {
    (void)shared;
}

FN void cipher_inverse_tables(LOCAL u32 *shared) {
    (void)shared;
}

FN void aes_slice(u32 *s, const block_t *x) {
    UNROLL for (u32 i = 0; i < 32; ++i) s[i] = x[i % 8].w[i / 8];
    transpose_32(s);
}

FN void aes_unslice(block_t *x, u32 *s) {
    transpose_32(s);
    UNROLL for (u32 i = 0; i < 32; ++i) x[i % 8].w[i / 8] = s[i];
}

/* SubBytes and ShiftRows, or their inverses. */
FN void aes_sub_shift(u32 *s, u32 inverse) {
    UNROLL for (u32 r = 0; r < 4; ++r) {
        u32 x[8];
        UNROLL for (u32 i = 0; i < 8; ++i) x[i] = s[8 * r + 7 - i];
        if (inverse)
            aes_inverse_sbox(x);
        else
            aes_sbox(x);
        UNROLL for (u32 i = 0; i < 8; ++i) {
            u32 turn = inverse ? 8 * r : (32 - 8 * r) % 32;
            s[8 * r + 7 - i] = r ? ROTL32(x[i], turn) : x[i];
        }
    }
}

/* Bit `i` of 2 x, from the planes of x (FIPS 197 section 4.2.1): the top bit returns as 1b. */
#define AES_TWICE(x, i) ((i) == 0 ? (x)[7] : (i) == 1 || (i) == 3 || (i) == 4 ? (x)[(i)-1] ^ (x)[7] : (x)[(i)-1])

/* MixColumns and AddRoundKey: row r becomes 2 (a_r + a_r+1) + a_r+1 + (a_r+2 + a_r+3). */
FN void aes_mix_key(u32 *s, KEY const u32 *k) {
    u32 pair[32];
    UNROLL for (u32 i = 0; i < 32; ++i) pair[i] = s[i] ^ s[(i + 8) % 32];
    u32 out[32];
    UNROLL for (u32 r = 0; r < 4; ++r) {
        UNROLL for (u32 i = 0; i < 8; ++i) {
            u32 next = s[8 * ((r + 1) % 4) + i], far = pair[8 * ((r + 2) % 4) + i];
            out[8 * r + i] = AES_TWICE(pair + 8 * r, i) ^ next ^ far ^ k[8 * r + i];
        }
    }
    UNROLL for (u32 i = 0; i < 32; ++i) s[i] = out[i];
}

/* What makes MixColumns its own inverse (its fourth power is the identity): 4 (a_r + a_r+2) added to both rows. */
FN void aes_unmix_first(u32 *s) {
    UNROLL for (u32 r = 0; r < 2; ++r) {
        u32 sum[8], twice[8];
        UNROLL for (u32 i = 0; i < 8; ++i) sum[i] = s[8 * r + i] ^ s[8 * (r + 2) + i];
        UNROLL for (u32 i = 0; i < 8; ++i) twice[i] = AES_TWICE(sum, i);
        UNROLL for (u32 i = 0; i < 8; ++i) {
            u32 four = AES_TWICE(twice, i);
            s[8 * r + i] ^= four, s[8 * (r + 2) + i] ^= four;
        }
    }
}

FN void aes_add_key(u32 *s, KEY const u32 *k) {
    UNROLL for (u32 i = 0; i < 32; ++i) s[i] ^= k[i];
}

FN void cipher_encrypt(block_t *x, KEY const u32 *k, LOCAL const u32 *shared) {
    u32 s[32];
    (void)shared;
    aes_slice(s, x);
    aes_add_key(s, k);
    ROLLED for (u32 r = 1; r < ROUNDS; ++r) {
        aes_sub_shift(s, 0);
        aes_mix_key(s, k + 32 * r);
    }
    aes_sub_shift(s, 0);
    aes_add_key(s, k + 32 * ROUNDS);
    aes_unslice(x, s);
}

/* The equivalent inverse cipher (section 5.3.5): its schedule lies in the order of use, InvMixColumns applied. */
FN void cipher_decrypt(block_t *x, KEY const u32 *k, LOCAL const u32 *shared) {
    u32 s[32];
    (void)shared;
    aes_slice(s, x);
    aes_add_key(s, k);
    ROLLED for (u32 r = 1; r < ROUNDS; ++r) {
        aes_sub_shift(s, 1);
        aes_unmix_first(s);
        aes_mix_key(s, k + 32 * r);
    }
    aes_sub_shift(s, 1);
    aes_add_key(s, k + 32 * ROUNDS);
    aes_unslice(x, s);
}

/* The planes of a round key: for each bit of a column, a byte of zeros or ones per column. */
FN void aes_store_planes(GLOBAL u32 *out, const u32 *column) {
    ROLLED for (u32 i = 0; i < 32; ++i) {
        u32 plane = 0;
        UNROLL for (u32 c = 0; c < 4; ++c) plane |= ((column[c] >> i) & 1) * 0xffu << (8 * c);
        out[i] = plane;
    }
}

FN void aes_expand_planes(GLOBAL const u8 *key, GLOBAL u32 *out, u32 inverse) {
    u32 rk[AES_WORDS];
    AES_EXPAND(rk, key, aes_sub_word, AES_KEEP);
    UNROLL for (u32 r = 0; r <= ROUNDS; ++r) {
        u32 column[4];
        UNROLL for (u32 c = 0; c < 4; ++c) {
            column[c] = rk[4 * (inverse ? ROUNDS - r : r) + c];
            if (inverse && r > 0 && r < ROUNDS) column[c] = aes_inverse_mix_column(column[c]);
        }
        aes_store_planes(out + 32 * r, column);
    }
}

FN void cipher_expand(GLOBAL const u8 *key, GLOBAL u32 *out) {
    aes_expand_planes(key, out, 0);
}

FN void cipher_expand_inverse(GLOBAL const u8 *key, GLOBAL u32 *out) {
    aes_expand_planes(key, out, 1);
}

#endif
