/* SC2000 by tables: S and M in one for each S-box, 32 copies of each.
 *
 * TABLES is 1, with the entries of all six S-boxes in one table; or 6, a table each, whose index is the byte that the
 * field lies in, so that one PERMUTE makes its address: seven instructions for the six fields of a word, not twelve.
 */
#ifndef CL_SC2000_BANKED
#define CL_SC2000_BANKED
#include "batch.h"
#include "primitive/banked.h"
#include "primitive/sc2000_table.h"
#include "primitive/sc2000_sbox.h"

#define CIPHER_SHARED BANKED_BYTES
#define SC2000_LOOP UNROLL

#if TABLES == 6
/* Fields at bits 26, 16, 11 and 0 lie in one byte. Those at 21 and 6 do when the word is moved down by SC2000_DOWN. */
#define SC2000_DOWN 5

/* The entry of table `k`, in the order of the fields from the top, for byte `i`. */
FN u32 sc2000_entry(u32 i, u32 k) {
    if (k == 0) return sc2000_m((u32)sc2000_s6[i >> 2] << 26);
    if (k == 5) return sc2000_m(sc2000_s6[i & 63]);
    u32 field = k == 3 ? i >> 3 : k == 4 ? i >> 1 : i;
    return sc2000_m((u32)sc2000_s5[field & 31] << (26 - 5 * k));
}

FN u32 sc2000_look_up(u32 x, LOCAL const u32 *shared, u32 lane) {
    u32 down = x >> SC2000_DOWN;
    return BANKED(shared, x, 3, 0, lane) ^ BANKED(shared, down, 2, 1, lane) ^ BANKED(shared, x, 2, 2, lane) ^
           BANKED(shared, x, 1, 3, lane) ^ BANKED(shared, down, 0, 4, lane) ^ BANKED(shared, x, 0, 5, lane);
}
#else
/* Entries of the fields at bits 26, 21, 16, 11, 6 and 0: 64, four times 32, 64. */
FN u32 sc2000_entry(u32 i, u32 k) {
    (void)k;
    if (i < 64) return sc2000_m((u32)sc2000_s6[i] << 26);
    if (i < 192) return sc2000_m((u32)sc2000_s5[i % 32] << (31 - 5 * (i / 32)));
    return sc2000_m(sc2000_s6[i - 192]);
}

/* The field's word: entries are 128 bytes apart, so the field is wanted seven bits up. */
#define SC2000_5(shared, x, shift, first, lane)                                                                \
    LOCAL_WORD(shared, (((x) >> ((shift)-7)) & 0xf80u) | (lane), (first) * 128)

FN u32 sc2000_look_up(u32 x, LOCAL const u32 *shared, u32 lane) {
    return LOCAL_WORD(shared, ((x >> 19) & 0x1f80u) | lane, 0) ^ SC2000_5(shared, x, 21, 64, lane) ^
           SC2000_5(shared, x, 16, 96, lane) ^ SC2000_5(shared, x, 11, 128, lane) ^
           LOCAL_WORD(shared, ((x << 1) & 0xf80u) | lane, 160 * 128) ^
           LOCAL_WORD(shared, ((x << 7) & 0x1f80u) | lane, 192 * 128);
}
#endif

FN void cipher_forward_tables(LOCAL u32 *shared) {
    BANKED_FILL(shared, sc2000_entry);
}

FN void sc2000_ms(u32 *t, LOCAL const u32 *shared) {
    const u32 lane = BANKED_LANE;
    UNROLL for (u32 i = 0; i < 2 * WIDTH; ++i) t[i] = sc2000_look_up(t[i], shared, lane);
}

#include "primitive/sc2000.h"
#endif
