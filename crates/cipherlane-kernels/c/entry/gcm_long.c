/* Galois/counter mode (SP 800-38D section 7) of AES for long messages under one key: counters looked up
 * (primitive/aes_counter.h), GHASH on binary tensor cores (primitive/ghash_mma.h).
 *
 * A block of threads takes neighbouring tiles as one run, its groups of 256 threads a share of the units each. Units
 * are counted from the end of the run: only the first can be short, and blocks before the start are zeros.
 */
#include "batch.h"
#include "primitive/aes_counter.h"
#define GHASH_MORE (4 + 3072 + 4 * 256)
#define GHASH_POWERS 1
#include "primitive/gcm.h"
#define UNIT_THREADS 256
#include "primitive/ghash_mma.h"
#include "entry/keys.h"
#include "entry/gcm_stages.h"

#if MMA_BLOCKS % WIDTH || THREADS % UNIT_THREADS || !HAS_MMA_XOR
#error eight blocks of a thread meet the matrix at once
#endif
#define GROUPS (THREADS / UNIT_THREADS)
/* Whether a run goes block by block: where it is not aligned, and where its counters are secret. */
#define GOES_BY_BLOCKS(from, to, message)                                                                      \
    (MISALIGNMENT(from, 16) | MISALIGNMENT(to, 16) | !HAS_PUBLIC_COUNTER(message))
/* Where group `group` begins of so many blocks or units. */
#define SHARE(all, group) ((u64)(all) * (group) / GROUPS)
/* Of a run: the table of upper halves of counters has room for no more. */
#define MOST_TILES ((COUNTER_MOST - 3) * 65536u / TILE)
#define UNITS(blocks) (((u64)(blocks) + UNIT - 1) / UNIT)
/* What a run's end needs lies in shared memory meanwhile: the sums of the tensor cores leave no registers for it. */
enum { KEPT_TILE, KEPT_END_TILE, KEPT_AFTER, KEPT_BLOCKS, KEPT_ROW, KEPT_PART, KEPT_AT, KEPT_COUNT, KEPT };

#define COUNTING const block_t
#define COUNTED(s, run, here, k, shared) counter_run_state((s), (run)->count + (u32)(here), (shared))
#define COUNTED_ROUNDS 2
#include "entry/gcm_mma.h"

KERNEL(THREADS) ENTRY(text)(ARGUMENTS) {
    SHARED(shared, CIPHER_SHARED + COUNTER_RUN_SHARED + 4 * MMA_MATRIX + 8 * KEPT + GROUP_SCRATCH(THREADS));
    LOCAL u32 *matrix = shared + (CIPHER_SHARED + COUNTER_RUN_SHARED) / 4;
    LOCAL u64 *kept = (LOCAL u64 *)(matrix + MMA_MATRIX);
    ROLLED for (u32 i = THREAD; i < MMA_MATRIX; i += THREADS) matrix[i] = MATRIX_OF(GHASH_ROW_AT(0))[i];
    cipher_forward_tables(shared);
    KEY const u32 *k = ROUND_KEYS(0);
    u32 group = THREAD / UNIT_THREADS;
    u64 all = p.end_tile - p.first_tile;
    u64 tile = p.first_tile + all * BLOCK / BLOCKS, end_tile = p.first_tile + all * (BLOCK + 1) / BLOCKS;
    ROLLED while (tile < end_tile) {
        tile_t t = find_tile(offsets, tiles, &p, tile, TILE, 0);
        u64 end_of_text = p.uniform_tiles ? (t.text.message + 1) * p.uniform_tiles : tiles[t.text.message + 1];
        u64 next = end_tile < end_of_text ? end_tile : end_of_text;
        if ((u32)(next - tile) > MOST_TILES) next = tile + MOST_TILES;
        u64 end = t.first + (next - tile) * TILE, whole = t.text.bytes / BLOCK_BYTES;
        u32 part = t.text.bytes % BLOCK_BYTES;
        if (end > whole) end = whole;
        u64 at = t.text.at + t.first * BLOCK_BYTES;
        block_t counter = ghash_load(STATE_AT(t.text.row), 1), y;
        counter.w[3] += 1 + (u32)t.first;
        run_t run;
        run.in = in + at, run.out = out + at, run.count = 0, run.blocks = (i64)(end - t.first);
        BARRIER();
        if (THREAD == 0) {
            kept[KEPT_TILE] = next, kept[KEPT_END_TILE] = end_tile;
            kept[KEPT_AFTER] = whole - end + (part != 0), kept[KEPT_BLOCKS] = end - t.first, kept[KEPT_ROW] = t.text.row;
            /* Whoever has the last whole block has the part after it. */
            kept[KEPT_PART] = next == end_of_text ? part : 0, kept[KEPT_AT] = at + (end - t.first) * BLOCK_BYTES;
            kept[KEPT_COUNT] = counter.w[3] + (u32)(end - t.first);
        }
        BARRIER();
        if (GOES_BY_BLOCKS(run.in, run.out, t.text.message)) {
            u64 first = SHARE(run.blocks, group);
            run.in += first * BLOCK_BYTES, run.out += first * BLOCK_BYTES, counter.w[3] += (u32)first;
            run.blocks = (i64)(SHARE(run.blocks, group + 1) - first);
            y = sum_anywhere(&run, &counter, UNIT_THREADS, GHASH_ROW_AT(0), k, shared);
        } else {
            u64 units = UNITS(run.blocks);
            /* Units end with the run and are whole multiples of 256: a thread's counts have one lowest byte. */
            u32 c0 = (counter.w[3] + (u32)run.blocks + THREAD) & 255;
            block_t low = counter_start_run(&run.count, &counter, run.blocks, c0, k, shared);
            y = sum_units(units, SHARE(units, group), SHARE(units, group + 1), &low, &run, FACTORS_OF(GHASH_ROW_AT(0)), k,
                          shared, matrix);
        }
        u32 later, blocks = (u32)kept[KEPT_BLOCKS], units = (u32)UNITS(blocks);
        if (GOES_BY_BLOCKS(in + kept[KEPT_AT], out + kept[KEPT_AT], p.first_message + kept[KEPT_ROW]))
            later = blocks - (u32)SHARE(blocks, group + 1) + UNIT_THREADS - THREAD % UNIT_THREADS;
        else
            later = (units - (u32)SHARE(units, group + 1)) * UNIT;
        y = ghash_multiply_power(y, GHASH_ROW_AT(0), (u32)kept[KEPT_AFTER] + later);
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
