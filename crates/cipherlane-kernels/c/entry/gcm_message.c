/* Galois/counter mode (SP 800-38D section 7) of short messages: a thread walks a message from its key to its verdict.
 *
 * With a key each (KEY_IN_REGISTERS) it expands the key itself, and nothing about the key ever lies in memory. With a
 * shared key the stages `keys` and `hash` come first.
 */
#include "batch.h"
#include "primitive/gcm.h"
#include "primitive/ghash_summed.h"
#include CIPHER
#include "entry/gcm_message_counter.h"

#if WIDTH != 1
#error a thread has one block in flight
#endif

FN block_t encrypt_one(block_t b, KEY const u32 *k, LOCAL const u32 *shared) {
    cipher_encrypt(&b, k, shared);
    return b;
}

#if !KEY_IN_REGISTERS
#include "entry/keys.h"

#if SHARED_KEY
#define HASH_KEYS(row) 0
#else
#define HASH_KEYS(row) (row)
#endif

KERNEL(THREADS) ENTRY(hash)(ARGUMENTS) {
    SHARED(shared, CIPHER_SHARED);
    cipher_forward_tables(shared);
    EACH_KEY(row) {
        block_t h = ghash_key_form(ghash_element(encrypt_one(zero_block(), ROUND_KEYS(row), shared)));
        ghash_store((GLOBAL u32 *)(work + p.hash_at), (u32)row, &h);
    }
}
#endif

/* A block that the next multiplication takes in. */
FN void ghash_add(block_t *y, const block_t *memory) {
    block_t x = ghash_element(*memory);
    xor_block(y, &x);
}

/* What J0 is counted up by for what a thread enciphers: the blocks of a message from 1 on, and last E(J0), the mask of the
 * tag.
 */
FN u32 counter_of(u32 n, u32 blocks) {
    return n > blocks ? 0 : n;
}

/* From block `n` on, as far as the upper 24 bits of the counters stay; to the end where counters share nothing. Gives the
 * block that comes next, or 0 if there is none: then the mask has taken the place of `counter`.
 *
 * A secret counter shares nothing with the next: a walk is then one block, which makes all look-ups of the first two rounds,
 * and where counters carry is not to be seen.
 *
 * GHASH takes the ciphertext, which comes out or, to open, goes in. A multiplication stands before the block that is
 * added, not after: so it is that of the block before, and keeps the multiplier's pipe busy while look-ups are on
 * their way.
 */
FN u32 walk(const message_t *m, GLOBAL const u8 *in, GLOBAL u8 *out, u32 n, u32 is_public, block_t *counter,
            block_t *y, const block_t *h, KEY const u32 *k, LOCAL const u32 *shared) {
    u32 blocks = (u32)((m->bytes + BLOCK_BYTES - 1) / BLOCK_BYTES);
    u32 count = counter_of(n, blocks), upper = is_public ? (counter->w[3] + count) >> 8 : ~0u;
    counting_t counting = counting_from(counter, count, k, shared);
    ROLLED do {
        block_t x = counting_stream(&counting, counter, count, k, shared);
        *y = ghash_multiply_summed(y, h);
        if (n > blocks) {
            *counter = x;
            return 0;
        }
        u64 at = (u64)(n - 1) * BLOCK_BYTES;
        u32 part = n == blocks ? (u32)(m->bytes - at) : BLOCK_BYTES;
        at += m->at;
        block_t text = part < BLOCK_BYTES ? load_part(in + at, part) : load_block(in + at);
        xor_block(&x, &text);
        if (part < BLOCK_BYTES) {
            keep_part(&x, part);
            store_part(out + at, &x, part);
        } else {
            store_block(out + at, &x);
        }
        ghash_add(y, INVERSE ? &text : &x);
        count = counter_of(++n, blocks);
    } while (!COUNTERS_SHARE || (counter->w[3] + count) >> 8 == upper);
    return n;
}

/* Beside a key of its own, or what finds it, there is no register left for what the fast one keeps of H. */
#if !SHARED_KEY
#define ghash_multiply_last ghash_multiply_small
#else
#define ghash_multiply_last ghash_multiply_summed
#endif

/* The AAD, but for the multiplication of its last block, which is the text's first. */
FN block_t absorb(GLOBAL const u8 *from, u64 bytes, const block_t *h) {
    block_t y = zero_block();
    ROLLED for (; bytes > BLOCK_BYTES; bytes -= BLOCK_BYTES, from += BLOCK_BYTES) {
        block_t x = load_block(from);
        ghash_add(&y, &x);
        y = ghash_multiply_small(&y, h);
    }
    block_t x = load_part(from, (u32)bytes);
    ghash_add(&y, &x);
    return y;
}

/* Where a message stands: not as EACH_MESSAGE has it, but LANES neighbouring threads take neighbouring messages, and the
 * next ones are the next block's, so that each block has a share of the last round.
 */
#define PLACE_OF(warp) (((u64)(warp) * BLOCKS + BLOCK) * LANES + THREAD % LANES)

KERNEL(THREADS) ENTRY(text)(ARGUMENTS) {
    SHARED(shared, CIPHER_SHARED);
    cipher_forward_tables(shared);
    ROLLED for (u32 warp = THREAD / LANES; PLACE_OF(warp) < p.end_message - p.first_message;
                warp += THREADS / LANES) {
        u64 message = p.first_message + (p.flags & ORDERED ? order[PLACE_OF(warp)] : PLACE_OF(warp));
        message_t m = find_message(offsets, &p, message);
        block_t y = zero_block(), counter = zero_block(), h;
        u32 n = 1;
        /* Once, but where counters carry into their upper 24 bits or are secret: then there was no room to keep the key
         * either.
         */
        ROLLED do {
#if KEY_IN_REGISTERS
            u32 k[SCHEDULE_ROW];
            cipher_expand_here(KEY_AT(m.row), k, shared);
            h = ghash_key_form(ghash_element(encrypt_one(zero_block(), k, shared)));
#else
            KEY const u32 *k = ROUND_KEYS(m.row);
            h = ghash_load((GLOBAL const u32 *)(work + p.hash_at), (u32)HASH_KEYS(m.row));
#endif
            if (n == 1) {
                counter = gcm_counter(NONCE_AT(message), NONCE_BYTES(message), &h);
                y = absorb(AAD_AT(message), AAD_BYTES(message), &h);
            }
            n = walk(&m, in, out, n, HAS_PUBLIC_COUNTER(message), &counter, &y, &h, k, shared);
        } while (n);
        /* Found again, as there was no room to keep it. */
        m = find_message(offsets, &p, message);
        block_t lengths = ghash_lengths(AAD_BYTES(message), m.bytes);
        ghash_add(&y, &lengths);
        y = ghash_multiply_last(&y, &h);
        block_t tag = ghash_element(y);
        xor_block(&tag, &counter);
#if INVERSE
        u32 right = tags_agree(&tag, TAG_AT(message), TAG_BYTES(message));
        accepted[message] = (u8)right;
        if (!right) zero_text(out + m.at, m.bytes);
#else
        store_part(TAG_AT(message), &tag, TAG_BYTES(message));
#endif
    }
}
