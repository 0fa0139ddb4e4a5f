/* SHA-2 (FIPS 180-4 section 6) with words of WORD_BITS bits; the headers below it give the word and its functions. */
#ifndef CL_SHA2
#define CL_SHA2
#include "primitive/digest.h"

#define HASH_BLOCK (16 * WORD_BYTES)

typedef struct {
    word_t h[8];
} hash_t;

FN void hash_start(hash_t *h) {
    UNROLL for (u32 i = 0; i < 8; ++i) h->h[i] = sha2_initial[i];
}

/* Sixteen rounds from round `t` on (sections 6.2.2 and 6.4.2). Unless they are the first, each word of the schedule takes
 * the place of the word sixteen before.
 */
FN void sha2_sixteen(word_t *s, word_t *w, u32 t, u32 first) {
    UNROLL for (u32 i = 0; i < 16; ++i) {
        if (!first) w[i] += SMALL_1(w[(i + 14) % 16]) + w[(i + 9) % 16] + SMALL_0(w[(i + 1) % 16]);
        /* The eight words turn by one place a round, which is renaming. */
        word_t a = s[(0 - i) & 7], b = s[(1 - i) & 7], c = s[(2 - i) & 7], d = s[(3 - i) & 7];
        word_t e = s[(4 - i) & 7], f = s[(5 - i) & 7], g = s[(6 - i) & 7], k = s[(7 - i) & 7];
        word_t t1 = k + LARGE_1(e) + ((e & f) ^ (~e & g)) + sha2_constant[t + i] + w[i];
        s[(3 - i) & 7] = d + t1;
        s[(7 - i) & 7] = t1 + LARGE_0(a) + ((a & b) ^ (a & c) ^ (b & c));
    }
}

/* The first sixteen rounds stand apart: asked in each round whether it is one of them, NVIDIA's compiler for OpenCL branches
 * in each.
 */
FN void sha2_compress(hash_t *h, word_t *w) {
    word_t s[8];
    UNROLL for (u32 i = 0; i < 8; ++i) s[i] = h->h[i];
    sha2_sixteen(s, w, 0, 1);
    ROLLED for (u32 t = 16; t < SHA2_ROUNDS; t += 16) sha2_sixteen(s, w, t, 0);
    UNROLL for (u32 i = 0; i < 8; ++i) h->h[i] += s[i];
}

FN void hash_block(hash_t *h, GLOBAL const u8 *from) {
    word_t w[16];
    UNROLL for (u32 i = 0; i < HASH_BLOCK / 16; ++i) {
        block_t b = load_block(from + 16 * i);
        sha2_words(w, i, &b);
    }
    sha2_compress(h, w);
}

/* Chunk `i` of what is left, with the bit that follows it (section 5.1). */
FN block_t sha2_padded(GLOBAL const u8 *from, u32 left, u32 i) {
    u32 have = left > 16 * i ? left - 16 * i : 0;
    if (have >= 16) return load_block(from + 16 * i);
    block_t b = have ? load_part(from + 16 * i, have) : zero_block();
    if (left >= 16 * i) {
        UNROLL for (u32 j = 0; j < 4; ++j) if (have / 4 == j) b.w[j] |= 0x80u << (8 * (have % 4));
    }
    return b;
}

/* One block or two: the length in bits ends the last, after the words of the message and the bit. */
FN void hash_end(hash_t *h, GLOBAL const u8 *from, u32 left, u64 bytes, GLOBAL u8 *digest, u32 digest_bytes) {
    u32 blocks = left + 1 + 2 * WORD_BYTES > HASH_BLOCK ? 2 : 1;
    ROLLED for (u32 n = 0; n < blocks; ++n) {
        word_t w[16];
        UNROLL for (u32 i = 0; i < HASH_BLOCK / 16; ++i) {
            block_t b = sha2_padded(from, left, n * (HASH_BLOCK / 16) + i);
            if (i == HASH_BLOCK / 16 - 1 && n + 1 == blocks) {
                b.w[2] = SWAP32((u32)(bytes >> 29)), b.w[3] = SWAP32((u32)bytes << 3);
            }
            sha2_words(w, i, &b);
        }
        sha2_compress(h, w);
    }
    UNROLL for (u32 i = 0; i < WORD_BYTES / 2; ++i) {
        block_t b = sha2_chunk(h->h, i);
        store_digest(digest, 16 * i, &b, digest_bytes);
    }
}

#endif
