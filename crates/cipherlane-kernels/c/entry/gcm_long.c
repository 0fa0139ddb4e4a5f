/* Galois/counter mode (SP 800-38D section 7) of AES for long messages under one key: counters looked up
 * (primitive/aes_counter.h), GHASH on binary tensor cores (primitive/ghash_mma.h).
 *
 * A block of threads takes neighbouring tiles as one run, its groups of 256 threads a share of the units each. Units
 * are counted from the end of the run: only the first can be short, and blocks before the start are zeros.
 */
#include "batch.h"
#include "primitive/aes_counter.h"
#define GHASH_MORE (16384 + 512)
#include "primitive/gcm.h"
#include "primitive/ghash_mma.h"
#include "entry/keys.h"
#include "entry/gcm_stages.h"

#if WIDTH != 4 || (THREADS != 256 && THREADS != 512) || TABLES != 4 || !HAS_MMA_XOR
#error four blocks of a thread are the rows of a matrix
#endif
#define GROUPS (THREADS / UNIT_THREADS)
/* What a run's end needs lies in shared memory meanwhile: the sums of the tensor cores leave no registers for it. */
enum { KEPT_TILE, KEPT_END_TILE, KEPT_AFTER, KEPT_UNITS, KEPT_ROW, KEPT_PART, KEPT_AT, KEPT_COUNT, KEPT };
#define MATRIX_AT ((GLOBAL u32 *)(work + p.hash_at) + 4 * (LANES + GHASH_SQUARES))

