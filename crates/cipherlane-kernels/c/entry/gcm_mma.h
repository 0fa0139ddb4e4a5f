/* What the kernels of GCM on binary tensor cores share: the stage `matrix`, and the sum of a run of whole units.
 *
 * Before it stand UNIT_THREADS, and how a run counts: COUNTING, a type; `COUNTED(counting, run, here, k, shared)`, the
 * state for block `here` before round COUNTED_ROUNDS + 1.
 */
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

/* A run of whole blocks of a message: `in` and `out` point to its first, whose counter is `count`. */
typedef struct {
    GLOBAL const u8 *in;
    GLOBAL u8 *out;
    u32 count;
    i64 blocks;
} run_t;

FN block_t load_aligned(GLOBAL const u8 *p) {
    words4 v = *(GLOBAL const words4 *)p;
    block_t b;
    b.w[0] = v.x, b.w[1] = v.y, b.w[2] = v.z, b.w[3] = v.w;
    return b;
}

FN void store_aligned(GLOBAL u8 *p, const block_t *b) {
    words4 v;
    v.x = b->w[0], v.y = b->w[1], v.z = b->w[2], v.w = b->w[3];
    *(GLOBAL words4 *)p = v;
}

/* Blocks `block` + UNIT_THREADS i of the run, of which the first may be before it, for four values of i: J = 2 step and
 * 2 step + 1, and both eight further. They come back as GHASH takes them.
 */
FN void four_blocks(block_t *x, i64 block, u32 step, COUNTING *s, const run_t *run, KEY const u32 *k,
                    LOCAL const u32 *shared) {
    block_t text[4];
    UNROLL for (u32 i = 0; i < 4; ++i) {
        i64 here = block + UNIT_THREADS * ((i & 1) * 8 + step * 2 + (i >> 1));
        text[i] = here >= 0 ? load_aligned(run->in + here * BLOCK_BYTES) : zero_block();
        x[i] = COUNTED(s, run, here, k, shared);
    }
    aes_rounds(x, WIDTH, k, shared, COUNTED_ROUNDS + 1, 0);
    UNROLL for (u32 i = 0; i < 4; ++i) {
        i64 here = block + UNIT_THREADS * ((i & 1) * 8 + step * 2 + (i >> 1));
        xor_block(&x[i], &text[i]);
        if (here >= 0) store_aligned(run->out + here * BLOCK_BYTES, &x[i]);
        UNROLL for (u32 w = 0; w < 4; ++w) x[i].w[w] = here < 0 ? 0 : INVERSE ? text[i].w[w] : x[i].w[w];
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

/* The bytes after the whole blocks of a message, by one thread: what they add to the sum. */
FN block_t sum_part(GLOBAL const u8 *from, GLOBAL u8 *to, u32 bytes, const block_t *counter, GLOBAL const u32 *powers,
                    KEY const u32 *k, LOCAL const u32 *shared) {
    block_t h = ghash_load(powers, 0), x = encrypt_one(*counter, k, shared), text = load_part(from, bytes);
    xor_block(&x, &text);
    keep_part(&x, bytes);
    store_part(to, &x, bytes);
    x = ghash_element(INVERSE ? text : x);
    return ghash_multiply(&x, &h);
}
