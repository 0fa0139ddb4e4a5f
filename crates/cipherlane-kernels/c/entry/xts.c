/* XEX with tweak and ciphertext stealing (IEEE 1619 section 5.3): 32 threads walk a tile, each WIDTH blocks at a time.
 *
 * Stage `start` makes the first tweak of each message, stage `chain` the first of each tile.
 */
#include "batch.h"
#include "primitive/tweak.h"
#include CIPHER
#include "entry/keys.h"

#define STATE_AT(row) (work + p.state_at + (row)*BLOCK_BYTES)
#define CHAIN_AT(tile) (work + p.chain_at + ((tile)-p.first_tile) * BLOCK_BYTES)
#if SHARED_KEY
#define TWEAK_KEYS(row) (ROUND_KEYS(row) + SCHEDULE_ROW)
#define DATA_KEYS(row) ROUND_KEYS(row)
#else
#define TWEAK_KEYS(row) (ROUND_KEYS(2 * (row)) + SCHEDULE_ROW)
#define DATA_KEYS(row) ROUND_KEYS(2 * (row))
#endif

KERNEL(THREADS) ENTRY(start)(ARGUMENTS) {
    SHARED(shared, CIPHER_SHARED);
    cipher_forward_tables(shared);
    for (u64 row = (u64)BLOCK * THREADS + THREAD; row < p.end_message - p.first_message;
         row += (u64)BLOCKS * THREADS) {
        block_t x[WIDTH];
        UNROLL for (u32 w = 0; w < WIDTH; ++w) x[w] = zero_block();
        x[0] = load_block(NONCE_AT(p.first_message + row));
        cipher_encrypt(x, TWEAK_KEYS(row), shared);
        store_block(STATE_AT(row), &x[0]);
    }
}

KERNEL(THREADS) ENTRY(chain)(ARGUMENTS) {
    for (u64 tile = p.first_tile + (u64)BLOCK * THREADS + THREAD; tile < p.end_tile; tile += (u64)BLOCKS * THREADS) {
        tile_t t = find_tile(offsets, tiles, &p, tile, TILE, 1);
        block_t tweak = load_block(STATE_AT(t.text.row));
        if (t.first) tweak = move_tweak(&tweak, t.first);
        store_block(CHAIN_AT(tile), &tweak);
    }
}

#if INVERSE
#define XTS_CIPHER(x, k) cipher_decrypt(x, k, shared)
#else
#define XTS_CIPHER(x, k) cipher_encrypt(x, k, shared)
#endif

/* The tweak of block `n` of a tile that begins with `tweak`. */
FN block_t tweak_at(block_t tweak, u32 n) {
    ROLLED for (; n >= 32; n -= 32) step_tweak(&tweak);
    return shift_tweak(&tweak, n);
}

/* `low` with its first `bytes` bytes taken from `part`. */
FN block_t splice(block_t low, const block_t *part, u32 bytes) {
    block_t kept = low;
    keep_part(&kept, bytes);
    xor_block(&low, &kept);
    xor_block(&low, part);
    return low;
}

/* The last whole block and the part after it (section 5.3.2): the block's result, spliced with the part, goes
 * through the cipher once more. Its front becomes the part. Decryption takes the two tweaks the other way round.
 */
FN void steal(GLOBAL const u8 *from, GLOBAL u8 *to, u32 part, KEY const u32 *k, LOCAL const u32 *shared,
              const block_t *own) {
    block_t next = shift_tweak(own, 1), x[WIDTH], stolen = load_part(from + BLOCK_BYTES, part);
    UNROLL for (u32 w = 0; w < WIDTH; ++w) x[w] = zero_block();
    x[0] = load_block(from);
    UNROLL for (u32 pass = 0; pass < 2; ++pass) {
        block_t tweak = pass == INVERSE ? *own : next;
        if (pass == 1) {
            store_part(to + BLOCK_BYTES, &x[0], part);
            x[0] = splice(x[0], &stolen, part);
        }
        xor_block(&x[0], &tweak);
        XTS_CIPHER(x, k);
        xor_block(&x[0], &tweak);
    }
    store_block(to, &x[0]);
}

KERNEL(THREADS) ENTRY(text)(ARGUMENTS) {
    SHARED(shared, CIPHER_SHARED);
#if INVERSE
    cipher_inverse_tables(shared);
#else
    cipher_forward_tables(shared);
#endif
    EACH_TILE(tile) {
        tile_t t = find_tile(offsets, tiles, &p, tile, TILE, 1);
        KEY const u32 *k = DATA_KEYS(t.text.row);
        u64 at = t.text.at + t.first * BLOCK_BYTES;
        u32 part = t.bytes % BLOCK_BYTES, blocks = t.bytes / BLOCK_BYTES - (part ? 1 : 0), lane = THREAD % LANES;
        block_t first = load_block(CHAIN_AT(tile)), tweak = shift_tweak(&first, lane);
        ROLLED for (u32 i = lane; i < blocks; i += LANES * WIDTH) {
            block_t x[WIDTH], tweaks[WIDTH];
            UNROLL for (u32 w = 0; w < WIDTH; ++w) {
                u32 j = i + w * LANES;
                x[w] = j < blocks ? load_block(in + at + (u64)j * BLOCK_BYTES) : zero_block();
                tweaks[w] = tweak;
                xor_block(&x[w], &tweak);
                step_tweak(&tweak);
            }
            XTS_CIPHER(x, k);
            UNROLL for (u32 w = 0; w < WIDTH; ++w) {
                u32 j = i + w * LANES;
                xor_block(&x[w], &tweaks[w]);
                if (j < blocks) store_block(out + at + (u64)j * BLOCK_BYTES, &x[w]);
            }
        }
        if (part && lane == 0) {
            u64 last = at + (u64)blocks * BLOCK_BYTES;
            block_t own = tweak_at(first, blocks);
            steal(in + last, out + last, part, k, shared, &own);
        }
    }
}
