/* Cipher block chaining, encryption (SP 800-38A section 6.2): each block waits for the one before it, so a thread
 * walks a message, and the only parallelism is between messages.
 */
#include "batch.h"
#include CIPHER
#include "entry/keys.h"

/* Blocks that a thread reads at once. Messages lie apart, and a thread's reads are all that there is to a row of memory:
 * two sectors of 32 bytes cost the memory little more than half of one.
 */
#define AHEAD 4

/* The first AHEAD of `blocks` blocks, which may be fewer or, as a number with sign, none. */
FN void load_ahead(block_t *x, GLOBAL const u8 *from, u64 blocks) {
    UNROLL for (u32 i = 0; i < AHEAD; ++i)
        x[i] = (i64)blocks > (i64)i ? load_block(from + i * BLOCK_BYTES) : zero_block();
}

KERNEL(THREADS) ENTRY(text)(ARGUMENTS) {
    SHARED(shared, CIPHER_SHARED);
    cipher_forward_tables(shared);
    EACH_MESSAGE(message) {
        message_t m = find_message(offsets, &p, message);
        KEY const u32 *k = ROUND_KEYS(m.row);
        block_t chain = load_block(NONCE_AT(message));
        u64 blocks = m.bytes / BLOCK_BYTES;
        block_t next[AHEAD];
        load_ahead(next, in + m.at, blocks);
        ROLLED for (u64 first = 0; first < blocks; first += AHEAD) {
            block_t now[AHEAD];
            UNROLL for (u32 i = 0; i < AHEAD; ++i) now[i] = next[i];
            /* These are on their way while the others are enciphered. */
            load_ahead(next, in + m.at + (first + AHEAD) * BLOCK_BYTES, blocks - first - AHEAD);
            ROLLED for (u32 i = 0; i < AHEAD && first + i < blocks; ++i) {
                block_t x[WIDTH];
                UNROLL for (u32 w = 0; w < WIDTH; ++w) x[w] = zero_block();
                x[0] = now[0];
                UNROLL for (u32 j = 1; j < AHEAD; ++j) now[j - 1] = now[j];
                xor_block(&x[0], &chain);
                cipher_encrypt(x, k, shared);
                chain = x[0];
                store_block(out + m.at + (first + i) * BLOCK_BYTES, &chain);
            }
        }
    }
}
