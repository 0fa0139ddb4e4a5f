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
#include "entry/gcm_stages.h"

KERNEL(THREADS) ENTRY(text)(ARGUMENTS) {
    SHARED(shared, CIPHER_SHARED + GROUP_SCRATCH(THREADS));
    cipher_forward_tables(shared);
    u32 lane = THREAD % LANES;
    u64 groups = (u64)BLOCKS * (THREADS / LANES), mine = OWN_TILE;
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
