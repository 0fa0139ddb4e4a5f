/* SC2000 by tables: S and M in one for each S-box, 256 entries together, 32 copies of each. */
#ifndef CL_SC2000_BANKED
#define CL_SC2000_BANKED
#include "batch.h"
#include "primitive/banked.h"
#include "primitive/sc2000_table.h"
#include "primitive/sc2000_sbox.h"

#define CIPHER_SHARED BANKED_BYTES
#define SC2000_LOOP UNROLL

/* Entries of the fields at shifts 26, 21, 16, 11, 6 and 0: 64, four times 32, 64. */
FN u32 sc2000_entry(u32 i, u32 k) {
    (void)k;
    if (i < 64) return sc2000_m((u32)sc2000_s6[i] << 26);
    if (i < 192) return sc2000_m((u32)sc2000_s5[i % 32] << (31 - 5 * (i / 32)));
    return sc2000_m(sc2000_s6[i - 192]);
}

FN void cipher_forward_tables(LOCAL u32 *shared) {
    BANKED_FILL(shared, sc2000_entry);
}

/* The field's word: entries are 128 bytes apart, so the field is wanted seven bits up. */
#define SC2000_5(shared, x, shift, first, lane)                                                                \
    LOCAL_WORD(shared, (((x) >> ((shift)-7)) & 0xf80u) | (lane), (first) * 128)

FN void sc2000_ms(u32 *t, LOCAL const u32 *shared) {
    const u32 lane = BANKED_LANE;
    UNROLL for (u32 i = 0; i < 2 * WIDTH; ++i) {
        u32 x = t[i];
        t[i] = LOCAL_WORD(shared, ((x >> 19) & 0x1f80u) | lane, 0) ^ SC2000_5(shared, x, 21, 64, lane) ^
               SC2000_5(shared, x, 16, 96, lane) ^ SC2000_5(shared, x, 11, 128, lane) ^
               LOCAL_WORD(shared, ((x << 1) & 0xf80u) | lane, 160 * 128) ^
               LOCAL_WORD(shared, ((x << 7) & 0x1f80u) | lane, 192 * 128);
    }
}

#include "primitive/sc2000.h"
#endif
