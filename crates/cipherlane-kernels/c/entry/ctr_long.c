/* Counter mode (SP 800-38A section 6.5) of AES for long messages under one key: a block of threads takes neighbouring
 * tiles as one run, and looks the first two rounds up (primitive/aes_counter.h).
 */
#include "batch.h"
#include "primitive/aes_counter.h"
#include "entry/keys.h"

#if WIDTH != 1 || THREADS % 256
#error a thread keeps the lowest byte of its counter
#endif

KERNEL(THREADS) ENTRY(text)(ARGUMENTS) {
    SHARED(shared, CIPHER_SHARED + COUNTER_SHARED);
    cipher_forward_tables(shared);
    KEY const u32 *k = ROUND_KEYS(0);
    u64 all = p.end_tile - p.first_tile;
    u64 tile = p.first_tile + all * BLOCK / BLOCKS, end_tile = p.first_tile + all * (BLOCK + 1) / BLOCKS;
    ROLLED while (tile < end_tile) {
        tile_t t = find_tile(offsets, tiles, &p, tile, TILE, 0);
        u64 end_of_text = p.uniform_tiles ? (t.text.message + 1) * p.uniform_tiles : tiles[t.text.message + 1];
        u64 next = end_tile < end_of_text ? end_tile : end_of_text;
        u64 end_block = t.first + (next - tile) * TILE, blocks = (t.text.bytes + BLOCK_BYTES - 1) / BLOCK_BYTES;
        if (end_block > blocks) end_block = blocks;
        tile = next;
        block_t counter = counter_words(load_block(NONCE_AT(t.text.message)));
        ROLLED for (u64 first = t.first; first < end_block;) {
            /* As far as the upper twelve bytes stay. */
            u64 low = counter.w[3] + first, wrap = ((low >> 32) + 1 << 32) - counter.w[3];
            u64 end = wrap < end_block ? wrap : end_block;
            block_t upper = counter_words(counter_block(&counter, first));
            counter_t s;
            counter_start(&s, &upper, k, shared);
            u32 count = (u32)low + THREAD;
            u64 i = first + THREAD, whole = t.text.bytes / BLOCK_BYTES < end ? t.text.bytes / BLOCK_BYTES : end;
            GLOBAL const u8 *from = in + t.text.at + i * BLOCK_BYTES;
            GLOBAL u8 *to = out + t.text.at + i * BLOCK_BYTES;
            ROLLED for (; i < whole; i += THREADS, count += THREADS) {
                block_t text = load_block(from), x[1];
                x[0] = counter_state(&s, count, k, shared);
                aes_rounds(x, WIDTH, k, shared, 3, 0);
                xor_block(&x[0], &text);
                store_block(to, &x[0]);
                from += THREADS * BLOCK_BYTES, to += THREADS * BLOCK_BYTES;
            }
            if (i < end) {
                /* The part of a block at the message's end. */
                block_t x = counter_block(&counter, i);
                cipher_encrypt_one(&x, k, shared);
                xor_text(from, to, 0, (u32)(t.text.bytes % BLOCK_BYTES), &x);
            }
            first = end;
        }
    }
}
