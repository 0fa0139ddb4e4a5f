/* How a thread that walks a message alone enciphers its counters, from block to block: `counting_from` before a run of
 * counters that have their upper 24 bits in common, `counting_stream` for each of them. `n` is added to the counter
 * block `first`, which is in host order. COUNTERS_SHARE says whether that needs them in common.
 */
#ifndef CL_GCM_MESSAGE_COUNTER
#define CL_GCM_MESSAGE_COUNTER

#ifdef CL_AES_BANKED
#include "primitive/aes_counter.h"
#define COUNTERS_SHARE 1

/* Of the 32 look-ups of the first two rounds five are left, as in entry/gcm_counted.h. */
typedef struct {
    /* U1 + U2 + U3 and the key of round 2. */
    block_t upper;
    /* Column 0 after round 1 without the counter's part. */
    u32 column;
} counting_t;

FN counting_t counting_from(const block_t *first, u32 n, KEY const u32 *k, LOCAL const u32 *shared) {
    counting_t s;
    u32 count = first->w[3] + n, w[3];
    UNROLL for (u32 i = 0; i < 3; ++i) w[i] = SWAP32(first->w[i]) ^ k[i];
    UNROLL for (u32 c = 0; c < 4; ++c) s.upper.w[c] = k[8 + c];
    UNROLL for (u32 c = 1; c < 4; ++c)
        counter_add(&s.upper, c, count >> 8 * c & 255, counter_column(w, c, k, shared), k, shared);
    s.column = counter_column(w, 0, k, shared);
    return s;
}

FN block_t counting_stream(const counting_t *s, const block_t *first, u32 n, KEY const u32 *k,
                           LOCAL const u32 *shared) {
    block_t x = s->upper;
    counter_add(&x, 0, (first->w[3] + n) & 255, s->column, k, shared);
    aes_rounds(&x, 1, k, shared, 3, ROUNDS, 0);
    return x;
}

#else
/* Other ciphers have nothing that counters share. */
#define COUNTERS_SHARE 0
typedef u32 counting_t;

FN counting_t counting_from(const block_t *first, u32 n, KEY const u32 *k, LOCAL const u32 *shared) {
    (void)first, (void)n, (void)k, (void)shared;
    return 0;
}

FN block_t counting_stream(const counting_t *s, const block_t *first, u32 n, KEY const u32 *k,
                           LOCAL const u32 *shared) {
    (void)s;
    block_t x = counter_block_32(first, n);
    cipher_encrypt(&x, k, shared);
    return x;
}
#endif

#endif
