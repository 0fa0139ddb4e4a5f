/* Big-endian counters (SP 800-38A appendix B.1). */
#ifndef CL_COUNTER
#define CL_COUNTER
#include "batch.h"

/* A counter block whose four words were turned to host order: word 0 is the most significant. */
FN block_t counter_words(block_t b) {
    UNROLL for (u32 i = 0; i < 4; ++i) b.w[i] = SWAP32(b.w[i]);
    return b;
}

/* The block `c` + n modulo 2^128, in memory order. */
FN block_t counter_block(const block_t *c, u64 n) {
    block_t b;
    u64 low = ((u64)c->w[2] << 32 | c->w[3]) + n;
    u64 carry = low < n;
    u64 high = ((u64)c->w[0] << 32 | c->w[1]) + carry;
    b.w[0] = SWAP32((u32)(high >> 32)), b.w[1] = SWAP32((u32)high);
    b.w[2] = SWAP32((u32)(low >> 32)), b.w[3] = SWAP32((u32)low);
    return b;
}

/* A counter block on its way: in memory order, and its last word in host order. */
typedef struct {
    block_t memory;
    u32 low;
} walk_t;

FN walk_t walk_from(const block_t *c, u64 n) {
    walk_t s;
    s.memory = counter_block(c, n);
    s.low = SWAP32(s.memory.w[3]);
    return s;
}

/* `n` blocks on. The upper words change once in 2^32 blocks. */
FN void walk_on(walk_t *s, u32 n) {
    s->low += n;
    s->memory.w[3] = SWAP32(s->low);
    if (s->low < n) {
        u32 carry = 1;
        UNROLL for (u32 i = 3; i-- > 0;) {
            u32 word = SWAP32(s->memory.w[i]) + carry;
            carry = carry && word == 0;
            s->memory.w[i] = SWAP32(word);
        }
    }
}

/* The block `c` with its last word + n modulo 2^32, as GCM counts (SP 800-38D section 6.2), in memory order. */
FN block_t counter_block_32(const block_t *c, u32 n) {
    block_t b;
    UNROLL for (u32 i = 0; i < 3; ++i) b.w[i] = SWAP32(c->w[i]);
    b.w[3] = SWAP32(c->w[3] + n);
    return b;
}

/* XORs `key stream` into the text at `at`: `bytes` of it, up to a block. */
FN void xor_text(GLOBAL const u8 *in, GLOBAL u8 *out, u64 at, u32 bytes, const block_t *stream) {
    block_t x;
    if (bytes >= BLOCK_BYTES) {
        x = load_block(in + at);
        xor_block(&x, stream);
        store_block(out + at, &x);
    } else {
        x = load_part(in + at, bytes);
        xor_block(&x, stream);
        store_part(out + at, &x, bytes);
    }
}

#endif
