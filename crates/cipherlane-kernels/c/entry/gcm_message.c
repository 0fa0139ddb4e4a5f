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

/* The whole text under the key stream; GHASH takes the ciphertext, which comes out or, to open, goes in. */
FN void walk(GLOBAL const u8 *from, GLOBAL u8 *to, u64 bytes, const block_t *counter, block_t *y, const block_t *h,
             KEY const u32 *k, LOCAL const u32 *shared) {
    u32 count = 0;
    ROLLED for (u64 i = 0; i < bytes; i += BLOCK_BYTES) {
        u32 part = bytes - i < BLOCK_BYTES ? (u32)(bytes - i) : BLOCK_BYTES;
        block_t text = part < BLOCK_BYTES ? load_part(from + i, part) : load_block(from + i);
        block_t x = encrypt_one(counter_block_32(counter, ++count), k, shared);
        xor_block(&x, &text);
        if (part < BLOCK_BYTES) {
            keep_part(&x, part);
            store_part(to + i, &x, part);
        } else {
            store_block(to + i, &x);
        }
        ghash_update(y, INVERSE ? &text : &x, h);
    }
}

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
        block_t counter = gcm_counter(NONCE_AT(message), NONCE_BYTES(message), &h), y = zero_block();
        u64 aad_bytes = AAD_BYTES(message);
        ghash_bytes(&y, AAD_AT(message), aad_bytes, &h);
        walk(in + m.at, out + m.at, m.bytes, &counter, &y, &h, k, shared);
        block_t lengths = ghash_lengths(aad_bytes, m.bytes);
        ghash_update(&y, &lengths, &h);
        block_t tag = encrypt_one(counter_block_32(&counter, 0), k, shared);
        y = ghash_element(y);
        xor_block(&tag, &y);
#if INVERSE
        u32 right = tags_agree(&tag, TAG_AT(message), TAG_BYTES(message));
        accepted[message] = (u8)right;
        if (!right) zero_text(out + m.at, m.bytes);
#else
        store_part(TAG_AT(message), &tag, TAG_BYTES(message));
#endif
    }
}
