/* How a run counts where its counters are enciphered from the first round: COUNTING and COUNTED of entry/gcm_run.h. */
FN block_t whitened(const block_t *counter, u32 n, KEY const u32 *k) {
    block_t x = counter_block_32(counter, n);
    aes_whiten(&x, 1, k);
    return x;
}

#define COUNTING const block_t
#define COUNTED(counter, run, here, k, shared) whitened((counter), (u32)(here), (k))
#define COUNTED_ROUNDS 0
