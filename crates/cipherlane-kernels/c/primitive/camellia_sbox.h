/* SBOX1 of Camellia (RFC 3713 section 2.4.1) on planes of bits.
 *
 * It is inversion in GF(2^8) between affine maps, as that of AES is, so it is the circuit of AES between two others:
 * of all that field isomorphisms and factors allow, the two with the fewest sums. Plane 0 holds the most significant
 * bit of every byte.
 */
#ifndef CL_CAMELLIA_SBOX
#define CL_CAMELLIA_SBOX
#include "primitive/aes_sbox.h"

FN void camellia_sbox(u32 *x) {
    u32 y[8];
    y[0] = ~(x[0] ^ x[1] ^ x[2] ^ x[3] ^ x[4] ^ x[5] ^ x[6]);
    y[1] = x[3] ^ x[4];
    y[2] = ~(x[5]);
    y[3] = x[5] ^ x[7];
    y[4] = ~(x[1] ^ x[5] ^ x[7]);
    y[5] = x[0] ^ x[1] ^ x[2];
    y[6] = ~(x[0] ^ x[3] ^ x[6]);
    y[7] = x[2];
    aes_sbox(y);
    x[0] = ~(y[3] ^ y[4] ^ y[7]);
    x[1] = y[2] ^ y[4] ^ y[5] ^ y[6] ^ y[7];
    x[2] = ~(y[0] ^ y[1] ^ y[4] ^ y[7]);
    x[3] = y[4];
    x[4] = y[0] ^ y[5] ^ y[7];
    x[5] = ~(y[2] ^ y[3] ^ y[7]);
    x[6] = y[7];
    x[7] = ~(y[0] ^ y[2] ^ y[3] ^ y[5] ^ y[6] ^ y[7]);
}

#endif
