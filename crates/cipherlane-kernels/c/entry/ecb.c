/* Electronic codebook (SP 800-38A section 6.1): 32 threads walk a tile, each WIDTH blocks at a time. */
#include "batch.h"
#include CIPHER
#include "entry/keys.h"

KERNEL(THREADS) ENTRY(text)(ARGUMENTS) {
    SHARED(shared, CIPHER_SHARED);
#if INVERSE
    cipher_inverse_tables(shared);
#else
    cipher_forward_tables(shared);
#endif
    EACH_TILE(tile) {
        tile_t t = find_tile(offsets, tiles, &p, tile, TILE, 0);
        KEY const u32 *k = ROUND_KEYS(t.text.row);
        u64 at = t.text.at + t.first * BLOCK_BYTES;
        u32 from = MISALIGNMENT(in + at, 16), to = MISALIGNMENT(out + at, 16);
        ROLLED for (u32 i = THREAD % LANES; i < t.blocks; i += LANES * WIDTH) {
            block_t x[WIDTH];
            UNROLL for (u32 w = 0; w < WIDTH; ++w) {
                u32 j = i + w * LANES;
                x[w] = j < t.blocks ? load_block_off(in + at + (u64)j * BLOCK_BYTES, from) : zero_block();
            }
#if INVERSE
            cipher_decrypt(x, k, shared);
#else
            cipher_encrypt(x, k, shared);
#endif
            UNROLL for (u32 w = 0; w < WIDTH; ++w) {
                u32 j = i + w * LANES;
                if (j < t.blocks) store_block_off(out + at + (u64)j * BLOCK_BYTES, to, &x[w]);
            }
        }
    }
}
