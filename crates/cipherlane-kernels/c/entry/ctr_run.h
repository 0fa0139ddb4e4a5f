/* Runs of whole blocks in counter mode under AES, a thread's STRIDE apart, the first two rounds looked up.
 *
 * Before it stand STRIDE; how a run counts: COUNTING, a type, and `COUNTED(counting, count, k, shared)`, the state
 * after round 2; and TURN, the blocks of a turn.
 */

/* Whether blocks come in turns, of which two do without look-ups in the last round: with more, instructions would be
 * what is waited for, as they are with fewer tables. Where each message has its key, that takes the registers.
 */
#define HAS_TURNS (TABLES == 4 && SHARED_KEY)

/* How far a thread has come in a run: its block's counter, and where that block lies in both texts. */
typedef struct {
    GLOBAL const u8 *from;
    GLOBAL u8 *to;
    u32 count;
} place_t;

/* To the thread's next block. */
FN void place_on(place_t *here) {
    here->from += STRIDE * BLOCK_BYTES, here->to += STRIDE * BLOCK_BYTES, here->count += STRIDE;
}

FN void run_block(place_t *here, COUNTING *s, KEY const u32 *k, LOCAL const u32 *shared) {
    block_t text = load_block(here->from), x = COUNTED(s, here->count, k, shared);
    aes_rounds(&x, 1, k, shared, 3, ROUNDS, 0);
    xor_block(&x, &text);
    store_block(here->to, &x);
    place_on(here);
}

#if HAS_TURNS
FN void run_turn(place_t *here, COUNTING *s, KEY const u32 *k, LOCAL const u32 *shared) {
    block_t x[2];
    ROLLED for (u32 i = 0; i < TURN - 2; ++i) run_block(here, s, k, shared);
    /* One after the other: side by side they would take more registers. */
    UNROLL for (u32 i = 0; i < 2; ++i) {
        x[i] = COUNTED(s, here->count + i * STRIDE, k, shared);
        aes_rounds(&x[i], 1, k, shared, 3, ROUNDS - 1, 0);
    }
    aes_last_pair(&x[0], &x[1], k, 0);
    UNROLL for (u32 i = 0; i < 2; ++i) {
        xor_text(here->from, here->to, 0, BLOCK_BYTES, &x[i]);
        place_on(here);
    }
}
#endif
