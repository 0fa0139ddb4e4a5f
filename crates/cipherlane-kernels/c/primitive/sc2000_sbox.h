/* The layers S and M of SC2000 (CRYPTREC specification) with no table: S-boxes as circuits, element 0 of `x` being
 * the most significant bit of a field. The three lowest bits choose from a look-up, the others between look-ups:
 * 35 and 90 functions of three bits.
 */
#ifndef CL_SC2000_SBOX
#define CL_SC2000_SBOX
#include "primitive/transpose.h"

FN void sc2000_s5_planes(u32 *x) {
    u32 y0 = SELECT(x[0], SELECT(x[1], LOOKUP3(x[2], x[3], x[4], 0xe1), LOOKUP3(x[2], x[3], x[4], 0xa9)),
          SELECT(x[1], LOOKUP3(x[2], x[3], x[4], 0xa3), LOOKUP3(x[2], x[3], x[4], 0x1b)));
    u32 y1 = SELECT(x[0], SELECT(x[1], LOOKUP3(x[2], x[3], x[4], 0xc4), LOOKUP3(x[2], x[3], x[4], 0x83)),
          SELECT(x[1], LOOKUP3(x[2], x[3], x[4], 0x6e), LOOKUP3(x[2], x[3], x[4], 0xea)));
    u32 y2 = SELECT(x[0], SELECT(x[1], LOOKUP3(x[2], x[3], x[4], 0x43), LOOKUP3(x[2], x[3], x[4], 0x98)),
          SELECT(x[1], LOOKUP3(x[2], x[3], x[4], 0x1f), LOOKUP3(x[2], x[3], x[4], 0xad)));
    u32 y3 = SELECT(x[0], SELECT(x[1], LOOKUP3(x[2], x[3], x[4], 0x09), LOOKUP3(x[2], x[3], x[4], 0x53)),
          SELECT(x[1], LOOKUP3(x[2], x[3], x[4], 0x8b), LOOKUP3(x[2], x[3], x[4], 0xde)));
    u32 y4 = SELECT(x[0], SELECT(x[1], LOOKUP3(x[2], x[3], x[4], 0xeb), LOOKUP3(x[2], x[3], x[4], 0x0f)),
          SELECT(x[1], LOOKUP3(x[2], x[3], x[4], 0x44), LOOKUP3(x[2], x[3], x[4], 0x9c)));
    x[0] = y0, x[1] = y1, x[2] = y2, x[3] = y3, x[4] = y4;
}

FN void sc2000_s6_planes(u32 *x) {
    u32 y0 = SELECT(x[0], SELECT(x[1], SELECT(x[2], LOOKUP3(x[3], x[4], x[5], 0x73), LOOKUP3(x[3], x[4], x[5],
          0xdc)), SELECT(x[2], LOOKUP3(x[3], x[4], x[5], 0x02), LOOKUP3(x[3], x[4], x[5], 0xa7))), SELECT(x[1],
          SELECT(x[2], LOOKUP3(x[3], x[4], x[5], 0x70), LOOKUP3(x[3], x[4], x[5], 0x9b)), SELECT(x[2],
          LOOKUP3(x[3], x[4], x[5], 0x96), LOOKUP3(x[3], x[4], x[5], 0x8b))));
    u32 y1 = SELECT(x[0], SELECT(x[1], SELECT(x[2], LOOKUP3(x[3], x[4], x[5], 0x2b), LOOKUP3(x[3], x[4], x[5],
          0x82)), SELECT(x[2], LOOKUP3(x[3], x[4], x[5], 0x15), LOOKUP3(x[3], x[4], x[5], 0x8b))), SELECT(x[1],
          SELECT(x[2], LOOKUP3(x[3], x[4], x[5], 0x78), LOOKUP3(x[3], x[4], x[5], 0x5e)), SELECT(x[2],
          LOOKUP3(x[3], x[4], x[5], 0xf9), LOOKUP3(x[3], x[4], x[5], 0x66))));
    u32 y2 = SELECT(x[0], SELECT(x[1], SELECT(x[2], LOOKUP3(x[3], x[4], x[5], 0xb2), LOOKUP3(x[3], x[4], x[5],
          0x44)), SELECT(x[2], LOOKUP3(x[3], x[4], x[5], 0xb6), LOOKUP3(x[3], x[4], x[5], 0x31))), SELECT(x[1],
          SELECT(x[2], LOOKUP3(x[3], x[4], x[5], 0x83), LOOKUP3(x[3], x[4], x[5], 0xca)), SELECT(x[2],
          LOOKUP3(x[3], x[4], x[5], 0xf1), LOOKUP3(x[3], x[4], x[5], 0x5f))));
    u32 y3 = SELECT(x[0], SELECT(x[1], SELECT(x[2], LOOKUP3(x[3], x[4], x[5], 0x88), LOOKUP3(x[3], x[4], x[5],
          0x60)), SELECT(x[2], LOOKUP3(x[3], x[4], x[5], 0xd8), LOOKUP3(x[3], x[4], x[5], 0xb3))), SELECT(x[1],
          SELECT(x[2], LOOKUP3(x[3], x[4], x[5], 0x1c), LOOKUP3(x[3], x[4], x[5], 0xdf)), SELECT(x[2],
          LOOKUP3(x[3], x[4], x[5], 0x56), LOOKUP3(x[3], x[4], x[5], 0xf1))));
    u32 y4 = SELECT(x[0], SELECT(x[1], SELECT(x[2], LOOKUP3(x[3], x[4], x[5], 0x13), LOOKUP3(x[3], x[4], x[5],
          0x29)), SELECT(x[2], LOOKUP3(x[3], x[4], x[5], 0x14), LOOKUP3(x[3], x[4], x[5], 0xbd))), SELECT(x[1],
          SELECT(x[2], LOOKUP3(x[3], x[4], x[5], 0xce), LOOKUP3(x[3], x[4], x[5], 0x72)), SELECT(x[2],
          LOOKUP3(x[3], x[4], x[5], 0x0b), LOOKUP3(x[3], x[4], x[5], 0xbb))));
    u32 y5 = SELECT(x[0], SELECT(x[1], SELECT(x[2], LOOKUP3(x[3], x[4], x[5], 0xbc), LOOKUP3(x[3], x[4], x[5],
          0xf5)), SELECT(x[2], LOOKUP3(x[3], x[4], x[5], 0x55), LOOKUP3(x[3], x[4], x[5], 0x04))), SELECT(x[1],
          SELECT(x[2], LOOKUP3(x[3], x[4], x[5], 0xd1), LOOKUP3(x[3], x[4], x[5], 0x1b)), SELECT(x[2],
          LOOKUP3(x[3], x[4], x[5], 0x48), LOOKUP3(x[3], x[4], x[5], 0xb7))));
    x[0] = y0, x[1] = y1, x[2] = y2, x[3] = y3, x[4] = y4, x[5] = y5;
}

