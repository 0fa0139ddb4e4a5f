/* SC2000 with its S-boxes as circuits: the four words that two blocks give fill the gaps between each other's fields. */
#ifndef CL_SC2000_BITSLICED
#define CL_SC2000_BITSLICED
#include "batch.h"
#include "primitive/sc2000_sbox.h"

#if WIDTH != 2
#error the words of two blocks fill the gaps
#endif
#define CIPHER_SHARED 16
#define SC2000_LOOP ROLLED

FN void cipher_forward_tables(LOCAL u32 *shared) {
    (void)shared;
}

FN void sc2000_ms(u32 *t, LOCAL const u32 *shared) {
    (void)shared;
    sc2000_s_words(t);
    UNROLL for (u32 i = 0; i < 4; ++i) t[i] = sc2000_m(t[i]);
}

#include "primitive/sc2000.h"
#endif
