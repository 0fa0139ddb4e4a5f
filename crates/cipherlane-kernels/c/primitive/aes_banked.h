/* AES by tables in shared memory, 32 copies of each: lane l reads only bank l, whatever it looks up.
 *
 * TABLES tables of 256 words: 1 and rotations (32 KiB), 2 and rotations by 16 (64 KiB), or all 4 (128 KiB). With more
 * than one, two lie side by side in rows of 256 bytes, so that a byte of the state becomes an address by one PERMUTE:
 * the byte times 256 plus four times the lane.
 *
 * Words are columns in memory order: row 0 is the low byte. T0[x] = (2s, s, s, 3s), s = S[x]; table k is T0 rotated
 * left by k bytes (FIPS 197 sections 5.1.1 to 5.1.3 in one; section 5.3.5 for the other direction).
 */
#ifndef CL_AES_BANKED
#define CL_AES_BANKED
#include "primitive/aes_schedule.h"
#include "primitive/aes_table.h"

#define SCHEDULE_ROW AES_WORDS
#define CIPHER_SHARED (TABLES * 32768)

FN u32 aes_forward_entry(u32 i) {
    u32 s = aes_s[i], s2 = aes_double(s);
    return s2 | s << 8 | s << 16 | (s2 ^ s) << 24;
}

/* (14s, 9s, 13s, 11s) with s the inverse of S at i. The four add up to s itself, which the last round uses. */
FN u32 aes_inverse_entry(u32 i) {
    return aes_inverse_mix_column(aes_inverse_s[i]);
}

#define AES_FILL(shared, ENTRY_AT)                                                                             \
    do {                                                                                                       \
        for (u32 i_ = THREAD; i_ < 256 * 32 * (TABLES > 1 ? 2 : 1); i_ += THREADS) {                           \
            u32 t_ = ENTRY_AT(TABLES > 1 ? i_ >> 6 : i_ >> 5);                                                 \
            if (TABLES > 1 && (i_ & 32)) t_ = ROTL32(t_, 8);                                                   \
            shared[i_] = t_;                                                                                   \
            if (TABLES > 2) shared[i_ + 16384] = ROTL32(t_, 16);                                               \
        }                                                                                                      \
        BARRIER();                                                                                             \
    } while (0)

FN void cipher_forward_tables(LOCAL u32 *shared) {
    AES_FILL(shared, aes_forward_entry);
}

FN void cipher_inverse_tables(LOCAL u32 *shared) {
    AES_FILL(shared, aes_inverse_entry);
}

/* Table `k` at byte `k` of `x`; `lane` is four times the lane. */
#if TABLES > 1
#define AES_ADDRESS(x, k, lane) PERMUTE((x), (lane), 0x5504 + 16 * (k))
#define AES_T(shared, x, k, lane)                                                                              \
    (TABLES > 2 || (k) < 2 ? AES_ENTRY(shared, x, k, lane) : ROTL32(AES_ENTRY(shared, x, k, lane), 16))
#define AES_ENTRY(shared, x, k, lane)                                                                          \
    LOCAL_WORD(shared, AES_ADDRESS(x, k, lane) + (k) % 2 * 128 + (TABLES > 2 && (k) > 1 ? 65536 : 0))
#else
#define AES_ADDRESS(x, k, lane) (PERMUTE((x), 0, 0x4440 + (k)) * 128 + (lane))
#define AES_T(shared, x, k, lane) cl_rotate_bytes(LOCAL_WORD(shared, AES_ADDRESS(x, k, lane)), k)
FN u32 cl_rotate_bytes(u32 x, u32 k) {
    return k == 0 ? x : ROTL32(x, 8 * k);
}
#endif

/* One column of a round: rows 0 to 3 come from the columns a, b, c, d. */
FN u32 aes_column(LOCAL const u32 *shared, u32 a, u32 b, u32 c, u32 d, u32 k, u32 lane) {
    u32 x0 = AES_T(shared, a, 0, lane), x1 = AES_T(shared, b, 1, lane);
    u32 x2 = AES_T(shared, c, 2, lane), x3 = AES_T(shared, d, 3, lane);
    return x0 ^ x1 ^ x2 ^ x3 ^ k;
}

/* One column of the last encryption round, which has no MixColumns: S itself lies in two bytes of each entry. */
FN u32 aes_last_column(LOCAL const u32 *shared, u32 a, u32 b, u32 c, u32 d, u32 k, u32 lane) {
    u32 x0 = AES_T(shared, a, 0, lane), x1 = AES_T(shared, b, 1, lane);
    u32 x2 = AES_T(shared, c, 2, lane), x3 = AES_T(shared, d, 3, lane);
    /* S in byte 1 of table 0, byte 2 of table 1, byte 3 of table 2, byte 0 of table 3. */
    return PERMUTE(PERMUTE(x0, x1, 0x0061), PERMUTE(x2, x3, 0x4300), 0x7610) ^ k;
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
    const u32 lane = THREAD % LANES * 4, step = inverse ? 3 : 1;
    u32 b0 = x->w[c], b1 = x->w[(c + step) % 4], b2 = x->w[(c + 2) % 4], b3 = x->w[(c + 3 * step) % 4];
    if (!last) return aes_column(shared, b0, b1, b2, b3, k, lane);
    if (inverse) return aes_last_inverse_column(shared, b0, b1, b2, b3, k, lane);
    return aes_last_column(shared, b0, b1, b2, b3, k, lane);
}

/* Rounds `first` to the last one of WIDTH blocks, side by side so that look-ups overlap. */
FN void aes_rounds(block_t *x, KEY const u32 *k, LOCAL const u32 *shared, u32 first, u32 inverse) {
    UNROLL for (u32 r = first; r <= ROUNDS; ++r) {
        UNROLL for (u32 w = 0; w < WIDTH; ++w) {
            block_t y;
            UNROLL for (u32 c = 0; c < 4; ++c)
                y.w[c] = aes_round_column(shared, &x[w], c, k[4 * r + c], r == ROUNDS, inverse);
            x[w] = y;
        }
    }
}

FN void aes_whiten(block_t *x, KEY const u32 *k) {
    UNROLL for (u32 w = 0; w < WIDTH; ++w) {
        UNROLL for (u32 c = 0; c < 4; ++c) x[w].w[c] ^= k[c];
    }
}

FN void cipher_encrypt(block_t *x, KEY const u32 *k, LOCAL const u32 *shared) {
    aes_whiten(x, k);
    aes_rounds(x, k, shared, 1, 0);
}

/* The equivalent inverse cipher (section 5.3.5), with a schedule made for it. */
FN void cipher_decrypt(block_t *x, KEY const u32 *k, LOCAL const u32 *shared) {
    aes_whiten(x, k);
    aes_rounds(x, k, shared, 1, 1);
}

FN void cipher_expand(GLOBAL const u8 *key, GLOBAL u32 *out) {
    u32 rk[AES_WORDS];
    AES_EXPAND(rk, key, aes_sub_word);
    UNROLL for (u32 i = 0; i < AES_WORDS; ++i) out[i] = rk[i];
}

FN void cipher_expand_inverse(GLOBAL const u8 *key, GLOBAL u32 *out) {
    u32 rk[AES_WORDS];
    AES_EXPAND(rk, key, aes_sub_word);
    UNROLL for (u32 i = 0; i < AES_WORDS; ++i) {
        u32 round = ROUNDS - i / 4, word = rk[4 * round + i % 4];
        out[i] = round == 0 || round == ROUNDS ? word : aes_inverse_mix_column(word);
    }
}

#endif
