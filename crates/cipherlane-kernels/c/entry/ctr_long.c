/* Counter mode (SP 800-38A section 6.5) of AES for long messages under one key: a block of threads takes neighbouring
 * tiles as one run, and looks the first two rounds up (primitive/aes_counter.h).
 */
#include "batch.h"
#include "primitive/aes_counter.h"
#include "entry/keys.h"

#if WIDTH != 1 || THREADS % 256
#error a thread keeps the lowest byte of its counter
#endif

/* How far a thread has come in a run: its block's counter, and where that block lies in both texts. */
typedef struct {
    GLOBAL const u8 *from;
    GLOBAL u8 *to;
    u32 count;
} place_t;

/* To the thread's next block. */
FN void place_on(place_t *here) {
    here->from += THREADS * BLOCK_BYTES, here->to += THREADS * BLOCK_BYTES, here->count += THREADS;
}

FN void run_block(place_t *here, counter_t *s, KEY const u32 *k, LOCAL const u32 *shared) {
    block_t text = load_block(here->from), x = counter_state(s, here->count, k, shared);
    aes_rounds(&x, 1, k, shared, 3, ROUNDS, 0);
    xor_block(&x, &text);
    store_block(here->to, &x);
    place_on(here);
}

#if TABLES == 4
/* Of so many blocks of a thread two do without look-ups in the last round: with more, instructions would be what is
 * waited for, as they are with fewer tables.
 */
#define TURN 5

FN void run_turn(place_t *here, counter_t *s, KEY const u32 *k, LOCAL const u32 *shared) {
    block_t x[2];
    ROLLED for (u32 i = 0; i < TURN - 2; ++i) run_block(here, s, k, shared);
    /* One after the other: side by side they would take more registers. */
    UNROLL for (u32 i = 0; i < 2; ++i) {
        x[i] = counter_state(s, here->count + i * THREADS, k, shared);
        aes_rounds(&x[i], 1, k, shared, 3, ROUNDS - 1, 0);
    }
    aes_last_pair(&x[0], &x[1], k, 0);
    UNROLL for (u32 i = 0; i < 2; ++i) {
        xor_text(here->from, here->to, 0, BLOCK_BYTES, &x[i]);
        place_on(here);
    }
}
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
            u64 i = first + THREAD, whole = t.text.bytes / BLOCK_BYTES < end ? t.text.bytes / BLOCK_BYTES : end;
            place_t here;
            here.from = in + t.text.at + i * BLOCK_BYTES, here.to = out + t.text.at + i * BLOCK_BYTES;
            here.count = (u32)low + THREAD;
#if TABLES == 4
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
