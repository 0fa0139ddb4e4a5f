/* GHASH (SP 800-38D section 6.4) by integer multiplication with holes: no table, no instruction for GF(2), and the
 * multiplier's pipe is one that ciphers leave idle.
 *
 * An element is four words, word 0 the most significant: its top bit is the coefficient of 1, its lowest that of
 * x^127. The product of two such integers without carries has 255 bits and reads as the product times x, so the
 * second factor always is a power of H divided by x: its key form.
 */
#ifndef CL_GHASH
#define CL_GHASH
#include "batch.h"

FN block_t ghash_element(block_t memory) {
    UNROLL for (u32 i = 0; i < 4; ++i) memory.w[i] = SWAP32(memory.w[i]);
    return memory;
}

/* 32 x 32 bits without carries. Every fourth bit at a time: at most eight ones add up, which the three bits of the
 * hole take, so the lowest bit of each group of four is their sum modulo 2.
 */
FN u64 ghash_carryless(u32 a, u32 b) {
    u32 low = 0, high = 0;
    UNROLL for (u32 k = 0; k < 4; ++k) {
        u64 sum = 0;
        UNROLL for (u32 i = 0; i < 4; ++i) {
            u32 j = (k - i) & 3;
            sum ^= WIDE(a & 0x11111111u << i, b & 0x11111111u << j);
        }
        low |= (u32)sum & 0x11111111u << k;
        high |= (u32)(sum >> 32) & 0x11111111u << k;
    }
    return (u64)high << 32 | low;
}

/* 64 x 64 bits by Karatsuba's three products; r[0] is the top word of four. */
FN void ghash_product_64(u32 a0, u32 a1, u32 b0, u32 b1, u32 *r) {
    u64 high = ghash_carryless(a0, b0), low = ghash_carryless(a1, b1);
    u64 middle = ghash_carryless(a0 ^ a1, b0 ^ b1) ^ high ^ low;
    r[0] = (u32)(high >> 32);
    r[1] = (u32)high ^ (u32)(middle >> 32);
    r[2] = (u32)(low >> 32) ^ (u32)middle;
    r[3] = (u32)low;
}

/* 255 bits back to 128. x^128 = x^7 + x^2 + x + 1, and higher powers lie further down: bits move right. */
FN block_t ghash_reduce(const u32 *r) {
    block_t h;
    u32 v4 = r[4] ^ r[7] << 31 ^ r[7] << 30 ^ r[7] << 25, v5 = r[5], v6 = r[6], v7 = r[7];
    h.w[0] = r[0] ^ v4 ^ v4 >> 1 ^ v4 >> 2 ^ v4 >> 7;
    h.w[1] = r[1] ^ v5 ^ FUNNEL_RIGHT(v5, v4, 1) ^ FUNNEL_RIGHT(v5, v4, 2) ^ FUNNEL_RIGHT(v5, v4, 7);
    h.w[2] = r[2] ^ v6 ^ FUNNEL_RIGHT(v6, v5, 1) ^ FUNNEL_RIGHT(v6, v5, 2) ^ FUNNEL_RIGHT(v6, v5, 7);
    h.w[3] = r[3] ^ v7 ^ FUNNEL_RIGHT(v7, v6, 1) ^ FUNNEL_RIGHT(v7, v6, 2) ^ FUNNEL_RIGHT(v7, v6, 7);
    return h;
}

/* a * (the power whose key form is b). */
FN block_t ghash_multiply(const block_t *a, const block_t *b) {
    u32 high[4], low[4], middle[4], r[8];
    ghash_product_64(a->w[0], a->w[1], b->w[0], b->w[1], high);
    ghash_product_64(a->w[2], a->w[3], b->w[2], b->w[3], low);
    ghash_product_64(a->w[0] ^ a->w[2], a->w[1] ^ a->w[3], b->w[0] ^ b->w[2], b->w[1] ^ b->w[3], middle);
    UNROLL for (u32 i = 0; i < 4; ++i) middle[i] ^= high[i] ^ low[i];
    r[0] = high[0], r[1] = high[1], r[2] = high[2] ^ middle[0], r[3] = high[3] ^ middle[1];
    r[4] = low[0] ^ middle[2], r[5] = low[1] ^ middle[3], r[6] = low[2], r[7] = low[3];
    return ghash_reduce(r);
}

/* The same in a third of the code and few registers: for what is done seldom, beside what fills the registers. */
FN block_t ghash_multiply_small(const block_t *a, const block_t *b) {
    u32 r[8];
    UNROLL for (u32 i = 0; i < 8; ++i) r[i] = 0;
    /* The upper halves, the lower ones, and both added up. */
    ROLLED for (u32 i = 0; i < 3; ++i) {
        u32 upper = 0u - (i != 1), lower = 0u - (i != 0), p[4];
        ghash_product_64((a->w[0] & upper) ^ (a->w[2] & lower), (a->w[1] & upper) ^ (a->w[3] & lower),
                         (b->w[0] & upper) ^ (b->w[2] & lower), (b->w[1] & upper) ^ (b->w[3] & lower), p);
        UNROLL for (u32 j = 0; j < 4; ++j) r[j] ^= p[j] & ~lower, r[j + 2] ^= p[j], r[j + 4] ^= p[j] & ~upper;
    }
    return ghash_reduce(r);
}

