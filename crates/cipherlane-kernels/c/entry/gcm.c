/* Galois/counter mode (SP 800-38D section 7), a tile for 32 threads.
 *
 * GHASH is a sum: block j of m times H^(m - j), and once more H for the block of lengths. A lane sums every 32nd block
 * of its tile by Horner's rule in H^32, the lanes' sums meet with H^32..H^1, the tile's sum takes the power of the
 * blocks after it and is XORed into the message's row.
 *
 * Stages: `keys`; `hash`, powers of H; `start`, the counter of each message; `text`; `finish`, tags and verdicts; and
 * for open `wipe`, which zeroes the texts of rejected messages.
 */
#include "batch.h"
#include "primitive/gcm.h"
#include CIPHER
#include "entry/keys.h"

/* A row of the region `state`: the sum, J0, and E(J0). */
#define STATE_ROW 16
#define STATE_AT(row) ((GLOBAL u32 *)(work + p.state_at) + (row)*STATE_ROW)

FN block_t encrypt_one(block_t b, KEY const u32 *k, LOCAL const u32 *shared) {
    block_t x[WIDTH];
    UNROLL for (u32 w = 0; w < WIDTH; ++w) x[w] = zero_block();
    x[0] = b;
    cipher_encrypt(x, k, shared);
    return x[0];
}

KERNEL(THREADS) ENTRY(hash)(ARGUMENTS) {
    SHARED(shared, CIPHER_SHARED);
    cipher_forward_tables(shared);
    EACH_KEY(row) {
        GLOBAL u32 *to = GHASH_ROW_AT(row);
        block_t h = ghash_key_form(ghash_element(encrypt_one(zero_block(), ROUND_KEYS(row), shared)));
        block_t power = h;
        ROLLED for (u32 i = 0; i < LANES; ++i) {
            ghash_store(to, i, &power);
            power = ghash_multiply(&power, &h);
        }
        ROLLED for (u32 i = 0; i < GHASH_SQUARES; ++i) {
            ghash_store(to, LANES + i, &h);
            /* The key form of H^(2n): both factors are divided by x, and the product once. */
            block_t square = h;
            h = ghash_multiply(&square, &h);
        }
    }
}

KERNEL(THREADS) ENTRY(start)(ARGUMENTS) {
    SHARED(shared, CIPHER_SHARED);
    cipher_forward_tables(shared);
    for (u64 row = (u64)BLOCK * THREADS + THREAD; row < p.end_message - p.first_message;
         row += (u64)BLOCKS * THREADS) {
        u64 message = p.first_message + row;
        GLOBAL u32 *state = STATE_AT(row);
        block_t h = ghash_load(GHASH_ROW_AT(SHARED_KEY ? 0 : row), 0), zero = zero_block();
        block_t counter = gcm_counter(NONCE_AT(message), NONCE_BYTES(message), &h);
        block_t mask = encrypt_one(counter_block_32(&counter, 0), ROUND_KEYS(row), shared);
        ghash_store(state, 0, &zero);
        ghash_store(state, 1, &counter);
        ghash_store(state, 2, &mask);
    }
}

