/* Cipher block chaining, decryption (SP 800-38A section 6.2): 32 threads walk a tile.
 *
 * Every block needs the ciphertext before it. In place another tile may have overwritten it, so the stage `chain`
 * keeps the block before each tile first.
 */
#include "batch.h"
#include CIPHER
#include "entry/keys.h"

#define CHAIN_AT(tile) (work + p.chain_at + ((tile)-p.first_tile) * BLOCK_BYTES)

/* The ciphertext before block `block` of a message, or its IV. */
FN block_t before(GLOBAL const u8 *in, GLOBAL const u8 *iv, const message_t *m, u64 block) {
    return block ? load_block(in + m->at + (block - 1) * BLOCK_BYTES) : load_block(iv);
}

KERNEL(THREADS) ENTRY(chain)(ARGUMENTS) {
    for (u64 tile = p.first_tile + (u64)BLOCK * THREADS + THREAD; tile < p.end_tile; tile += (u64)BLOCKS * THREADS) {
        tile_t t = find_tile(offsets, tiles, &p, tile, TILE, 0);
        block_t b = before(in, NONCE_AT(t.text.message), &t.text, t.first);
        store_block(CHAIN_AT(tile), &b);
    }
}

KERNEL(THREADS) ENTRY(text)(ARGUMENTS) {
    SHARED(shared, CIPHER_SHARED);
    cipher_inverse_tables(shared);
    u32 lane = THREAD % LANES;
    /* In place the lanes of a tile must all have read before any of them writes. */
    u64 groups = (u64)BLOCKS * (THREADS / LANES), mine = OWN_TILE;
    u64 rounds = (p.end_tile - p.first_tile + groups - 1) / groups;
    ROLLED for (u64 round = 0; round < rounds; ++round) {
        u64 tile = mine + round * groups;
        tile_t t;
        t.blocks = 0;
        if (tile < p.end_tile) t = find_tile(offsets, tiles, &p, tile, TILE, 0);
        KEY const u32 *k = ROUND_KEYS(t.blocks ? t.text.row : 0);
        u64 at = t.blocks ? t.text.at + t.first * BLOCK_BYTES : 0;
        /* From the end to the start: what a step overwrites, no later step reads. */
        u32 steps = GROUP_STEPS((t.blocks + LANES * WIDTH - 1) / (LANES * WIDTH), TILE / (LANES * WIDTH));
        ROLLED for (u32 step = steps; step-- > 0;) {
            block_t x[WIDTH], chain[WIDTH];
            u32 i = step * LANES * WIDTH + lane;
            UNROLL for (u32 w = 0; w < WIDTH; ++w) {
                u32 j = i + w * LANES;
                x[w] = zero_block(), chain[w] = zero_block();
                if (j < t.blocks) {
                    x[w] = load_block(in + at + (u64)j * BLOCK_BYTES);
                    if (j > 0)
                        chain[w] = load_block(in + at + (u64)(j - 1) * BLOCK_BYTES);
                    else if (p.flags & IN_PLACE)
                        chain[w] = load_block(CHAIN_AT(tile));
                    else
                        chain[w] = before(in, NONCE_AT(t.text.message), &t.text, t.first);
                }
            }
            GROUP_BARRIER();
            cipher_decrypt(x, k, shared);
            UNROLL for (u32 w = 0; w < WIDTH; ++w) {
                u32 j = i + w * LANES;
                xor_block(&x[w], &chain[w]);
                if (j < t.blocks) store_block(out + at + (u64)j * BLOCK_BYTES, &x[w]);
            }
        }
    }
}