/* a * x. */
FN block_t ghash_times_x(block_t a) {
    block_t r;
    u32 odd = 0 - (a.w[3] & 1);
    UNROLL for (u32 i = 0; i < 4; ++i) r.w[i] = a.w[i] >> 1 | (i ? a.w[i - 1] << 31 : 0);
    r.w[0] ^= odd & 0xe1000000u;
    return r;
}

/* The key form of H^2n from that of H^n: squared, it has been divided by x twice. */
FN block_t ghash_square_key(block_t a) {
    u32 r[8];
    UNROLL for (u32 i = 0; i < 4; ++i) {
        r[2 * i] = spread_bits(a.w[i] >> 16) << 1;
        r[2 * i + 1] = spread_bits(a.w[i] & 0xffffu) << 1;
    }
    return ghash_times_x(ghash_reduce(r));
}

/* The key form of H: divided by x. 1/x = x^127 + x^6 + x + 1. */
FN block_t ghash_key_form(block_t h) {
    block_t r;
    u32 odd = 0 - (h.w[0] >> 31);
    UNROLL for (u32 i = 0; i < 4; ++i) r.w[i] = h.w[i] << 1 | (i < 3 ? h.w[i + 1] >> 31 : 0);
    r.w[0] ^= odd & 0xc2000000u;
    r.w[3] ^= odd & 1;
    return r;
}

/* A row of the region `hash`: H to the powers 1..32 in key form, then the powers 2^i for 0 <= i < GHASH_SQUARES. */
#define GHASH_SQUARES 33
#ifndef GHASH_MORE
#define GHASH_MORE 0
#endif
#define GHASH_ROW (4 * (LANES + GHASH_SQUARES) + GHASH_MORE)
#define GHASH_ROW_AT(row) ((GLOBAL u32 *)(work + p.hash_at) + (row)*GHASH_ROW)

FN block_t ghash_load(GLOBAL const u32 *row, u32 i) {
    block_t b;
    words4 v = *(GLOBAL const words4 *)(row + 4 * i);
    b.w[0] = v.x, b.w[1] = v.y, b.w[2] = v.z, b.w[3] = v.w;
    return b;
}

FN void ghash_store(GLOBAL u32 *row, u32 i, const block_t *b) {
    UNROLL for (u32 j = 0; j < 4; ++j) row[4 * i + j] = b->w[j];
}

/* y * H^n, by the bits of n. n is a number of blocks, not a secret, and a message has fewer than 2^32 (section 5.2.1.1). */
FN block_t ghash_multiply_power(block_t y, GLOBAL const u32 *row, u32 n) {
    ROLLED for (u32 i = 0; n; ++i, n >>= 1)
        if (n & 1) {
            block_t power = ghash_load(row, LANES + i);
            y = ghash_multiply_small(&y, &power);
        }
    return y;
}

/* One more block under GHASH. */
FN void ghash_update(block_t *y, const block_t *memory, const block_t *key) {
    block_t x = ghash_element(*memory);
    xor_block(&x, y);
    *y = ghash_multiply(&x, key);
}

FN void ghash_update_small(block_t *y, const block_t *memory, const block_t *key) {
    block_t x = ghash_element(*memory);
    xor_block(&x, y);
    *y = ghash_multiply_small(&x, key);
}

/* The bytes at `p`, the last block filled up with zeros. */
FN void ghash_bytes(block_t *y, GLOBAL const u8 *p, u64 bytes, const block_t *key) {
    ROLLED for (; bytes >= BLOCK_BYTES; bytes -= BLOCK_BYTES, p += BLOCK_BYTES) {
        block_t x = load_block(p);
        ghash_update_small(y, &x, key);
    }
    if (bytes) {
        block_t x = load_part(p, (u32)bytes);
        ghash_update_small(y, &x, key);
    }
}

/* The block that ends GHASH: lengths in bits (section 7.1 step 5). */
FN block_t ghash_lengths(u64 aad_bytes, u64 text_bytes) {
    block_t b;
    b.w[0] = SWAP32((u32)(aad_bytes >> 29)), b.w[1] = SWAP32((u32)aad_bytes << 3);
    b.w[2] = SWAP32((u32)(text_bytes >> 29)), b.w[3] = SWAP32((u32)text_bytes << 3);
    return b;
}

/* J0 of a nonce of 96 bits (section 7.1 step 2), as four words in host order. */
FN block_t gcm_counter_96(GLOBAL const u8 *nonce) {
    block_t y;
    UNROLL for (u32 i = 0; i < 3; ++i) y.w[i] = SWAP32(load_word(nonce + 4 * i));
    y.w[3] = 1;
    return y;
}

/* J0 of any nonce. */
FN block_t gcm_counter(GLOBAL const u8 *nonce, u64 bytes, const block_t *key) {
    if (bytes == 12) return gcm_counter_96(nonce);
    block_t y = zero_block(), lengths = ghash_lengths(0, bytes);
    ghash_bytes(&y, nonce, bytes, key);
    ghash_update_small(&y, &lengths, key);
    return y;
}

#endif
