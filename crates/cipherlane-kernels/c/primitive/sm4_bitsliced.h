/* SM4 with its S-box as a circuit: eight blocks give eight words a round, whose bytes fill eight planes. */
#ifndef CL_SM4_BITSLICED
#define CL_SM4_BITSLICED
#include "batch.h"
#include "primitive/sm4_sbox.h"

#if WIDTH != 8
#error the words of eight blocks fill the planes
#endif
#define CIPHER_SHARED 16
#define SM4_ROUNDS_LOOP ROLLED

FN void cipher_forward_tables(LOCAL u32 *shared) {
    (void)shared;
}

FN void sm4_t(u32 *t, LOCAL const u32 *shared) {
    u32 x[8];
    (void)shared;
    slice_words(x, t);
    sm4_sbox(x);
    unslice_words(t, x);
    UNROLL for (u32 w = 0; w < 8; ++w) {
        u32 b = SWAP32(t[w]);
        t[w] = SWAP32(b ^ ROTL32(b, 2) ^ ROTL32(b, 10) ^ ROTL32(b, 18) ^ ROTL32(b, 24));
    }
}

#include "primitive/sm4.h"
#endif
