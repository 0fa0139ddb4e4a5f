/* The S-box of SM4 (GB/T 32907-2016 section 6.2) on planes of bits.
 *
 * It is inversion in GF(2^8) between affine maps, as that of AES is, so it is the circuit of AES between two others:
 * of all that field isomorphisms and factors allow, the two with the fewest sums. Plane 0 holds the most significant
 * bit of every byte.
 */
#ifndef CL_SM4_SBOX
#define CL_SM4_SBOX
#include "primitive/aes_sbox.h"

FN void sm4_sbox(u32 *x) {
    u32 y[8];
    y[0] = ~(x[1] ^ x[2] ^ x[7]);
    y[1] = ~(x[3] ^ x[4]);
    y[2] = x[0] ^ x[1] ^ x[2] ^ x[5] ^ x[7];
    y[3] = x[1] ^ x[5] ^ x[6];
    y[4] = x[3] ^ x[4] ^ x[7];
    y[5] = ~(x[2] ^ x[3] ^ x[7]);
    y[6] = x[1] ^ x[2] ^ x[4];
    y[7] = x[1] ^ x[2] ^ x[6];
    aes_sbox(y);
    x[0] = ~(y[0] ^ y[1] ^ y[2] ^ y[3] ^ y[5]);
    x[1] = ~(y[3] ^ y[5]);
    x[2] = ~(y[1] ^ y[5] ^ y[6] ^ y[7]);
    x[3] = y[0] ^ y[1] ^ y[4];
    x[4] = y[0] ^ y[2] ^ y[6];
    x[5] = y[3];
    x[6] = ~(y[1] ^ y[3] ^ y[5] ^ y[7]);
    x[7] = y[0] ^ y[6];
}

#endif
