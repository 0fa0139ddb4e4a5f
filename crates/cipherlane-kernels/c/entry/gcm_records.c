/* Galois/counter mode (SP 800-38D section 7) of AES for records under one key: a tile for 32 threads, as in entry/gcm.c,
 * with GHASH on binary tensor cores (primitive/ghash_mma.h).
 *
 * Units are counted from the end of the tile's whole blocks: only the first can be short, and blocks before the start are
 * zeros. Counters are enciphered from the first round: a record is too short for tables of its own.
 */
#include "batch.h"
#include "primitive/aes_banked.h"
#define GHASH_MORE (16384 + 64)
#include "primitive/gcm.h"
#define UNIT_THREADS LANES
#include "primitive/ghash_mma.h"
#include "entry/keys.h"
#include "entry/gcm_stages.h"

#if WIDTH != 4 || TABLES != 4 || !HAS_MMA_XOR
#error four blocks of a thread are the rows of a matrix
#endif

FN block_t whitened(const block_t *counter, u32 n, KEY const u32 *k) {
    block_t x = counter_block_32(counter, n);
    aes_whiten(&x, 1, k);
    return x;
}

#define COUNTING const block_t
#define COUNTED(counter, run, here, k, shared) whitened((counter), (u32)(here), (k))
#define COUNTED_ROUNDS 0
#include "entry/gcm_mma.h"

/* The sum of a run whose blocks are not aligned: every lane by Horner's rule in H^32. */
FN block_t sum_lanes(const run_t *run, const block_t *counter, GLOBAL const u32 *powers, KEY const u32 *k,
                     LOCAL const u32 *shared) {
    u32 lane = THREAD % LANES;
    block_t y = zero_block();
    i64 i = run->blocks - (run->blocks + LANES - 1) / LANES * LANES + lane;
    ROLLED for (; i < run->blocks; i += LANES) {
        if (i < 0) continue;
        block_t here = counter_block_32(counter, (u32)i);
        block_t x = encrypt_one(here, k, shared), text = load_block(run->in + i * BLOCK_BYTES);
        xor_block(&x, &text);
        store_block(run->out + i * BLOCK_BYTES, &x);
        x = ghash_element(INVERSE ? text : x);
        /* Loaded each time, or the compiler keeps 36 masked words of it ready, and spills. */
        block_t leap = ghash_load(powers, LANES - 1);
        y = ghash_multiply(&y, &leap);
        xor_block(&y, &x);
    }
    block_t own = ghash_load(powers, LANES - 1 - lane);
    return ghash_multiply(&y, &own);
}

/* The lanes' shares of a tile's sum, with the power of what comes after it in its message. */
FN block_t sum_tile(const tile_t *t, GLOBAL const u8 *in, GLOBAL u8 *out, GLOBAL const u32 *state,
                    GLOBAL const u32 *powers, KEY const u32 *k, LOCAL const u32 *shared, LOCAL const u32 *matrix) {
    block_t counter = ghash_load(state, 1), y = zero_block();
    counter.w[3] += 1 + (u32)t->first;
    u64 at = t->text.at + t->first * BLOCK_BYTES;
    u32 part = t->bytes % BLOCK_BYTES;
    run_t run;
    run.in = in + at, run.out = out + at, run.count = 0, run.blocks = t->bytes / BLOCK_BYTES;
    if (MISALIGNMENT(run.in, 16) | MISALIGNMENT(run.out, 16)) {
        y = sum_lanes(&run, &counter, powers, k, shared);
    } else if (run.blocks) {
        u32 units = ((u32)run.blocks + UNIT - 1) / UNIT;
        y = sum_units(units, 0, units, &counter, &run, powers + 4 * (LANES + GHASH_SQUARES) + MMA_MATRIX, k, shared,
                      matrix);
    }
    u64 after = (t->text.bytes + BLOCK_BYTES - 1) / BLOCK_BYTES - t->first - t->bytes / BLOCK_BYTES;
    y = ghash_multiply_power(y, powers, after);
    if (part && THREAD % LANES == 0) {
        u64 there = at + t->bytes / BLOCK_BYTES * BLOCK_BYTES;
        block_t last = ghash_load(state, 1);
        last = counter_block_32(&last, 1 + (u32)t->first + t->bytes / BLOCK_BYTES);
        last = sum_part(in + there, out + there, part, &last, powers, k, shared);
        xor_block(&y, &last);
    }
    return y;
}

KERNEL(THREADS) ENTRY(text)(ARGUMENTS) {
    SHARED(shared, CIPHER_SHARED + 4 * MMA_MATRIX + GROUP_SCRATCH(THREADS));
    LOCAL u32 *matrix = shared + CIPHER_SHARED / 4;
    ROLLED for (u32 i = THREAD; i < MMA_MATRIX; i += THREADS) matrix[i] = MATRIX_AT[i];
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
            state = STATE_AT(t.text.row);
            y = sum_tile(&t, in, out, state, GHASH_ROW_AT(0), ROUND_KEYS(0), shared, matrix);
        }
        UNROLL for (u32 i = 0; i < 4; ++i) {
            u32 sum = GROUP_XOR(y.w[i], matrix + MMA_MATRIX);
            if (lane == i && tile < p.end_tile) ATOMIC_XOR(&state[i], sum);
        }
    }
}
