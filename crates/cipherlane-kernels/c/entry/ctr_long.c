/* Counter mode (SP 800-38A section 6.5) of AES for long messages under one key: a block of threads takes neighbouring
 * tiles as one run, and looks the first two rounds up (primitive/aes_counter.h).
 */
#include "batch.h"
#include "primitive/aes_counter.h"
#include "entry/keys.h"

#if WIDTH != 1 || THREADS % 256 || !SHARED_KEY
#error a thread keeps the lowest byte of its counter, and all threads share the tables of one key
#endif

#define STRIDE THREADS
#define COUNTING counter_t
#define COUNTED(s, count, k, shared) counter_state((s), (count), (k), (shared))
#define TURN 5
#include "entry/ctr_run.h"

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
            u64 i = first + THREAD, whole = t.text.bytes / BLOCK_BYTES < end ? t.text.bytes / BLOCK_BYTES : end;
            place_t here;
            here.from = in + t.text.at + i * BLOCK_BYTES, here.to = out + t.text.at + i * BLOCK_BYTES;
            here.count = (u32)low + THREAD;
#if HAS_TURNS
            /* As many for all threads: the compiler then has the tables' addresses at hand in uniform registers. */
            u32 turns = (u32)((whole - first) / (TURN * THREADS));
            i += (u64)turns * TURN * THREADS;
            ROLLED for (; turns; --turns) run_turn(&here, &s, k, shared);
#endif
            ROLLED for (; i < whole; i += THREADS) run_block(&here, &s, k, shared);
            if (i < end) {
                /* The part of a block at the message's end. */
                block_t x = counter_block(&counter, i);
                cipher_encrypt_one(&x, k, shared);
                xor_text(here.from, here.to, 0, (u32)(t.text.bytes % BLOCK_BYTES), &x);
            }
            first = end;
        }
    }
}
