/* Key expansion of AES (FIPS 197 section 5.2) in registers, words in memory order. */
#ifndef CL_AES_SCHEDULE
#define CL_AES_SCHEDULE
#include "batch.h"
#include "primitive/aes_sbox.h"

#define AES_WORDS (4 * (ROUNDS + 1))
#define AES_NK (KEY_BYTES / 4)

/* `SUB_WORD(x)` looks four bytes up, `TAKE(i, word)` gets each word as soon as it is there: who stores them at once need not
 * hold them all in registers. Each way to do either expands this once.
 */
#define AES_EXPAND(rk, key, SUB_WORD, TAKE)                                                                    \
    do {                                                                                                       \
        u32 rcon_ = 1;                                                                                         \
        UNROLL for (u32 i_ = 0; i_ < AES_NK; ++i_) rk[i_] = load_word(key + 4 * i_);                           \
        UNROLL for (u32 i_ = 0; i_ < AES_NK; ++i_) TAKE(i_, rk[i_]);                                           \
        UNROLL for (u32 i_ = AES_NK; i_ < AES_WORDS; ++i_) {                                                   \
            u32 t_ = rk[i_ - 1];                                                                               \
            if (i_ % AES_NK == 0) {                                                                            \
                t_ = SUB_WORD(ROTL32(t_, 24)) ^ rcon_;                                                         \
                rcon_ = (rcon_ << 1) ^ (rcon_ >> 7) * 0x11b;                                                   \
            } else if (AES_NK == 8 && i_ % AES_NK == 4) {                                                      \
                t_ = SUB_WORD(t_);                                                                             \
            }                                                                                                  \
            rk[i_] = rk[i_ - AES_NK] ^ t_;                                                                     \
            TAKE(i_, rk[i_]);                                                                                  \
        }                                                                                                      \
    } while (0)

/* For who takes them from `rk` in the end. */
#define AES_KEEP(i, word) (void)(word)

/* Twice each of four bytes in GF(2^8) (section 4.2.1). */
FN u32 aes_double(u32 x) {
    return ((x & 0x7f7f7f7fu) << 1) ^ ((x >> 7) & 0x01010101u) * 0x1b;
}

/* InvMixColumns of one column (section 5.3.3): 0e 0b 0d 09 = 2(2(2s)) + 2(2(..)) over rotated words. */
FN u32 aes_inverse_mix_column(u32 x) {
    u32 x2 = aes_double(x), x4 = aes_double(x2), x8 = aes_double(x4), x9 = x ^ x8;
    return x2 ^ x4 ^ x8 ^ ROTL32(x2 ^ x9, 24) ^ ROTL32(x4 ^ x9, 16) ^ ROTL32(x9, 8);
}

#endif
