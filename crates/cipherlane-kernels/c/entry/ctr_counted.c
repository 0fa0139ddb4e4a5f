/* Counter mode (SP 800-38A section 6.5) of AES for messages that fill some rows of 256 blocks: 32 threads walk a tile,
 * as in entry/ctr.c, and share what the first two rounds make of the upper bytes of its counters
 * (primitive/aes_counted.h).
 */
#include "batch.h"
#include "primitive/aes_counted.h"
#include "entry/keys.h"

#if WIDTH != 1
#error a thread keeps the lowest byte of its counter
#endif

/* How a thread counts whose blocks have the lowest byte of their counters in common: U0 of it, and the tile's table. */
typedef struct {
    block_t low;
    LOCAL const u32 *uppers;
} kept_t;

FN kept_t kept_from(const counting_t *s, u32 count, KEY const u32 *k, LOCAL const u32 *shared) {
    kept_t kept;
    kept.low = zero_block(), kept.uppers = s->uppers;
    counter_add(&kept.low, 0, count & 255, s->column, k, shared);
    return kept;
}

/* The state after round 2. */
FN block_t kept_state(const kept_t *s, u32 count) {
    block_t x = counting_upper(s->uppers, count);
    xor_block(&x, &s->low);
    return x;
}

#define STRIDE 256
#define COUNTING const kept_t
#define COUNTED(s, count, k, shared) kept_state((s), (count))
/* Whole tiles have a power of two of rows. */
#define TURN 4
#include "entry/ctr_run.h"

/* A word that all threads of a tile have alike. Of one that comes from another thread CUDA's compiler knows that it is,
 * and keeps it, and what loops go by, in registers that these threads share: it has too few of their own.
 */
FN u32 alike(u32 word) {
#if HAS_SHUFFLE
    return SHUFFLE(word, 0);
#else
    return word;
#endif
}

/* The whole blocks of a tile, whose counters have their upper twelve bytes in common: column after column of its rows
 * of 256 blocks, so that a thread looks its lowest byte up once in a column.
 */
FN void run_columns(const tile_t *t, GLOBAL const u8 *from, GLOBAL u8 *to, const counting_t *s, KEY const u32 *k,
                    LOCAL const u32 *shared) {
    u32 lane = THREAD % LANES, whole = alike(t->bytes / BLOCK_BYTES);
    ROLLED for (u32 i = 0; i < STRIDE && i < whole; i += LANES) {
        place_t here;
        here.from = from + (i + lane) * BLOCK_BYTES, here.to = to + (i + lane) * BLOCK_BYTES;
        here.count = s->low + i + lane;
        kept_t kept = kept_from(s, here.count, k, shared);
        u32 end = s->low + whole;
#if HAS_TURNS
        /* As many for all threads as the last one has. */
        ROLLED for (u32 turns = (whole - i + STRIDE - LANES) / STRIDE / TURN; turns; --turns)
            run_turn(&here, &kept, k, shared);
#endif
        ROLLED while (here.count < end) run_block(&here, &kept, k, shared);
    }
}

/* The blocks from `first` on by all rounds: of a tile whose counters carry into the upper twelve bytes (SP 800-38A
 * appendix B.1), or the part of one at a message's end.
 */
FN void run_rest(const tile_t *t, u32 first, GLOBAL const u8 *from, GLOBAL u8 *to, const block_t *counter,
                 KEY const u32 *k, LOCAL const u32 *shared) {
    ROLLED for (u32 i = first + THREAD % LANES; i < t->blocks; i += LANES) {
        block_t x = counter_block(counter, i);
        cipher_encrypt_one(&x, k, shared);
        xor_text(from, to, i * BLOCK_BYTES, t->bytes - i * BLOCK_BYTES, &x);
    }
}

KERNEL(THREADS) ENTRY(text)(ARGUMENTS) {
    SHARED(shared, CIPHER_SHARED + THREADS / LANES * 4 * COUNTED_WORDS);
    LOCAL u32 *uppers = shared + CIPHER_SHARED / 4 + THREAD / LANES * COUNTED_WORDS;
    cipher_forward_tables(shared);
    /* As many rounds for all groups, since where one meets all may have to. */
    u32 groups = BLOCKS * (THREADS / LANES);
    ROLLED for (u64 round = 0; p.first_tile + round < p.end_tile; round += groups) {
        u64 tile = OWN_TILE + round;
        u32 has_tile = tile < p.end_tile;
        tile_t t = find_tile(offsets, tiles, &p, has_tile ? tile : p.first_tile, TILE, 0);
        KEY const u32 *k = ROUND_KEYS(t.text.row);
        block_t counter = counter_words(load_block(NONCE_AT(t.text.message)));
        counter = counter_words(counter_block(&counter, t.first));
        counting_t s = counting_from(&counter, t.blocks, k, shared, uppers);
        GROUP_BARRIER();
        if (has_tile) {
            u32 carries = counter.w[3] + (t.blocks - 1) < counter.w[3];
            u64 at = t.text.at + t.first * BLOCK_BYTES;
            /* In this order: what the columns have no use for takes none of their registers. */
            run_rest(&t, carries ? 0 : t.bytes / BLOCK_BYTES, in + at, out + at, &counter, k, shared);
            if (!carries) run_columns(&t, in + at, out + at, &s, k, shared);
        }
        GROUP_BARRIER();
    }
}
