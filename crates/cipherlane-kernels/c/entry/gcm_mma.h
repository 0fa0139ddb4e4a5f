/* What the kernels of GCM on binary tensor cores share: the stage `matrix`, and the sum of a run of whole units.
 *
 * Before it stand UNIT_THREADS, and how a run counts (entry/gcm_run.h).
 */
#include "entry/gcm_run.h"

/* What a row owes: rows r MMA_ROWS / 4 + 8 w + q owe H^-4 so many times. */
FN block_t row_factor(GLOBAL const u32 *powers, u32 row) {
    u32 owes = UNIT_THREADS / 2 * (row / (MMA_ROWS / 4)) + row % (MMA_ROWS / 4);
    block_t h = ghash_load(powers, 0), inverse = ghash_load(powers, MMA_INVERSE), factor = ghash_times_x(h);
    /* The key form of 1 is H times H^-1. */
    factor = ghash_key_form(ghash_multiply_small(&factor, &inverse));
    inverse = ghash_square_key(ghash_square_key(inverse));
    ROLLED for (; owes; owes >>= 1) {
        block_t plain = ghash_times_x(factor);
        if (owes & 1) factor = ghash_key_form(ghash_multiply_small(&plain, &inverse));
        inverse = ghash_square_key(inverse);
    }
    return factor;
}

/* 64 threads: the matrix, a power and a column of each group. The others: the rows' factors. */
KERNEL(THREADS) ENTRY(matrix)(ARGUMENTS) {
    GLOBAL u32 *powers = GHASH_ROW_AT(0);
    ROLLED for (u32 i = THREAD; BLOCK == 0 && i < 64 + MMA_ROWS; i += THREADS) {
        if (i < 64) {
            u32 t = i % 4, odd = i / 4 % 2, g = i / 8;
            block_t power = ghash_power(powers, UNIT - UNIT_THREADS * odd - t);
            mma_matrix(MATRIX_OF(powers), &power, odd, t, g);
        } else {
            block_t factor = row_factor(powers, i - 64);
            ghash_store(FACTORS_OF(powers), i - 64, &factor);
        }
    }
}

/* The group's units of an aligned run: this lane's share of their sum, with what its row owed. */
FN block_t sum_units(u32 units, u32 unit, u32 end_unit, COUNTING *s, const run_t *run, GLOBAL const u32 *factors,
                     KEY const u32 *k, LOCAL const u32 *shared, LOCAL const u32 *matrix) {
    u32 rows[4], lane = THREAD % LANES;
    UNROLL for (u32 r = 0; r < 4; ++r) rows[r] = 0;
    int block = (int)((u32)run->blocks - (units - unit) * UNIT + THREAD % UNIT_THREADS);
    ROLLED for (u32 n = end_unit - unit; n > 0; --n, block += UNIT) {
        block_t x[MMA_BLOCKS];
        UNROLL for (u32 i = 0; i < MMA_BLOCKS; i += WIDTH)
            run_blocks(x + i, WIDTH, block + (int)(i * UNIT_THREADS), s, run, k, shared);
        UNROLL for (u32 r = 0; r < 4; ++r) mma_carry(&x[2 * r], rows[r]);
        mma_rows(rows, x, matrix);
    }
    /* The lanes of a quad take a row each. */
    block_t y = zero_block();
    UNROLL for (u32 r = 0; r < 4; ++r) {
        block_t row = mma_gather(rows[r]);
        if (lane % 4 == r) y = row;
    }
    u32 number = lane % 4 * (MMA_ROWS / 4) + THREAD % UNIT_THREADS / LANES * 8 + lane / 4;
    block_t factor = ghash_load(factors, number);
    y = ghash_element(y);
    return ghash_multiply_small(&y, &factor);
}