KERNEL(THREADS) ENTRY(text)(ARGUMENTS) {
    SHARED(shared, CIPHER_SHARED + GROUP_SCRATCH(THREADS));
    cipher_forward_tables(shared);
    u32 lane = THREAD % LANES;
    u64 groups = (u64)BLOCKS * (THREADS / LANES), mine = p.first_tile + ((u64)BLOCK * THREADS + THREAD) / LANES;
    u64 rounds = (p.end_tile - p.first_tile + groups - 1) / groups;
    ROLLED for (u64 round = 0; round < rounds; ++round) {
        u64 tile = mine + round * groups;
        block_t y = zero_block();
        GLOBAL u32 *state = STATE_AT(0);
        if (tile < p.end_tile) {
            tile_t t = find_tile(offsets, tiles, &p, tile, TILE, 0);
            KEY const u32 *k = ROUND_KEYS(t.text.row);
            GLOBAL const u32 *powers = GHASH_ROW_AT(SHARED_KEY ? 0 : t.text.row);
            state = STATE_AT(t.text.row);
            block_t counter = ghash_load(state, 1), leap = ghash_load(powers, LANES - 1);
            u64 at = t.text.at + t.first * BLOCK_BYTES;
            /* Blocks are counted from the end of the tile, so that the last step is a full one: the first lanes of
             * the first step have none. */
            u32 steps = (t.blocks + LANES * WIDTH - 1) / (LANES * WIDTH), absent = steps * LANES * WIDTH - t.blocks;
            ROLLED for (u32 step = 0; step < steps; ++step) {
                block_t x[WIDTH];
                u32 i = step * LANES * WIDTH + lane - absent;
                UNROLL for (u32 w = 0; w < WIDTH; ++w)
                    x[w] = counter_block_32(&counter, (u32)t.first + i + w * LANES + 1);
                cipher_encrypt(x, k, shared);
                UNROLL for (u32 w = 0; w < WIDTH; ++w) {
                    u32 j = i + w * LANES;
                    /* An absent block is far beyond the end, as a number without sign; its sum is still zero. */
                    if (j < t.blocks) {
                        u32 bytes = t.bytes - j * BLOCK_BYTES;
                        u64 here = at + (u64)j * BLOCK_BYTES;
                        block_t text = bytes < BLOCK_BYTES ? load_part(in + here, bytes) : load_block(in + here);
                        xor_block(&x[w], &text);
                        if (bytes < BLOCK_BYTES) {
                            keep_part(&x[w], bytes);
                            store_part(out + here, &x[w], bytes);
                        } else {
                            store_block(out + here, &x[w]);
                        }
#if INVERSE
                        x[w] = text;
#endif
                        if (step + w > 0) y = ghash_multiply(&y, &leap);
                        x[w] = ghash_element(x[w]);
                        xor_block(&y, &x[w]);
                    }
                }
            }
            block_t own = ghash_load(powers, LANES - 1 - lane);
            y = ghash_multiply(&y, &own);
            if (lane == 0) state = STATE_AT(t.text.row);
            /* The blocks of the message after this tile. */
            u64 after = (t.text.bytes + BLOCK_BYTES - 1) / BLOCK_BYTES - t.first - t.blocks;
            y = ghash_multiply_power(y, powers, after);
        }
        UNROLL for (u32 i = 0; i < 4; ++i) {
            u32 sum = GROUP_XOR(y.w[i], shared + CIPHER_SHARED / 4);
            if (lane == i && tile < p.end_tile) ATOMIC_XOR(&state[i], sum);
        }
    }
}

KERNEL(THREADS) ENTRY(finish)(ARGUMENTS) {
    for (u64 row = (u64)BLOCK * THREADS + THREAD; row < p.end_message - p.first_message;
         row += (u64)BLOCKS * THREADS) {
        message_t m = find_message(offsets, &p, p.first_message + row);
        GLOBAL const u32 *powers = GHASH_ROW_AT(SHARED_KEY ? 0 : row);
        block_t h = ghash_load(powers, 0), text = ghash_load(STATE_AT(row), 0), mask = ghash_load(STATE_AT(row), 2);
        block_t y = zero_block(), lengths = ghash_lengths(AAD_BYTES(m.message), m.bytes);
        ghash_bytes(&y, AAD_AT(m.message), AAD_BYTES(m.message), &h);
        /* The AAD comes before the text: its sum takes the power of the text's blocks. The text's has its own. */
        y = ghash_multiply_power(y, powers, (m.bytes + BLOCK_BYTES - 1) / BLOCK_BYTES);
        xor_block(&y, &text);
        ghash_update(&y, &lengths, &h);
        block_t tag = ghash_element(y);
        xor_block(&tag, &mask);
        u32 bytes = TAG_BYTES(m.message);
#if INVERSE
        accepted[m.message] = (u8)tags_agree(&tag, TAG_AT(m.message), bytes);
#else
        store_part(TAG_AT(m.message), &tag, bytes);
#endif
    }
}

#if INVERSE
KERNEL(THREADS) ENTRY(wipe)(ARGUMENTS) {
    EACH_TILE(tile) {
        tile_t t = find_tile(offsets, tiles, &p, tile, TILE, 0);
        if (accepted[t.text.message]) continue;
        GLOBAL u8 *to = out + t.text.at + t.first * BLOCK_BYTES;
        for (u32 i = THREAD % LANES; i < t.bytes; i += LANES) to[i] = 0;
    }
}
#endif
