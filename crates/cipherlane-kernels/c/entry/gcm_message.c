/* Galois/counter mode (SP 800-38D section 7) of short messages: a thread walks a message from its key to its verdict.
 *
 * With a key each (KEY_IN_REGISTERS) it expands the key itself, and nothing about the key ever lies in memory. With a
 * shared key the stages `keys` and `hash` come first.
 */
#include "batch.h"
#include "primitive/gcm.h"
#include CIPHER

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

/* E(J0), which masks the tag, and the whole text under the key stream. GHASH takes the ciphertext, which comes out or,
 * to open, goes in.
 */
FN block_t walk(GLOBAL const u8 *from, GLOBAL u8 *to, u64 bytes, const block_t *counter, block_t *y, const block_t *h,
                KEY const u32 *k, LOCAL const u32 *shared) {
    block_t mask = zero_block();
    u32 blocks = (u32)((bytes + BLOCK_BYTES - 1) / BLOCK_BYTES);
    ROLLED for (u32 i = 0; i <= blocks; ++i) {
        block_t x = encrypt_one(counter_block_32(counter, i), k, shared);
        if (i == 0) {
            mask = x;
            continue;
        }
        u64 at = (u64)(i - 1) * BLOCK_BYTES;
        u32 part = i == blocks ? (u32)(bytes - at) : BLOCK_BYTES;
        block_t text = part < BLOCK_BYTES ? load_part(from + at, part) : load_block(from + at);
        xor_block(&x, &text);
        if (part < BLOCK_BYTES) {
            keep_part(&x, part);
            store_part(to + at, &x, part);
        } else {
            store_block(to + at, &x);
        }
        ghash_update(y, INVERSE ? &text : &x, h);
    }
    return mask;
}

/* GHASH runs over three things: a nonce that is not 96 bits long, the AAD, and the text with the lengths. One loop for
 * them: a multiplication is 450 instructions, and every place that has one costs the cache of instructions.
 */
enum { NONCE_PASS, AAD_PASS, LENGTHS_PASS, PASSES };

KERNEL(THREADS) ENTRY(text)(ARGUMENTS) {
    SHARED(shared, CIPHER_SHARED);
    cipher_forward_tables(shared);
    EACH_MESSAGE(message) {
        message_t m = find_message(offsets, &p, message);
#if KEY_IN_REGISTERS
        u32 k[SCHEDULE_ROW];
        cipher_expand_here(KEY_AT(m.row), k, shared);
        block_t h = ghash_key_form(ghash_element(encrypt_one(zero_block(), k, shared)));
#else
        KEY const u32 *k = ROUND_KEYS(m.row);
        block_t h = ghash_load((GLOBAL const u32 *)(work + p.hash_at), (u32)HASH_KEYS(m.row));
#endif
        u64 nonce_length = NONCE_BYTES(message), aad_length = AAD_BYTES(message);
        block_t y = zero_block(), counter = zero_block(), mask = zero_block();
        if (nonce_length == 12) counter = gcm_counter_96(NONCE_AT(message));
        ROLLED for (u32 pass = nonce_length == 12 ? AAD_PASS : NONCE_PASS; pass < PASSES; ++pass) {
            GLOBAL const u8 *from = pass == NONCE_PASS ? NONCE_AT(message) : AAD_AT(message);
            u64 left = pass == NONCE_PASS ? nonce_length : pass == AAD_PASS ? aad_length : 0;
            u32 lengths = pass != AAD_PASS;
            ROLLED while (left || lengths) {
                block_t x;
                if (left) {
                    u32 part = left < BLOCK_BYTES ? (u32)left : BLOCK_BYTES;
                    x = part < BLOCK_BYTES ? load_part(from, part) : load_block(from);
                    from += part, left -= part;
                } else {
                    x = pass == NONCE_PASS ? ghash_lengths(0, nonce_length) : ghash_lengths(aad_length, m.bytes);
                    lengths = 0;
                }
                ghash_update(&y, &x, &h);
            }
            if (pass == NONCE_PASS) counter = y, y = zero_block();
            if (pass == AAD_PASS) mask = walk(in + m.at, out + m.at, m.bytes, &counter, &y, &h, k, shared);
        }
        block_t tag = ghash_element(y);
        xor_block(&tag, &mask);
#if INVERSE
        u32 right = tags_agree(&tag, TAG_AT(message), TAG_BYTES(message));
        accepted[message] = (u8)right;
        if (!right) zero_text(out + m.at, m.bytes);
#else
        store_part(TAG_AT(message), &tag, TAG_BYTES(message));
#endif
    }
}
