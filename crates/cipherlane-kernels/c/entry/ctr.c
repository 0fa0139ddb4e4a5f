/* Counter mode (SP 800-38A section 6.5) with a 128-bit counter block: 32 threads walk a tile. */
#include "batch.h"
#include "primitive/counter.h"
#include CIPHER
#include "entry/keys.h"

KERNEL(THREADS) ENTRY(text)(ARGUMENTS) {
    SHARED(shared, CIPHER_SHARED);
    cipher_forward_tables(shared);
    EACH_TILE(tile) {
        tile_t t = find_tile(offsets, tiles, &p, tile, TILE, 0);
        KEY const u32 *k = ROUND_KEYS(t.text.row);
        block_t counter = counter_words(load_block(NONCE_AT(t.text.message)));
        walk_t walk = walk_from(&counter, t.first + THREAD % LANES);
        u64 at = t.text.at + t.first * BLOCK_BYTES;
        ROLLED for (u32 i = THREAD % LANES; i < t.blocks; i += LANES * WIDTH) {
            block_t x[WIDTH];
            UNROLL for (u32 w = 0; w < WIDTH; ++w) {
                x[w] = walk.memory;
                walk_on(&walk, LANES);
            }
            cipher_encrypt(x, k, shared);
            UNROLL for (u32 w = 0; w < WIDTH; ++w) {
                u32 j = i + w * LANES;
                if (j < t.blocks) xor_text(in, out, at + (u64)j * BLOCK_BYTES, t.bytes - j * BLOCK_BYTES, &x[w]);
            }
        }
    }
}
