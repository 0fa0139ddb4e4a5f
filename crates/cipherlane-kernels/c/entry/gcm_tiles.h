/* The stage `text` of GCM under AES by tiles of 32 threads with GHASH on binary tensor cores.
 *
 * Before it stand TILE_SHARED, bytes of shared memory for matrices; `start_block`, which fills what is the same for all
 * tiles; and `sum_run`, which enciphers an aligned run: its lanes' shares of the sum up to the last block, taken with H.
 * A record is too short for tables of its own counters (entry/gcm_counted.h).
 */

/* The part of a block at a tile's end, which goes to the message's sum by itself. */
FN void add_part(const tile_t *t, GLOBAL const u8 *in, GLOBAL u8 *out, GLOBAL u32 *state, GLOBAL const u32 *powers,
                 KEY const u32 *k, LOCAL const u32 *shared) {
    u32 part = t->bytes % BLOCK_BYTES, blocks = t->bytes / BLOCK_BYTES;
    if (part == 0 || THREAD % LANES) return;
    u64 at = t->text.at + (t->first + blocks) * BLOCK_BYTES;
    block_t last = ghash_load(state, 1);
    last = counter_block_32(&last, 1 + (u32)t->first + blocks);
    last = sum_part(in + at, out + at, part, &last, powers, k, shared);
    UNROLL for (u32 i = 0; i < 4; ++i) ATOMIC_XOR(&state[i], last.w[i]);
}

/* The counter of a tile's first block, in host order. */
FN block_t tile_counter(const tile_t *t, GLOBAL const u32 *state) {
    block_t counter = ghash_load(state, 1);
    counter.w[3] += 1 + (u32)t->first;
    return counter;
}

/* The lanes' shares of the sum of a tile's whole blocks, with the power of what comes after them in their message. */
FN block_t sum_tile(const tile_t *t, GLOBAL const u8 *in, GLOBAL u8 *out, GLOBAL const u32 *state,
                    GLOBAL const u32 *powers, u32 is_public, const counting_t *counting, KEY const u32 *k,
                    LOCAL const u32 *shared, LOCAL u32 *matrix) {
    block_t y = zero_block();
    u64 at = t->text.at + t->first * BLOCK_BYTES;
    u32 after = (u32)((t->text.bytes + BLOCK_BYTES - 1) / BLOCK_BYTES - t->first) - t->bytes / BLOCK_BYTES;
    run_t run;
    run.in = in + at, run.out = out + at, run.count = 0, run.blocks = t->bytes / BLOCK_BYTES;
    if (!is_public || MISALIGNMENT(run.in, 16) | MISALIGNMENT(run.out, 16)) {
        block_t counter = tile_counter(t, state);
        y = sum_anywhere(&run, &counter, LANES, powers, k, shared);
        block_t own = ghash_load(powers, LANES - 1 - THREAD % LANES);
        y = ghash_multiply_small(&y, &own);
    } else if (run.blocks) {
        y = sum_run(&run, counting, powers, k, shared, matrix);
    }
    return ghash_multiply_power(y, powers, after);
}

KERNEL(THREADS) ENTRY(text)(ARGUMENTS) {
    SHARED(shared, CIPHER_SHARED + TILE_SHARED + THREADS / LANES * 4 * COUNTED_WORDS + GROUP_SCRATCH(THREADS));
    LOCAL u32 *matrix = shared + CIPHER_SHARED / 4, *uppers = matrix + TILE_SHARED / 4;
    LOCAL u32 *scratch = uppers + THREADS / LANES * COUNTED_WORDS;
    uppers += THREAD / LANES * COUNTED_WORDS;
    start_block(matrix, GHASH_ROW_AT(0));
    cipher_forward_tables(shared);
    /* As many rounds for all groups, since some meet in each. */
    u32 groups = BLOCKS * (THREADS / LANES);
    ROLLED for (u64 round = 0; p.first_tile + round < p.end_tile; round += groups) {
        u64 tile = OWN_TILE + round;
        u32 has_tile = tile < p.end_tile;
        tile_t t = find_tile(offsets, tiles, &p, has_tile ? tile : p.first_tile, TILE, 0);
        u64 row = SHARED_KEY ? 0 : t.text.row;
        GLOBAL u32 *state = STATE_AT(t.text.row);
        block_t y = zero_block(), first = tile_counter(&t, state);
        u32 is_public = HAS_PUBLIC_COUNTER(t.text.message);
        counting_t counting;
        if (is_public) counting = counting_from(&first, t.bytes / BLOCK_BYTES, ROUND_KEYS(row), shared, uppers);
        GROUP_BARRIER();
        if (has_tile) {
            add_part(&t, in, out, state, GHASH_ROW_AT(row), ROUND_KEYS(row), shared);
            y = sum_tile(&t, in, out, state, GHASH_ROW_AT(row), is_public, &counting, ROUND_KEYS(row), shared, matrix);
        }
        UNROLL for (u32 i = 0; i < 4; ++i) {
            u32 sum = GROUP_XOR(y.w[i], scratch);
            if (THREAD % LANES == i) ATOMIC_XOR(&state[i], sum);
        }
        GROUP_BARRIER();
    }
}
