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
#define UNIT_THREADS 256
#include "primitive/ghash_mma.h"
#include "entry/keys.h"
#include "entry/gcm_stages.h"

#if WIDTH != 4 || (THREADS != 256 && THREADS != 512) || TABLES != 4 || !HAS_MMA_XOR
#error four blocks of a thread are the rows of a matrix
#endif
#define GROUPS (THREADS / UNIT_THREADS)
/* What a run's end needs lies in shared memory meanwhile: the sums of the tensor cores leave no registers for it. */
enum { KEPT_TILE, KEPT_END_TILE, KEPT_AFTER, KEPT_UNITS, KEPT_ROW, KEPT_PART, KEPT_AT, KEPT_COUNT, KEPT };

#define COUNTING counter_t
#define COUNTED(s, run, here, k, shared) counter_state((s), (run)->count + (u32)(here), (k), (shared))
#define COUNTED_ROUNDS 2
#include "entry/gcm_mma.h"

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
            y = sum_anywhere(&run, &counter, THREADS, GHASH_ROW_AT(0), k, shared);
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
