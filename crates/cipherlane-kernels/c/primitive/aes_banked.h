/* AES by tables (FIPS 197 section 5).
 *
 * Words are columns in memory order: row 0 is the low byte. T0[x] = (2s, s, s, 3s), s = S[x]: SubBytes and MixColumns
 * in one; table k is T0 rotated left by k bytes.
 */
#ifndef CL_AES_BANKED
#define CL_AES_BANKED
#include "primitive/aes_sbox.h"
#include "primitive/aes_schedule.h"
#include "primitive/aes_table.h"
#include "primitive/banked.h"

#define SCHEDULE_ROW AES_WORDS
#define CIPHER_SHARED BANKED_BYTES

FN u32 aes_forward_entry(u32 i, u32 k) {
    u32 s = aes_s[i], s2 = aes_double(s), entry = s2 | s << 8 | s << 16 | (s2 ^ s) << 24;
    return ROTL32(entry, 8 * k);
}

/* (14s, 9s, 13s, 11s) with s the inverse of S at i. The four add up to s itself, which the last round uses. */
FN u32 aes_inverse_entry(u32 i, u32 k) {
    u32 entry = aes_inverse_mix_column(aes_inverse_s[i]);
    return ROTL32(entry, 8 * k);
}

FN void cipher_forward_tables(LOCAL u32 *shared) {
    BANKED_FILL(shared, aes_forward_entry);
}

FN void cipher_inverse_tables(LOCAL u32 *shared) {
    BANKED_FILL(shared, aes_inverse_entry);
}

/* Table `k` at byte `k` of `x`. */
#define AES_T(shared, x, k, lane) BANKED_TURNED(shared, x, k, k, lane)

/* The same as it lies in the table, for the last round. */
#define AES_S(shared, x, k, lane) BANKED(shared, x, k, (k) % TABLES, lane)

/* One column of a round: rows 0 to 3 come from the columns a, b, c, d. */
FN u32 aes_column(LOCAL const u32 *shared, u32 a, u32 b, u32 c, u32 d, u32 k, u32 lane) {
    u32 x0 = AES_T(shared, a, 0, lane), x1 = AES_T(shared, b, 1, lane);
    u32 x2 = AES_T(shared, c, 2, lane), x3 = AES_T(shared, d, 3, lane);
    return x0 ^ x1 ^ x2 ^ x3 ^ k;
}

/* The last round has no MixColumns: the byte k of look-up k, where table j has S itself in byte j + 1. */
FN u32 aes_last_bytes(u32 x0, u32 x1, u32 x2, u32 x3) {
    const u32 low = TABLES == 1 ? 0x0051 : 0x0061, high = TABLES == 1 ? 0x5100 : TABLES == 2 ? 0x6100 : 0x4300;
    return PERMUTE(PERMUTE(x0, x1, low), PERMUTE(x2, x3, high), 0x7610);
}

/* One column of the last encryption round. */
FN u32 aes_last_column(LOCAL const u32 *shared, u32 a, u32 b, u32 c, u32 d, u32 k, u32 lane) {
    u32 x0 = AES_S(shared, a, 0, lane), x1 = AES_S(shared, b, 1, lane);
    u32 x2 = AES_S(shared, c, 2, lane), x3 = AES_S(shared, d, 3, lane);
    return aes_last_bytes(x0, x1, x2, x3) ^ k;
}

/* The four bytes of each of four words added up: a transposition by bytes, then three sums in one. */
FN u32 aes_sum_bytes(u32 x0, u32 x1, u32 x2, u32 x3) {
    u32 a = PERMUTE(x0, x1, 0x5140), b = PERMUTE(x0, x1, 0x7362);
    u32 c = PERMUTE(x2, x3, 0x5140), d = PERMUTE(x2, x3, 0x7362);
    u32 low = a ^ b, high = c ^ d;
    return PERMUTE(low, high, 0x5410) ^ PERMUTE(low, high, 0x7632);
}

FN u32 aes_last_inverse_column(LOCAL const u32 *shared, u32 a, u32 b, u32 c, u32 d, u32 k, u32 lane) {
    u32 x0 = AES_T(shared, a, 0, lane), x1 = AES_T(shared, b, 1, lane);
    u32 x2 = AES_T(shared, c, 2, lane), x3 = AES_T(shared, d, 3, lane);
    return aes_sum_bytes(x0, x1, x2, x3) ^ k;
}

/* Column `c` after a round: in row k it takes column c + k, or c - k in the inverse. */
FN u32 aes_round_column(LOCAL const u32 *shared, const block_t *x, u32 c, u32 k, u32 last, u32 inverse) {
    const u32 lane = BANKED_LANE, step = inverse ? 3 : 1;
    u32 b0 = x->w[c], b1 = x->w[(c + step) % 4], b2 = x->w[(c + 2) % 4], b3 = x->w[(c + 3 * step) % 4];
    if (!last) return aes_column(shared, b0, b1, b2, b3, k, lane);
    if (inverse) return aes_last_inverse_column(shared, b0, b1, b2, b3, k, lane);
    return aes_last_column(shared, b0, b1, b2, b3, k, lane);
}

/* Rounds `first` to `last` of `width` blocks, side by side so that look-ups overlap. */
FN void aes_rounds(block_t *x, u32 width, KEY const u32 *k, LOCAL const u32 *shared, u32 first, u32 last,
                   u32 inverse) {
    UNROLL for (u32 r = first; r <= last; ++r) {
        UNROLL for (u32 w = 0; w < width; ++w) {
            block_t y;
            UNROLL for (u32 c = 0; c < 4; ++c)
                y.w[c] = aes_round_column(shared, &x[w], c, k[4 * r + c], r == ROUNDS, inverse);
            x[w] = y;
        }
    }
}

