/* Cipher block chaining, encryption (SP 800-38A section 6.2), of AES where messages are few: four neighbouring threads walk
 * one, each with a column of the state. What a block takes is then four look-ups and an exchange in each round, one behind
 * the other, and not sixteen look-ups.
 */
#include "batch.h"
#include "primitive/aes_banked.h"
#include "entry/keys.h"

#if WIDTH != 1 || !HAS_SHUFFLE
#error columns are exchanged
#endif
#define QUAD 4
/* Blocks whose words a thread reads at once. */
#define AHEAD 4

/* The thread's column after a round. Row k of a column comes from the thread k further on. */
FN u32 quad_round(u32 x, u32 k, u32 last, LOCAL const u32 *shared) {
    const u32 lane = BANKED_LANE, own = THREAD % LANES, first = own & ~3u;
    u32 row[QUAD];
    UNROLL for (u32 r = 0; r < QUAD; ++r) row[r] = last ? AES_S(shared, x, r, lane) : AES_T(shared, x, r, lane);
    UNROLL for (u32 r = 1; r < QUAD; ++r) row[r] = SHUFFLE(row[r], first + (own + r) % QUAD);
    if (last) return aes_last_bytes(row[0], row[1], row[2], row[3]) ^ k;
    return row[0] ^ row[1] ^ row[2] ^ row[3] ^ k;
}

/* The thread's words of up to AHEAD blocks, of which there may be none. */
FN void load_words(u32 *x, GLOBAL const u8 *from, u32 blocks) {
    UNROLL for (u32 i = 0; i < AHEAD; ++i) {
        GLOBAL const u8 *p = from + i * BLOCK_BYTES;
        x[i] = i >= blocks ? 0 : MISALIGNMENT(p, 4) ? load_word(p) : *(GLOBAL const u32 *)p;
    }
}

FN void store_word(GLOBAL u8 *p, u32 x) {
    if (MISALIGNMENT(p, 4)) {
        UNROLL for (u32 i = 0; i < 4; ++i) p[i] = (u8)(x >> (8 * i));
    } else {
        *(GLOBAL u32 *)p = x;
    }
}

/* The most of what the threads of a group have. */
FN u32 group_most(u32 x) {
    UNROLL for (u32 step = QUAD; step < LANES; step *= 2) {
        u32 other = SHUFFLE(x, THREAD % LANES ^ step);
        x = x > other ? x : other;
    }
    return x;
}

KERNEL(THREADS) ENTRY(text)(ARGUMENTS) {
    SHARED(shared, CIPHER_SHARED);
    cipher_forward_tables(shared);
    u64 count = p.end_message - p.first_message, step = (u64)BLOCKS * (THREADS / QUAD);
    u32 column = THREAD % QUAD;
    /* The groups of 32 threads step together, with messages or without. */
    ROLLED for (u64 some = ((u64)BLOCK * THREADS + THREAD) / LANES * (LANES / QUAD); some < count; some += step) {
        u64 place = some + THREAD % LANES / QUAD, message = p.first_message;
        u32 blocks = 0;
        if (place < count) message += p.flags & ORDERED ? order[place] : place;
        message_t m = find_message(offsets, &p, message);
        if (place < count) blocks = (u32)(m.bytes / BLOCK_BYTES);
        u32 rk[ROUNDS + 1], chain = load_word(NONCE_AT(message) + 4 * column), next[AHEAD];
        KEY const u32 *k = ROUND_KEYS(m.row);
        UNROLL for (u32 r = 0; r <= ROUNDS; ++r) rk[r] = k[4 * r + column];
        GLOBAL const u8 *from = in + m.at + 4 * column;
        GLOBAL u8 *to = out + m.at + 4 * column;
        load_words(next, from, blocks);
        ROLLED for (u32 turns = (group_most(blocks) + AHEAD - 1) / AHEAD; turns > 0; --turns) {
            u32 now[AHEAD], left = blocks > AHEAD ? blocks - AHEAD : 0;
            UNROLL for (u32 i = 0; i < AHEAD; ++i) now[i] = next[i];
            /* These are on their way while the others are enciphered. */
            from += AHEAD * BLOCK_BYTES;
            load_words(next, from, left);
            UNROLL for (u32 i = 0; i < AHEAD; ++i) {
                u32 x = now[i] ^ chain ^ rk[0];
                UNROLL for (u32 r = 1; r <= ROUNDS; ++r) x = quad_round(x, rk[r], r == ROUNDS, shared);
                chain = x;
                if (i < blocks) store_word(to + i * BLOCK_BYTES, x);
            }
            blocks = left, to += AHEAD * BLOCK_BYTES;
        }
    }
}
