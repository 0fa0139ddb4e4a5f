/* The stages that both forms of GCM by tiles share: `hash`, `start`, `finish` and `wipe`. */
/* Powers of H from 1 on that are asked for one by one. */
#ifndef GHASH_POWERS
#define GHASH_POWERS LANES
#endif
/* A row of the region `state`: the sum, J0, and E(J0). */
#define STATE_ROW 16
#define STATE_AT(row) ((GLOBAL u32 *)(work + p.state_at) + (row)*STATE_ROW)

FN block_t encrypt_one(block_t b, KEY const u32 *k, LOCAL const u32 *shared) {
#ifdef CIPHER_ONE
    cipher_encrypt_one(&b, k, shared);
    return b;
#else
    block_t x[WIDTH];
    UNROLL for (u32 w = 0; w < WIDTH; ++w) x[w] = zero_block();
    x[0] = b;
    cipher_encrypt(x, k, shared);
    return x[0];
#endif
}

KERNEL(THREADS) ENTRY(hash)(ARGUMENTS) {
    SHARED(shared, CIPHER_SHARED);
    cipher_forward_tables(shared);
#ifdef MATRIX_OF
    /* 1/H takes as long as all the rest, which another thread does. */
    if (SHARED_KEY && BLOCK == 0 && THREAD == LANES) {
        block_t h = ghash_key_form(ghash_element(encrypt_one(zero_block(), ROUND_KEYS(0), shared)));
        h = ghash_inverse(&h);
        ghash_store(GHASH_ROW_AT(0), MMA_INVERSE, &h);
    }
#endif
    EACH_KEY(row) {
        GLOBAL u32 *to = GHASH_ROW_AT(row);
        block_t h = ghash_key_form(ghash_element(encrypt_one(zero_block(), ROUND_KEYS(row), shared))), power = h;
        /* Even powers are squares, odd ones the power before times H. */
        ROLLED for (u32 i = 1; i <= GHASH_POWERS; ++i) {
            if (i > 1) power = i % 2 ? ghash_multiply_small(&power, &h) : ghash_square_key(ghash_load(to, i / 2 - 1));
            ghash_store(to, i - 1, &power);
        }
        ROLLED for (u32 i = 0; i < GHASH_SQUARES; ++i) {
            ghash_store(to, LANES + i, &h);
            h = ghash_square_key(h);
        }
    }
}

KERNEL(THREADS) ENTRY(start)(ARGUMENTS) {
    SHARED(shared, CIPHER_SHARED);
    cipher_forward_tables(shared);
    for (u64 row = (u64)BLOCK * THREADS + THREAD; row < p.end_message - p.first_message;
         row += (u64)BLOCKS * THREADS) {
        u64 message = p.first_message + row;
        GLOBAL u32 *state = STATE_AT(row);
        block_t h = ghash_load(GHASH_ROW_AT(SHARED_KEY ? 0 : row), 0), zero = zero_block();
        block_t counter = gcm_counter(NONCE_AT(message), NONCE_BYTES(message), &h);
        block_t mask = encrypt_one(counter_block_32(&counter, 0), ROUND_KEYS(row), shared);
        ghash_store(state, 0, &zero);
        ghash_store(state, 1, &counter);
        ghash_store(state, 2, &mask);
    }
}

KERNEL(THREADS) ENTRY(finish)(ARGUMENTS) {
    for (u64 row = (u64)BLOCK * THREADS + THREAD; row < p.end_message - p.first_message;
         row += (u64)BLOCKS * THREADS) {
        message_t m = find_message(offsets, &p, p.first_message + row);
        GLOBAL const u32 *powers = GHASH_ROW_AT(SHARED_KEY ? 0 : row);
        block_t h = ghash_load(powers, 0), text = ghash_load(STATE_AT(row), 0), mask = ghash_load(STATE_AT(row), 2);
        block_t y = zero_block(), lengths = ghash_lengths(AAD_BYTES(m.message), m.bytes);
        ghash_bytes(&y, AAD_AT(m.message), AAD_BYTES(m.message), &h);
        /* The AAD comes before the text: its sum takes the power of the text's blocks. The text's has its own. */
        y = ghash_multiply_power(y, powers, (u32)((m.bytes + BLOCK_BYTES - 1) / BLOCK_BYTES));
        xor_block(&y, &text);
        ghash_update_small(&y, &lengths, &h);
        block_t tag = ghash_element(y);
        xor_block(&tag, &mask);
        u32 bytes = TAG_BYTES(m.message);
#if INVERSE
        accepted[m.message] = (u8)tags_agree(&tag, TAG_AT(m.message), bytes);
#else
        store_part(TAG_AT(m.message), &tag, bytes);
#endif
    }
}

#if INVERSE
KERNEL(THREADS) ENTRY(wipe)(ARGUMENTS) {
    EACH_TILE(tile) {
        tile_t t = find_tile(offsets, tiles, &p, tile, TILE, 0);
        if (accepted[t.text.message]) continue;
        GLOBAL u8 *to = out + t.text.at + t.first * BLOCK_BYTES;
        block_t zero = zero_block();
        for (u32 i = THREAD % LANES * BLOCK_BYTES; i < t.bytes; i += LANES * BLOCK_BYTES) {
            if (t.bytes - i >= BLOCK_BYTES)
                store_block(to + i, &zero);
            else
                store_part(to + i, &zero, t.bytes - i);
        }
    }
}
#endif