/* ShiftRows (section 5.1.2) or its inverse: row r of column c comes from column c + r, or c - r. */
FN u32 aes_shifted_column(const u32 *s, u32 c, u32 inverse) {
    const u32 step = inverse ? 3 : 1;
    u32 low = SELECT(0x000000ffu, s[c], s[(c + step) % 4]);
    return SELECT(0x0000ffffu, low, SELECT(0x00ff0000u, s[(c + 2) % 4], s[(c + 3 * step) % 4]));
}

/* The last round of two blocks with no look-up: their 32 bytes are as many as bits of a word, for SubBytes as a circuit.
 * It takes instructions, where look-ups are what a kernel waits for.
 */
FN void aes_last_pair(block_t *a, block_t *b, KEY const u32 *k, u32 inverse) {
    u32 s[8], planes[8];
    UNROLL for (u32 i = 0; i < 4; ++i) s[i] = a->w[i], s[4 + i] = b->w[i];
    slice_words(planes, s);
    if (inverse)
        aes_inverse_sbox(planes);
    else
        aes_sbox(planes);
    unslice_words(s, planes);
    UNROLL for (u32 c = 0; c < 4; ++c) {
        a->w[c] = aes_shifted_column(s, c, inverse) ^ k[4 * ROUNDS + c];
        b->w[c] = aes_shifted_column(s + 4, c, inverse) ^ k[4 * ROUNDS + c];
    }
}

FN void aes_whiten(block_t *x, u32 width, KEY const u32 *k) {
    UNROLL for (u32 w = 0; w < width; ++w) {
        UNROLL for (u32 c = 0; c < 4; ++c) x[w].w[c] ^= k[c];
    }
}

/* All rounds of WIDTH blocks. Of four blocks two do without look-ups in the last round: with more, instructions would
 * be what is waited for.
 */
FN void aes_blocks(block_t *x, KEY const u32 *k, LOCAL const u32 *shared, u32 inverse) {
    aes_whiten(x, WIDTH, k);
    aes_rounds(x, WIDTH, k, shared, 1, ROUNDS - 1, inverse);
    UNROLL for (u32 i = 0; i < WIDTH / 4; ++i) aes_last_pair(&x[4 * i], &x[4 * i + 1], k, inverse);
    UNROLL for (u32 i = 0; i < WIDTH; ++i)
        if (WIDTH < 4 || i % 4 > 1) aes_rounds(&x[i], 1, k, shared, ROUNDS, ROUNDS, inverse);
}

FN void cipher_encrypt(block_t *x, KEY const u32 *k, LOCAL const u32 *shared) {
    aes_blocks(x, k, shared, 0);
}

/* One block, whatever WIDTH is, and in little code: for what is done once. */
#define CIPHER_ONE
FN void cipher_encrypt_one(block_t *x, KEY const u32 *k, LOCAL const u32 *shared) {
    aes_whiten(x, 1, k);
    ROLLED for (u32 r = 1; r <= ROUNDS; ++r) {
        block_t y;
        UNROLL for (u32 c = 0; c < 4; ++c)
            y.w[c] = r < ROUNDS ? aes_round_column(shared, x, c, k[4 * r + c], 0, 0)
                                : aes_round_column(shared, x, c, k[4 * r + c], 1, 0);
        *x = y;
    }
}

/* The equivalent inverse cipher (section 5.3.5), with a schedule made for it. */
FN void cipher_decrypt(block_t *x, KEY const u32 *k, LOCAL const u32 *shared) {
    aes_blocks(x, k, shared, 1);
}

FN void cipher_expand(GLOBAL const u8 *key, GLOBAL u32 *out) {
    u32 rk[AES_WORDS];
#define AES_STORE(i, word) out[i] = (word)
    AES_EXPAND(rk, key, aes_sub_word, AES_STORE);
#undef AES_STORE
}

/* The forward schedule in registers, four bytes at a time looked up: S lies in byte 1 of table 0. */
FN u32 aes_look_up_word(LOCAL const u32 *shared, u32 x) {
    const u32 lane = BANKED_LANE;
    u32 x0 = BANKED(shared, x, 0, 0, lane), x1 = BANKED(shared, x, 1, 0, lane);
    u32 x2 = BANKED(shared, x, 2, 0, lane), x3 = BANKED(shared, x, 3, 0, lane);
    return PERMUTE(PERMUTE(x0, x1, 0x0051), PERMUTE(x2, x3, 0x0051), 0x5410);
}

FN void cipher_expand_here(GLOBAL const u8 *key, u32 *rk, LOCAL const u32 *shared) {
#define AES_LOOK_UP(x) aes_look_up_word(shared, x)
    AES_EXPAND(rk, key, AES_LOOK_UP, AES_KEEP);
#undef AES_LOOK_UP
}

FN void cipher_expand_inverse(GLOBAL const u8 *key, GLOBAL u32 *out) {
    u32 rk[AES_WORDS];
#define AES_STORE(i, word)                                                                                     \
    out[4 * (ROUNDS - (i) / 4) + (i) % 4] =                                                                    \
        (i) / 4 == 0 || (i) / 4 == ROUNDS ? (word) : aes_inverse_mix_column(word)
    AES_EXPAND(rk, key, aes_sub_word, AES_STORE);
#undef AES_STORE
}

#endif
