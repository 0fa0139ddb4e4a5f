/* Runs of whole blocks of a GCM message under AES, several blocks of a thread at a time, UNIT_THREADS apart.
 *
 * Before it stands how a run counts: COUNTING, a type; `COUNTED(counting, run, here, k, shared)`, the state for block
 * `here` before round COUNTED_ROUNDS + 1.
 */
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

/* `width` blocks of the run from `block` on, of which the first may be before it. They come back as GHASH takes them. */
FN void run_blocks(block_t *x, u32 width, int block, COUNTING *s, const run_t *run, KEY const u32 *k,
                   LOCAL const u32 *shared) {
    block_t text[WIDTH];
    GLOBAL const u8 *from = run->in + (i64)block * BLOCK_BYTES;
    GLOBAL u8 *to = run->out + (i64)block * BLOCK_BYTES;
    UNROLL for (u32 i = 0; i < width; ++i) {
        int here = block + (int)(i * UNIT_THREADS);
        text[i] = here >= 0 ? load_aligned(from + i * UNIT_THREADS * BLOCK_BYTES) : zero_block();
        x[i] = COUNTED(s, run, here, k, shared);
    }
    aes_rounds(x, width, k, shared, COUNTED_ROUNDS + 1, ROUNDS, 0);
    UNROLL for (u32 i = 0; i < width; ++i) {
        int here = block + (int)(i * UNIT_THREADS);
        xor_block(&x[i], &text[i]);
        if (here >= 0) store_aligned(to + i * UNIT_THREADS * BLOCK_BYTES, &x[i]);
        UNROLL for (u32 w = 0; w < 4; ++w) x[i].w[w] = here < 0 ? 0 : INVERSE ? text[i].w[w] : x[i].w[w];
    }
}

/* The sum of a run whose blocks are not aligned, or whose counters are secret, by threads of which `stride`, a power of two,
 * are neighbours: each by Horner's rule in H^stride. Thread i of them owes H^(stride - i) then.
 */
FN block_t sum_anywhere(const run_t *run, const block_t *counter, u32 stride, GLOBAL const u32 *powers, KEY const u32 *k,
                        LOCAL const u32 *shared) {
    block_t y = zero_block();
    u32 square = 0;
    while (stride >> square > 1) ++square;
    i64 steps = (run->blocks + stride - 1) / stride, i = run->blocks - steps * stride + THREAD % stride;
    ROLLED for (; i < run->blocks; i += stride) {
        if (i < 0) continue;
        block_t here = counter_block_32(counter, (u32)i);
        block_t x = encrypt_one(here, k, shared), text = load_block(run->in + i * BLOCK_BYTES);
        xor_block(&x, &text);
        store_block(run->out + i * BLOCK_BYTES, &x);
        x = ghash_element(INVERSE ? text : x);
        /* Loaded each time, or the compiler keeps 36 masked words of it ready, and spills. */
        block_t leap = ghash_load(powers, LANES + square);
        y = ghash_multiply_small(&y, &leap);
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
    return ghash_multiply_small(&x, &h);
}
