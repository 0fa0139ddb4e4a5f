/* Galois/counter mode (SP 800-38D section 7) of AES for records with a key each: a tile for 32 threads, as in
 * entry/gcm.c, with GHASH on binary tensor cores (primitive/ghash_each.h).
 *
 * Pairs of units are counted from the end of the tile's whole blocks: only the first can be short, and blocks before the
 * start are zeros.
 */
#include "batch.h"
#include "primitive/aes_banked.h"
#include "primitive/gcm.h"
#define UNIT_THREADS LANES
#include "primitive/ghash_each.h"
#include "entry/keys.h"
#include "entry/gcm_stages.h"

#if WIDTH != 4 || TABLES != 4 || !HAS_MMA_XOR
#error four blocks of a thread are the rows of two matrices
#endif

#include "entry/gcm_counted.h"
#include "entry/gcm_run.h"

#define TILE_SHARED (THREADS * EACH_WORDS * 4)

FN void start_block(LOCAL u32 *matrix, GLOBAL const u32 *powers) {
    (void)matrix, (void)powers;
}

FN block_t sum_run(const run_t *run, const counting_t *counting, GLOBAL const u32 *powers, KEY const u32 *k,
                   LOCAL const u32 *shared, LOCAL u32 *matrix) {
    u32 lane = THREAD % LANES, rows[2];
    LOCAL u32 *own = matrix + THREAD / LANES * (LANES * EACH_WORDS);
    block_t leap = ghash_load(powers, LANES - 1), h = ghash_load(powers, LANES - 1 - THREAD % 4), last[2];
    h = ghash_times_x(h);
    /* In few registers, as 512 threads have no more than 128 each; so is the last product. */
    h = ghash_multiply_small(&h, &leap);
    each_matrix(own, &h);
    rows[0] = rows[1] = 0;
    int blocks = (int)run->blocks, pairs = (blocks + 2 * EACH_UNIT - 1) / (2 * EACH_UNIT);
    int block = blocks - pairs * (2 * EACH_UNIT) + (int)lane;
    ROLLED for (u32 n = (u32)pairs; n > 0; --n, block += 2 * EACH_UNIT) {
        block_t x[4];
        run_blocks(x, WIDTH, block, counting, run, k, shared);
        ROLLED for (u32 unit = 0; unit < 2; ++unit) {
            UNROLL for (u32 r = 0; r < 2; ++r) mma_carry(&x[r], rows[r]);
            last[0] = x[0], last[1] = x[1];
            if (n > 1 || unit == 0) each_rows(rows, x, own);
            x[0] = x[2], x[1] = x[3];
        }
    }
    /* The last unit: by Horner's rule in H^32, then the lane's own power. */
    block_t y = ghash_element(last[0]), x = ghash_element(last[1]), power = ghash_load(powers, LANES - 1);
    y = ghash_multiply(&y, &power);
    xor_block(&y, &x);
    power = ghash_load(powers, LANES - 1 - lane);
    return ghash_multiply_small(&y, &power);
}

#include "entry/gcm_tiles.h"
