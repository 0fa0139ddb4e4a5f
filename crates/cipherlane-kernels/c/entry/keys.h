/* The stage `keys`: a thread expands a key. XTS has two keys in one (IEEE 1619 section 5.1): the second, which makes
 * tweaks, is always expanded for encryption.
 */
KERNEL(THREADS) ENTRY(keys)(ARGUMENTS) {
    EACH_KEY(row) {
        GLOBAL u32 *to = (GLOBAL u32 *)(work + p.schedule_at) + row * (SCHEDULE_ROW * KEYS_IN_ONE);
#if INVERSE_CIPHER
        cipher_expand_inverse(KEY_AT(row), to);
#else
        cipher_expand(KEY_AT(row), to);
#endif
#if KEYS_IN_ONE == 2
        cipher_expand(KEY_AT(row) + KEY_BYTES, to + SCHEDULE_ROW);
#endif
    }
}
