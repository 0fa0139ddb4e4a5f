/* SM4 (GB/T 32907-2016) over either form of its transformation T: `sm4_t` applies T to WIDTH words.
 *
 * The standard's words are big-endian. Here they stay in memory order, round keys too: T then is the same map with the
 * bytes of its tables reversed, and no block has to be turned around.
 */
#ifndef CL_SM4
#define CL_SM4
#include "batch.h"
#include "primitive/sm4_sbox.h"

#define SCHEDULE_ROW 32

FN u32 sm4_sub_word(u32 word) {
    u32 x[8];
    slice_word(x, word);
    sm4_sbox(x);
    return unslice_word(x);
}

/* A round for WIDTH blocks: word `a` takes T of the word `b`, the sum of the other two, and the key (section 6.1). */
FN void sm4_round(block_t *x, u32 a, u32 b, const u32 *others, u32 k, LOCAL const u32 *shared) {
    u32 t[WIDTH];
    UNROLL for (u32 w = 0; w < WIDTH; ++w) t[w] = XOR3(x[w].w[b], others[w], k);
    sm4_t(t, shared);
    UNROLL for (u32 w = 0; w < WIDTH; ++w) x[w].w[a] ^= t[w];
}

/* Two rounds, which have two words in common. */
FN void sm4_rounds(block_t *x, u32 a, KEY const u32 *k, LOCAL const u32 *shared) {
    u32 others[WIDTH];
    UNROLL for (u32 w = 0; w < WIDTH; ++w) others[w] = x[w].w[(a + 2) % 4] ^ x[w].w[(a + 3) % 4];
    sm4_round(x, a, a + 1, others, k[0], shared);
    sm4_round(x, a + 1, a, others, k[1], shared);
}

/* 32 rounds and R, which reverses the words (section 7.1). */
FN void cipher_encrypt(block_t *x, KEY const u32 *k, LOCAL const u32 *shared) {
    SM4_ROUNDS_LOOP for (u32 r = 0; r < 32; r += 4) {
        UNROLL for (u32 a = 0; a < 4; a += 2) sm4_rounds(x, a, k + r + a, shared);
    }
    UNROLL for (u32 w = 0; w < WIDTH; ++w) {
        block_t y = x[w];
        UNROLL for (u32 i = 0; i < 4; ++i) x[w].w[i] = y.w[3 - i];
    }
}

/* The same with the round keys in reverse (section 7.2), which is how `cipher_expand_inverse` stores them. */
FN void cipher_decrypt(block_t *x, KEY const u32 *k, LOCAL const u32 *shared) {
    cipher_encrypt(x, k, shared);
}

/* Key expansion (section 7.3): CK_i has the bytes (4 i + j) * 7. */
FN void sm4_expand(GLOBAL const u8 *key, GLOBAL u32 *out, u32 inverse) {
    block_t k;
    k.w[0] = SWAP32(load_word(key)) ^ 0xa3b1bac6u, k.w[1] = SWAP32(load_word(key + 4)) ^ 0x56aa3350u;
    k.w[2] = SWAP32(load_word(key + 8)) ^ 0x677d9197u, k.w[3] = SWAP32(load_word(key + 12)) ^ 0xb27022dcu;
    ROLLED for (u32 i = 0; i < 32; ++i) {
        u32 c = 28 * i, ck = (c & 255) << 24 | (c + 7 & 255) << 16 | (c + 14 & 255) << 8 | (c + 21 & 255);
        u32 b = sm4_sub_word(k.w[1] ^ k.w[2] ^ k.w[3] ^ ck);
        u32 next = k.w[0] ^ b ^ ROTL32(b, 13) ^ ROTL32(b, 23);
        k.w[0] = k.w[1], k.w[1] = k.w[2], k.w[2] = k.w[3], k.w[3] = next;
        out[inverse ? 31 - i : i] = SWAP32(next);
    }
}

FN void cipher_expand(GLOBAL const u8 *key, GLOBAL u32 *out) {
    sm4_expand(key, out, 0);
}

FN void cipher_expand_inverse(GLOBAL const u8 *key, GLOBAL u32 *out) {
    sm4_expand(key, out, 1);
}

FN void cipher_inverse_tables(LOCAL u32 *shared) {
    cipher_forward_tables(shared);
}

#endif
