/* Camellia with its S-boxes as a circuit: four blocks give eight words a round, whose bytes fill eight planes. Words
 * of the first kind lie in even bits, of the second in odd ones.
 */
#ifndef CL_CAMELLIA_BITSLICED
#define CL_CAMELLIA_BITSLICED
#include "batch.h"
#include "primitive/camellia_sbox.h"

#if WIDTH != 4
#error the words of four blocks fill the planes
#endif
#define CIPHER_SHARED 16
#define CAMELLIA_LOOP ROLLED

/* Where SBOX2, 3 and 4 stand: the order is 1 2 3 4 in the first word and 2 3 4 1 in the second. */
#define BOX_2 0x000055aau
#define BOX_3 0x0055aa00u
#define BOX_4 0x55aa0000u

FN void cipher_forward_tables(LOCAL u32 *shared) {
    (void)shared;
}

FN void camellia_boxes(u32 *t, LOCAL const u32 *shared) {
    u32 x[8], y[8];
    (void)shared;
    slice_words(y, t);
    /* SBOX4 rotates what goes in to the left; SBOX2 and 3 what comes out, to the left and to the right. */
    UNROLL for (u32 i = 0; i < 8; ++i) x[i] = SELECT(BOX_4, y[(i + 1) % 8], y[i]);
    camellia_sbox(x);
    UNROLL for (u32 i = 0; i < 8; ++i)
        y[i] = SELECT(BOX_2, x[(i + 1) % 8], SELECT(BOX_3, x[(i + 7) % 8], x[i]));
    unslice_words(t, y);
    UNROLL for (u32 w = 0; w < 4; ++w) {
        /* Each byte of A and D is the sum of all four but one. */
        u32 p = t[2 * w] ^ ROTL32(t[2 * w], 8), q = t[2 * w + 1] ^ ROTL32(t[2 * w + 1], 8);
        u32 a = p ^ ROTL32(p, 16) ^ ROTL32(t[2 * w], 24), d = q ^ ROTL32(q, 16) ^ t[2 * w + 1];
        t[2 * w] = a ^ d;
        t[2 * w + 1] = a;
    }
}

#include "primitive/camellia.h"
#endif
