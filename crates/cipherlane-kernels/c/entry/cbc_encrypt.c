/* Cipher block chaining, encryption (SP 800-38A section 6.2): each block waits for the one before it, so a thread
 * walks a message, and the only parallelism is between messages.
 */
#include "batch.h"
#include CIPHER
#include "entry/keys.h"

KERNEL(THREADS) ENTRY(text)(ARGUMENTS) {
    SHARED(shared, CIPHER_SHARED);
    cipher_forward_tables(shared);
    EACH_MESSAGE(message) {
        message_t m = find_message(offsets, &p, message);
        KEY const u32 *k = ROUND_KEYS(m.row);
        block_t chain = load_block(NONCE_AT(message));
        if (m.bytes == 0) continue;
        block_t next = load_block(in + m.at);
        ROLLED for (u64 i = 0; i < m.bytes; i += BLOCK_BYTES) {
            block_t x[WIDTH];
            UNROLL for (u32 w = 0; w < WIDTH; ++w) x[w] = zero_block();
            x[0] = next;
            xor_block(&x[0], &chain);
            /* The next block is on its way while this one is enciphered. */
            if (i + BLOCK_BYTES < m.bytes) next = load_block(in + m.at + i + BLOCK_BYTES);
            cipher_encrypt(x, k, shared);
            chain = x[0];
            store_block(out + m.at + i, &chain);
        }
    }
}
