/* What the kernels of GCM on binary tensor cores share: the stage `matrix`, and the sum of a run of whole units.
 *
 * Before it stand UNIT_THREADS, and how a run counts (entry/gcm_run.h).
 */
/* J = 2 step and 2 step + 1, and both eight further. */
#define PLACE(i, step) (UNIT_THREADS * (((i)&1) * 8 + (step)*2 + ((i) >> 1)))
#include "entry/gcm_run.h"

#define MATRIX_AT ((GLOBAL u32 *)(work + p.hash_at) + 4 * (LANES + GHASH_SQUARES))

/* 128 threads: the matrix, a power and a word each. Then what the rows owe. */
KERNEL(THREADS) ENTRY(matrix)(ARGUMENTS) {
    GLOBAL const u32 *powers = GHASH_ROW_AT(0);
    ROLLED for (u32 i = THREAD; BLOCK == 0 && i < 128; i += THREADS) {
        u32 t = i % 4, half = i / 4 % 2, step = i / 8 % 4, v = i / 32;
        block_t power = ghash_power(powers, UNIT - UNIT_THREADS * (2 * step + half) - t);
        mma_matrix(MATRIX_AT, &power, step, half, t, v);
    }
    ROLLED for (u32 row = THREAD; BLOCK == 0 && row < MMA_ROWS; row += THREADS) {
        u32 r = row / (MMA_ROWS / 2), owes = 2 * UNIT_THREADS * r + row % (MMA_ROWS / 2);
        block_t h = ghash_load(powers, 0), inverse = ghash_inverse(&h), factor = ghash_times_x(h);
        /* Rows r MMA_ROWS / 2 + 8 w + q owe H^-4 so many times; the key form of 1 is H times H^-1. */
        factor = ghash_key_form(ghash_multiply(&factor, &inverse));
        inverse = ghash_square_key(ghash_square_key(inverse));
        ROLLED for (; owes; owes >>= 1) {
            block_t plain = ghash_times_x(factor);
            if (owes & 1) factor = ghash_key_form(ghash_multiply(&plain, &inverse));
            inverse = ghash_square_key(inverse);
        }
        ghash_store(MATRIX_AT + MMA_MATRIX, row, &factor);
    }
}

/* The group's units of an aligned run: this lane's share of their sum, with what its row owed. */
FN block_t sum_units(u64 units, u64 unit, u64 end_unit, COUNTING *s, const run_t *run, GLOBAL const u32 *factors,
                     KEY const u32 *k, LOCAL const u32 *shared, LOCAL const u32 *matrix) {
    u32 rows[2], lane = THREAD % LANES;
    rows[0] = rows[1] = 0;
    i64 block = run->blocks - (i64)((units - unit) * UNIT) + THREAD % UNIT_THREADS;
    ROLLED for (u32 n = (u32)(end_unit - unit); n > 0; --n, block += UNIT) {
        u32 sums[64];
        UNROLL for (u32 i = 0; i < 64; ++i) sums[i] = 0;
        ROLLED for (u32 step = 0; step < 4; ++step) {
            block_t x[4];
            four_blocks(x, block, step, s, run, k, shared);
            if (step == 0) {
                UNROLL for (u32 r = 0; r < 2; ++r) {
                    block_t before = mma_gather(rows[r]);
                    if (lane % 4 == 0) xor_block(&x[r], &before);
                }
            }
            mma_step(sums, x, step, matrix);
        }
        mma_rows(rows, sums);
    }
    /* Lanes 0 and 1 of a quad take its two rows. */
    block_t y = zero_block();
    UNROLL for (u32 r = 0; r < 2; ++r) {
        block_t row = mma_gather(rows[r]);
        if (lane % 4 == r) y = row;
    }
    u32 number = lane % 2 * (MMA_ROWS / 2) + THREAD % UNIT_THREADS / LANES * 8 + lane / 4;
    block_t factor = ghash_load(factors, number);
    y = ghash_element(y);
    return ghash_multiply(&y, &factor);
}