/* Threads 0..127: the matrix, a power and a word each. From 128: what the rows owe. */
KERNEL(THREADS) ENTRY(matrix)(ARGUMENTS) {
    GLOBAL const u32 *powers = GHASH_ROW_AT(0);
    if (BLOCK == 0 && THREAD < 128) {
        u32 t = THREAD % 4, half = THREAD / 4 % 2, step = THREAD / 8 % 4, v = THREAD / 32;
        block_t power = ghash_power(powers, UNIT - 256 * (2 * step + half) - t);
        mma_matrix(MATRIX_AT, &power, step, half, t, v);
    } else if (BLOCK == 0 && THREAD < 256) {
        u32 row = THREAD - 128, r = row / 64, owes = 512 * r + row % 64;
        block_t h = ghash_load(powers, 0), inverse = ghash_inverse(&h), factor = ghash_times_x(h);
        /* Rows 64 r + 8 w + q owe H^-4 so many times; the key form of 1 is H times H^-1. */
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

/* Blocks `block` + 256 i of the run, of which the first may be before it, for four values of i: J = 2 step and
 * 2 step + 1, and both eight further. They come back as GHASH takes them.
 */
FN void four_blocks(block_t *x, i64 block, u32 step, counter_t *s, const run_t *run, KEY const u32 *k,
                    LOCAL const u32 *shared) {
    block_t text[4];
    UNROLL for (u32 i = 0; i < 4; ++i) {
        i64 here = block + 256 * ((i & 1) * 8 + step * 2 + (i >> 1));
        text[i] = here >= 0 ? load_aligned(run->in + here * BLOCK_BYTES) : zero_block();
        x[i] = counter_state(s, run->count + (u32)here, k, shared);
    }
    aes_rounds(x, WIDTH, k, shared, 3, 0);
    UNROLL for (u32 i = 0; i < 4; ++i) {
        i64 here = block + 256 * ((i & 1) * 8 + step * 2 + (i >> 1));
        xor_block(&x[i], &text[i]);
        if (here >= 0) store_aligned(run->out + here * BLOCK_BYTES, &x[i]);
        UNROLL for (u32 w = 0; w < 4; ++w) x[i].w[w] = here < 0 ? 0 : INVERSE ? text[i].w[w] : x[i].w[w];
    }
}

/* The group's units of an aligned run: this lane's share of their sum, with what its row owed. */
FN block_t sum_units(u64 units, u64 unit, u64 end_unit, counter_t *s, const run_t *run, GLOBAL const u32 *factors,
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
    u32 number = lane % 2 * 64 + THREAD % UNIT_THREADS / LANES * 8 + lane / 4;
    block_t factor = ghash_load(factors, number);
    y = ghash_element(y);
    return ghash_multiply(&y, &factor);
}

/* The sum of a run whose blocks are not aligned: every thread by Horner's rule in H^THREADS; it owes THREADS - THREAD
 * powers then.
 */
FN block_t sum_anywhere(const run_t *run, const block_t *counter, GLOBAL const u32 *powers, KEY const u32 *k,
                        LOCAL const u32 *shared) {
    block_t y = zero_block();
    i64 steps = (run->blocks + THREADS - 1) / THREADS, i = run->blocks - steps * THREADS + THREAD;
    ROLLED for (; i < run->blocks; i += THREADS) {
        if (i < 0) continue;
        block_t here = counter_block_32(counter, (u32)i);
        block_t x = encrypt_one(here, k, shared), text = load_block(run->in + i * BLOCK_BYTES);
        xor_block(&x, &text);
        store_block(run->out + i * BLOCK_BYTES, &x);
        x = ghash_element(INVERSE ? text : x);
        /* Loaded each time, or the compiler keeps 36 masked words of it ready, and spills. */
        block_t leap = ghash_load(powers, LANES + (THREADS == 512 ? 9 : 8));
        y = ghash_multiply(&y, &leap);
        xor_block(&y, &x);
    }
    return y;
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

KERNEL(THREADS) ENTRY(text)(ARGUMENTS) {
    SHARED(shared, CIPHER_SHARED + COUNTER_SHARED + 4 * MMA_MATRIX + 8 * KEPT + GROUP_SCRATCH(THREADS));
    LOCAL u32 *matrix = shared + (CIPHER_SHARED + COUNTER_SHARED) / 4;
    LOCAL u64 *kept = (LOCAL u64 *)(matrix + MMA_MATRIX);
    ROLLED for (u32 i = THREAD; i < MMA_MATRIX; i += THREADS) matrix[i] = MATRIX_AT[i];
    cipher_forward_tables(shared);
    KEY const u32 *k = ROUND_KEYS(0);
    u32 group = THREAD / UNIT_THREADS;
    u64 all = p.end_tile - p.first_tile;
    u64 tile = p.first_tile + all * BLOCK / BLOCKS, end_tile = p.first_tile + all * (BLOCK + 1) / BLOCKS;
    ROLLED while (tile < end_tile) {
        tile_t t = find_tile(offsets, tiles, &p, tile, TILE, 0);
        u64 end_of_text = p.uniform_tiles ? (t.text.message + 1) * p.uniform_tiles : tiles[t.text.message + 1];
        u64 next = end_tile < end_of_text ? end_tile : end_of_text;
        u64 end = t.first + (next - tile) * TILE, whole = t.text.bytes / BLOCK_BYTES;
        u32 part = t.text.bytes % BLOCK_BYTES;
        if (end > whole) end = whole;
        u64 at = t.text.at + t.first * BLOCK_BYTES, units = (end - t.first + UNIT - 1) / UNIT;
        block_t counter = ghash_load(STATE_AT(t.text.row), 1), y;
        counter.w[3] += 1 + (u32)t.first;
        run_t run;
        run.in = in + at, run.out = out + at, run.count = counter.w[3], run.blocks = (i64)(end - t.first);
        BARRIER();
        if (THREAD == 0) {
            kept[KEPT_TILE] = next, kept[KEPT_END_TILE] = end_tile;
            kept[KEPT_AFTER] = whole - end + (part != 0), kept[KEPT_UNITS] = units, kept[KEPT_ROW] = t.text.row;
            /* Whoever has the last whole block has the part after it. */
            kept[KEPT_PART] = next == end_of_text ? part : 0, kept[KEPT_AT] = at + (end - t.first) * BLOCK_BYTES;
            kept[KEPT_COUNT] = counter.w[3] + (u32)(end - t.first);
        }
        BARRIER();
        u64 end_unit = units * (group + 1) / GROUPS;
        if (MISALIGNMENT(run.in, 16) | MISALIGNMENT(run.out, 16)) {
            y = sum_anywhere(&run, &counter, GHASH_ROW_AT(0), k, shared);
        } else {
            counter_t s;
            counter_start(&s, &counter, k, shared);
            y = sum_units(units, units * group / GROUPS, end_unit, &s, &run, MATRIX_AT + MMA_MATRIX, k, shared, matrix);
            end_unit = kept[KEPT_UNITS] * (group + 1) / GROUPS;
        }
        u32 anywhere = MISALIGNMENT(in + kept[KEPT_AT], 16) | MISALIGNMENT(out + kept[KEPT_AT], 16);
        u64 later = anywhere ? THREADS - THREAD : (kept[KEPT_UNITS] - end_unit) * UNIT;
        y = ghash_multiply_power(y, GHASH_ROW_AT(0), kept[KEPT_AFTER] + later);
        UNROLL for (u32 i = 0; i < 4; ++i) y.w[i] = GROUP_XOR(y.w[i], matrix + MMA_MATRIX + 2 * KEPT);
        GLOBAL u32 *state = STATE_AT(kept[KEPT_ROW]);
        if (kept[KEPT_PART] && THREAD == 0) {
            block_t last = ghash_load(state, 1);
            last.w[3] = (u32)kept[KEPT_COUNT];
            last = counter_block_32(&last, 0);
            last = sum_part(in + kept[KEPT_AT], out + kept[KEPT_AT], (u32)kept[KEPT_PART], &last, GHASH_ROW_AT(0), k, shared);
            xor_block(&y, &last);
        }
        if (THREAD % LANES == 0) {
            UNROLL for (u32 i = 0; i < 4; ++i) ATOMIC_XOR(&state[i], y.w[i]);
        }
        tile = kept[KEPT_TILE], end_tile = kept[KEPT_END_TILE];
    }
}
