/* Galois/counter mode (SP 800-38D section 7) of AES for records under one key: a tile for 32 threads, as in entry/gcm.c,
 * with GHASH on binary tensor cores (primitive/ghash_mma.h).
 *
 * Units are counted from the end of the tile's whole blocks: only the first can be short, and blocks before the start are
 * zeros.
 */
#include "batch.h"
#include "primitive/aes_banked.h"
#define GHASH_MORE (4 + 3072 + 4 * 32)
#include "primitive/gcm.h"
#define UNIT_THREADS LANES
#include "primitive/ghash_mma.h"
#include "entry/keys.h"
#include "entry/gcm_stages.h"

#if MMA_BLOCKS % WIDTH || !HAS_MMA_XOR
#error eight blocks of a thread meet the matrix at once
#endif

#include "entry/gcm_counted.h"
#include "entry/gcm_mma.h"

#define TILE_SHARED (4 * MMA_MATRIX)

FN void start_block(LOCAL u32 *matrix, GLOBAL const u32 *powers) {
    GLOBAL const u32 *from = MATRIX_OF(powers);
    ROLLED for (u32 i = THREAD; i < MMA_MATRIX; i += THREADS) matrix[i] = from[i];
}

FN block_t sum_run(const run_t *run, const counting_t *counting, GLOBAL const u32 *powers, KEY const u32 *k,
                   LOCAL const u32 *shared, LOCAL u32 *matrix) {
    u32 units = ((u32)run->blocks + UNIT - 1) / UNIT;
    return sum_units(units, 0, units, counting, run, FACTORS_OF(powers), k, shared, matrix);
}

#include "entry/gcm_tiles.h"
