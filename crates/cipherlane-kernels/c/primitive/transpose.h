/* Transposition of 32 x 32 bits: bit s of a[j] becomes bit j of a[s]. */
#ifndef CL_TRANSPOSE
#define CL_TRANSPOSE
#include "dialect.h"

/* Where `mask` has ones the bits of a, elsewhere those of b. */
#define SELECT(mask, a, b) LOOKUP3((a), (b), (mask), 0xe4)

FN void transpose_step(u32 *a, u32 distance, u32 mask) {
    UNROLL for (u32 i = 0; i < 32; ++i) {
        if (i & distance) continue;
        u32 low = a[i], high = a[i + distance];
        a[i] = SELECT(mask, low, high << distance);
        a[i + distance] = SELECT(mask, low >> distance, high);
    }
}

/* The same for whole bytes, by one PERMUTE a word. */
FN void transpose_bytes(u32 *a, u32 distance, u32 low_bytes, u32 high_bytes) {
    UNROLL for (u32 i = 0; i < 32; ++i) {
        if (i & distance) continue;
        u32 low = a[i], high = a[i + distance];
        a[i] = PERMUTE(low, high, low_bytes);
        a[i + distance] = PERMUTE(low, high, high_bytes);
    }
}

FN void transpose_32(u32 *a) {
    transpose_bytes(a, 16, 0x5410, 0x7632);
    transpose_bytes(a, 8, 0x6240, 0x7351);
    transpose_step(a, 4, 0x0f0f0f0fu);
    transpose_step(a, 2, 0x33333333u);
    transpose_step(a, 1, 0x55555555u);
}

#endif
