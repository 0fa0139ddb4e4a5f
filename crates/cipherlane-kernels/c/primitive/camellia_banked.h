/* Camellia by tables: the S-boxes and what P does with them in one. Either a table for each S-box, spread out over the
 * sums that it takes part in, or one table of all four, spread out by a PERMUTE.
 */
#ifndef CL_CAMELLIA_BANKED
#define CL_CAMELLIA_BANKED
#include "batch.h"
#include "primitive/banked.h"
#include "primitive/camellia_table.h"

#define CIPHER_SHARED BANKED_BYTES
#define CAMELLIA_LOOP UNROLL

/* SBOX1 to SBOX4 (RFC 3713 section 2.4.1). */
FN u32 camellia_box(u32 i, u32 box) {
    u32 s = camellia_s[box == 3 ? (i << 1 | i >> 7) & 255 : i];
    return box == 1 ? (s << 1 | s >> 7) & 255 : box == 2 ? (s >> 1 | s << 7) & 255 : s;
}

FN u32 camellia_entry(u32 i, u32 k) {
#if TABLES == 4
    return camellia_box(i, k) * (k == 0 ? 0x00010101u : k == 1 ? 0x01010100u : k == 2 ? 0x01010001u : 0x01000101u);
#else
    (void)k;
    return camellia_box(i, 0) | camellia_box(i, 1) << 8 | camellia_box(i, 2) << 16 | camellia_box(i, 3) << 24;
#endif
}

FN void cipher_forward_tables(LOCAL u32 *shared) {
    BANKED_FILL(shared, camellia_entry);
}

#if TABLES == 4
#define CAMELLIA_BOX(shared, x, b, box, lane) BANKED(shared, x, b, box, lane)
#else
#define CAMELLIA_BOX(shared, x, b, box, lane)                                                                  \
    PERMUTE(BANKED(shared, x, b, 0, lane), 0,                                                                  \
            (box) == 0 ? 0x4000 : (box) == 1 ? 0x1114 : (box) == 2 ? 0x2242 : 0x3433)
#endif

FN void camellia_boxes(u32 *t, LOCAL const u32 *shared) {
    const u32 lane = BANKED_LANE;
    UNROLL for (u32 w = 0; w < WIDTH; ++w) {
        u32 x = t[2 * w], y = t[2 * w + 1];
        u32 a = CAMELLIA_BOX(shared, x, 0, 0, lane) ^ CAMELLIA_BOX(shared, x, 1, 1, lane) ^
                CAMELLIA_BOX(shared, x, 2, 2, lane) ^ CAMELLIA_BOX(shared, x, 3, 3, lane);
        u32 d = CAMELLIA_BOX(shared, y, 0, 1, lane) ^ CAMELLIA_BOX(shared, y, 1, 2, lane) ^
                CAMELLIA_BOX(shared, y, 2, 3, lane) ^ CAMELLIA_BOX(shared, y, 3, 0, lane);
        t[2 * w] = a ^ d;
        t[2 * w + 1] = a;
    }
}

#include "primitive/camellia.h"
#endif
