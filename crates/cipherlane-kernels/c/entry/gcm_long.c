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

#if WIDTH != 4 || THREADS % 256 || TABLES != 4 || !HAS_MMA_XOR
#error four blocks of a thread are the rows of a matrix
#endif
#define GROUPS (THREADS / UNIT_THREADS)
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

/* Four blocks of a thread: J = 2 step and 2 step + 1, and eight further, of the unit that begins at block `unit` of
 * the message (which may be before its first). Comes back as what GHASH takes.
 */
FN void four_blocks(block_t *x, i64 unit, u32 step, counter_t *s, u32 count, GLOBAL const u8 *in, GLOBAL u8 *out,
                    const tile_t *t, i64 first, KEY const u32 *k, LOCAL const u32 *shared) {
    block_t text[4];
    UNROLL for (u32 i = 0; i < 4; ++i) {
        u32 j = (i & 1) * 8 + step * 2 + (i >> 1);
        i64 block = unit + j * 256 + THREAD % UNIT_THREADS;
        u64 left = t->text.bytes - (u64)block * BLOCK_BYTES;
        GLOBAL const u8 *from = in + t->text.at + (u64)block * BLOCK_BYTES;
        text[i] = zero_block();
        if (block >= first) text[i] = left < BLOCK_BYTES ? load_part(from, (u32)left) : load_block(from);
        x[i] = counter_state(s, count + j * 256, k, shared);
    }
    aes_rounds(x, k, shared, 3, 0);
    UNROLL for (u32 i = 0; i < 4; ++i) {
        u32 j = (i & 1) * 8 + step * 2 + (i >> 1);
        i64 block = unit + j * 256 + THREAD % UNIT_THREADS;
        u64 left = t->text.bytes - (u64)block * BLOCK_BYTES;
        GLOBAL u8 *to = out + t->text.at + (u64)block * BLOCK_BYTES;
        xor_block(&x[i], &text[i]);
        if (block < first) {
            x[i] = zero_block();
        } else if (left < BLOCK_BYTES) {
            keep_part(&x[i], (u32)left);
            store_part(to, &x[i], (u32)left);
        } else {
            store_block(to, &x[i]);
        }
#if INVERSE
        x[i] = text[i];
#endif
    }
}

KERNEL(THREADS) ENTRY(text)(ARGUMENTS) {
    SHARED(shared, CIPHER_SHARED + COUNTER_SHARED + 4 * MMA_MATRIX + GROUP_SCRATCH(THREADS));
    LOCAL u32 *matrix = shared + (CIPHER_SHARED + COUNTER_SHARED) / 4;
    ROLLED for (u32 i = THREAD; i < MMA_MATRIX; i += THREADS) matrix[i] = MATRIX_AT[i];
    cipher_forward_tables(shared);
    KEY const u32 *k = ROUND_KEYS(0);
    u32 group = THREAD / UNIT_THREADS, lane = THREAD % LANES, first_of_quad = lane % 4 == 0;
    u64 all = p.end_tile - p.first_tile;
    u64 tile = p.first_tile + all * BLOCK / BLOCKS, end_tile = p.first_tile + all * (BLOCK + 1) / BLOCKS;
    ROLLED while (tile < end_tile) {
        tile_t t = find_tile(offsets, tiles, &p, tile, TILE, 0);
        u64 end_of_text = p.uniform_tiles ? (t.text.message + 1) * p.uniform_tiles : tiles[t.text.message + 1];
        u64 next = end_tile < end_of_text ? end_tile : end_of_text;
        u64 end = t.first + (next - tile) * TILE, blocks = (t.text.bytes + BLOCK_BYTES - 1) / BLOCK_BYTES;
        if (end > blocks) end = blocks;
        tile = next;
        u64 units = (end - t.first + UNIT - 1) / UNIT;
        u64 unit = units * group / GROUPS, end_unit = units * (group + 1) / GROUPS;
        i64 at = (i64)end - (i64)((units - unit) * UNIT);
        GLOBAL u32 *state = STATE_AT(t.text.row);
        block_t counter = ghash_load(state, 1);
        counter_t s;
        u32 rows[2];
        rows[0] = rows[1] = 0;
        counter_start(&s, &counter, k, shared);
        ROLLED for (; unit < end_unit; ++unit, at += UNIT) {
            u32 sums[64], count = counter.w[3] + 1 + (u32)at + THREAD % UNIT_THREADS;
            block_t before[2];
            UNROLL for (u32 i = 0; i < 64; ++i) sums[i] = 0;
            UNROLL for (u32 r = 0; r < 2; ++r) before[r] = mma_gather(rows[r]);
            ROLLED for (u32 step = 0; step < 4; ++step) {
                block_t x[4];
                four_blocks(x, at, step, &s, count, in, out, &t, (i64)t.first, k, shared);
                UNROLL for (u32 r = 0; r < 2; ++r) {
                    if (step == 0 && first_of_quad) xor_block(&x[r], &before[r]);
                }
                mma_step(sums, x, step, matrix);
            }
            mma_rows(rows, sums);
        }
        /* Lanes 0 and 1 of a quad take its two rows to where they belong. */
        block_t y = zero_block();
        UNROLL for (u32 r = 0; r < 2; ++r) {
            block_t row = mma_gather(rows[r]);
            if (lane % 4 == r) y = row;
        }
        u32 number = lane % 4 % 2 * 64 + THREAD % UNIT_THREADS / LANES * 8 + lane / 4;
        block_t factor = ghash_load(MATRIX_AT + MMA_MATRIX, number);
        y = ghash_element(y);
        y = ghash_multiply(&y, &factor);
        UNROLL for (u32 i = 0; i < 4; ++i) y.w[i] = GROUP_XOR(y.w[i], matrix + MMA_MATRIX);
        y = ghash_multiply_power(y, GHASH_ROW_AT(0), blocks - end + (units - end_unit) * UNIT);
        UNROLL for (u32 i = 0; i < 4; ++i)
            if (lane == i) ATOMIC_XOR(&state[i], y.w[i]);
    }
}