/* The layer S of `count` words, at most five: word i takes the bits i places above those of word 0, which the
 * fields of five bits leave free. Fields of five at 21, 16, 11 and 6, of six at 26 and 0.
 */
#define SC2000_S(t, count)                                                                                     \
    do {                                                                                                       \
        u32 five_[5], six_[6];                                                                                 \
        UNROLL for (u32 b_ = 0; b_ < 5; ++b_) {                                                                \
            five_[b_] = 0;                                                                                     \
            UNROLL for (u32 i_ = 0; i_ < (count); ++i_) five_[b_] |= ((t)[i_] >> (10 - b_) & 0x8421u) << i_;   \
        }                                                                                                      \
        UNROLL for (u32 b_ = 0; b_ < 6; ++b_) {                                                                \
            six_[b_] = 0;                                                                                      \
            UNROLL for (u32 i_ = 0; i_ < (count); ++i_) six_[b_] |= ((t)[i_] >> (5 - b_) & 0x04000001u) << i_; \
        }                                                                                                      \
        sc2000_s5_planes(five_);                                                                               \
        sc2000_s6_planes(six_);                                                                                \
        UNROLL for (u32 i_ = 0; i_ < (count); ++i_) {                                                          \
            (t)[i_] = 0;                                                                                       \
            UNROLL for (u32 b_ = 0; b_ < 5; ++b_)(t)[i_] |= (five_[b_] >> i_ & 0x8421u) << (10 - b_);          \
            UNROLL for (u32 b_ = 0; b_ < 6; ++b_)(t)[i_] |= (six_[b_] >> i_ & 0x04000001u) << (5 - b_);        \
        }                                                                                                      \
    } while (0)

FN void sc2000_s_words(u32 *t) {
    SC2000_S(t, 4);
}

FN u32 sc2000_s_word(u32 x) {
    SC2000_S(&x, 1);
    return x;
}

/* All ones where bit `bit` of x is set. */
#define MASK_OF(x, bit) (0u - ((x) >> (bit)&1u))

/* The layer M: the sum of the rows whose bit is set, row 0 being that of the most significant one. */
FN u32 sc2000_m(u32 x) {
    u32 y = 0;
    y ^= MASK_OF(x, 31) & 0xd0c19225u;
    y ^= MASK_OF(x, 30) & 0xa5a2240au;
    y ^= MASK_OF(x, 29) & 0x1b84d250u;
    y ^= MASK_OF(x, 28) & 0xb728a4a1u;
    y ^= MASK_OF(x, 27) & 0x6a704902u;
    y ^= MASK_OF(x, 26) & 0x85dddbe6u;
    y ^= MASK_OF(x, 25) & 0x766ff4a4u;
    y ^= MASK_OF(x, 24) & 0xecdfe128u;
    y ^= MASK_OF(x, 23) & 0xafd13e94u;
    y ^= MASK_OF(x, 22) & 0xdf837d09u;
    y ^= MASK_OF(x, 21) & 0xbb27fa52u;
    y ^= MASK_OF(x, 20) & 0x695059acu;
    y ^= MASK_OF(x, 19) & 0x52a1bb58u;
    y ^= MASK_OF(x, 18) & 0xcc322f1du;
    y ^= MASK_OF(x, 17) & 0x1844565bu;
    y ^= MASK_OF(x, 16) & 0xb4a8acf6u;
    y ^= MASK_OF(x, 15) & 0x34235438u;
    y ^= MASK_OF(x, 14) & 0x6847a851u;
    y ^= MASK_OF(x, 13) & 0xe48c0cbbu;
    y ^= MASK_OF(x, 12) & 0xcd181136u;
    y ^= MASK_OF(x, 11) & 0x9a112a0cu;
    y ^= MASK_OF(x, 10) & 0x43ec6d0eu;
    y ^= MASK_OF(x, 9) & 0x87d8d27du;
    y ^= MASK_OF(x, 8) & 0x487dc995u;
    y ^= MASK_OF(x, 7) & 0x90fb9b4bu;
    y ^= MASK_OF(x, 6) & 0xa1f63697u;
    y ^= MASK_OF(x, 5) & 0xfc513ed9u;
    y ^= MASK_OF(x, 4) & 0x78a37d93u;
    y ^= MASK_OF(x, 3) & 0x8d16c5dfu;
    y ^= MASK_OF(x, 2) & 0x9e0c8bbeu;
    y ^= MASK_OF(x, 1) & 0x3c381f7cu;
    y ^= MASK_OF(x, 0) & 0xe9fb0779u;
    return y;
}

#endif
