/* Bytes as planes of bits, for S-boxes that are circuits: plane 0 holds the most significant bit of every byte. */
#ifndef CL_SLICE
#define CL_SLICE
#include "primitive/transpose.h"

/* The four bytes of one word: only the lowest bit of each byte of a plane counts. */
FN void slice_word(u32 *plane, u32 word) {
    UNROLL for (u32 i = 0; i < 8; ++i) plane[i] = word >> (7 - i);
}

FN u32 unslice_word(const u32 *plane) {
    u32 word = 0;
    UNROLL for (u32 i = 0; i < 8; ++i) word |= (plane[i] & 0x01010101u) << (7 - i);
    return word;
}

/* One of three steps of transposing the 8 x 8 bits that eight words have in each byte. */
FN void slice_step(u32 *a, u32 distance, u32 mask) {
    UNROLL for (u32 i = 0; i < 8; ++i) {
        if (i & distance) continue;
        u32 low = a[i], high = a[i + distance];
        a[i] = SELECT(mask, low, high << distance);
        a[i + distance] = SELECT(mask, low >> distance, high);
    }
}

/* The bytes of eight words: byte b of word i is bit 8 b + i of the planes. */
FN void slice_words(u32 *plane, const u32 *word) {
    UNROLL for (u32 i = 0; i < 8; ++i) plane[i] = word[i];
    slice_step(plane, 4, 0x0f0f0f0fu);
    slice_step(plane, 2, 0x33333333u);
    slice_step(plane, 1, 0x55555555u);
    /* Plane i now has bit i; the most significant one goes first. */
    UNROLL for (u32 i = 0; i < 4; ++i) {
        u32 low = plane[i];
        plane[i] = plane[7 - i], plane[7 - i] = low;
    }
}

FN void unslice_words(u32 *word, const u32 *plane) {
    UNROLL for (u32 i = 0; i < 8; ++i) word[i] = plane[7 - i];
    slice_step(word, 4, 0x0f0f0f0fu);
    slice_step(word, 2, 0x33333333u);
    slice_step(word, 1, 0x55555555u);
}

#endif
