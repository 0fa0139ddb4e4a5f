/* SM4 by tables: S and L in one, a table for each byte of a word. */
#ifndef CL_SM4_BANKED
#define CL_SM4_BANKED
#include "batch.h"
#include "primitive/banked.h"
#include "primitive/sm4_table.h"

#define CIPHER_SHARED BANKED_BYTES
#define SM4_ROUNDS_LOOP UNROLL

/* T of a word whose first byte is `i` and whose others are none; for the byte k places on, rotated. */
FN u32 sm4_entry(u32 i, u32 k) {
    u32 b = (u32)sm4_s[i] << 24, entry = b ^ ROTL32(b, 2) ^ ROTL32(b, 10) ^ ROTL32(b, 18) ^ ROTL32(b, 24);
    return ROTL32(SWAP32(entry), 8 * k);
}

FN void cipher_forward_tables(LOCAL u32 *shared) {
    BANKED_FILL(shared, sm4_entry);
}

FN void sm4_t(u32 *t, LOCAL const u32 *shared) {
    const u32 lane = BANKED_LANE;
    UNROLL for (u32 w = 0; w < WIDTH; ++w) {
        u32 x0 = BANKED_TURNED(shared, t[w], 0, 0, lane), x1 = BANKED_TURNED(shared, t[w], 1, 1, lane);
        u32 x2 = BANKED_TURNED(shared, t[w], 2, 2, lane), x3 = BANKED_TURNED(shared, t[w], 3, 3, lane);
        t[w] = x0 ^ x1 ^ x2 ^ x3;
    }
}

#include "primitive/sm4.h"
#endif
