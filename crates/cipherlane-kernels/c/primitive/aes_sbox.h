/* SubBytes on planes of bits (FIPS 197 section 5.1.1): plane 0 holds the most significant bit of every byte.
 *
 * 76 functions of three bits, found by mapping the circuits of Boyar and Peralta (2012) to three-input look-ups with
 * ABC; the tests compare all 256 values.
 */
#ifndef CL_AES_SBOX
#define CL_AES_SBOX
#include "primitive/slice.h"

FN void aes_sbox(u32 *x) {
    u32 t0 = LOOKUP3(x[0], x[6], 0, 0x3c);
    u32 t1 = LOOKUP3(x[3], x[5], 0, 0x3c);
    u32 t2 = LOOKUP3(t0, t1, 0, 0x3c);
    u32 t3 = LOOKUP3(t2, x[1], x[4], 0x96);
    u32 t4 = LOOKUP3(t3, x[0], x[3], 0x69);
    u32 t5 = LOOKUP3(t4, x[1], x[2], 0x69);
    u32 t6 = LOOKUP3(x[0], x[6], t5, 0x72);
    u32 t7 = LOOKUP3(x[1], x[2], x[7], 0x96);
    u32 t8 = LOOKUP3(t7, x[6], t6, 0x56);
    u32 t9 = LOOKUP3(t0, x[3], x[4], 0x69);
    u32 t10 = LOOKUP3(t9, x[1], x[2], 0x69);
    u32 t11 = LOOKUP3(t4, t10, 0, 0x3c);
    u32 t12 = LOOKUP3(t3, x[0], x[3], 0x06);
    u32 t13 = LOOKUP3(t11, t1, t12, 0x59);
    u32 t14 = LOOKUP3(t8, t13, 0, 0xc3);
    u32 t15 = LOOKUP3(t7, x[6], 0, 0x3c);
    u32 t16 = LOOKUP3(x[0], x[5], 0, 0x3c);
    u32 t17 = LOOKUP3(t15, t16, 0, 0xc3);
    u32 t18 = LOOKUP3(t17, t9, x[7], 0x09);
    u32 t19 = LOOKUP3(t9, t2, 0, 0x0c);
    u32 t20 = LOOKUP3(t18, t19, 0, 0x3c);
    u32 t21 = LOOKUP3(t13, t20, t3, 0x69);
    u32 t22 = LOOKUP3(t14, t21, 0, 0xc0);
    u32 t23 = LOOKUP3(t7, x[3], x[7], 0x28);
    u32 t24 = LOOKUP3(t10, t16, t23, 0x56);
    u32 t25 = LOOKUP3(t12, t24, t19, 0x69);
    u32 t26 = LOOKUP3(t22, t25, 0, 0x3c);
    u32 t27 = LOOKUP3(t7, x[0], 0, 0xc3);
    u32 t28 = LOOKUP3(t27, t4, x[7], 0x09);
    u32 t29 = LOOKUP3(t10, t16, t12, 0x95);
    u32 t30 = LOOKUP3(t6, t28, t29, 0x96);
    u32 t31 = LOOKUP3(t14, t30, t26, 0x72);
    u32 t32 = LOOKUP3(t21, t14, t30, 0x51);
    u32 t33 = LOOKUP3(t14, t31, t32, 0x45);
    u32 t34 = LOOKUP3(t30, t21, t25, 0xa2);
    u32 t35 = LOOKUP3(t14, t21, t34, 0x59);
    u32 t36 = LOOKUP3(t33, t35, 0, 0x3c);
    u32 t37 = LOOKUP3(t22, t30, 0, 0x3c);
    u32 t38 = LOOKUP3(t21, t25, t37, 0x72);
    u32 t39 = LOOKUP3(t31, t38, 0, 0xc3);
    u32 t40 = LOOKUP3(t36, t39, t1, 0x28);
    u32 t41 = LOOKUP3(t39, x[0], x[3], 0x06);
    u32 t42 = LOOKUP3(t40, t41, 0, 0x3c);
    u32 t43 = LOOKUP3(t35, t7, 0, 0xc0);
    u32 t44 = LOOKUP3(t42, t43, 0, 0xc3);
    u32 t45 = LOOKUP3(t33, t17, 0, 0x03);
    u32 t46 = LOOKUP3(t33, t31, 0, 0xc3);
    u32 t47 = LOOKUP3(t46, t2, t45, 0x6a);
    u32 t48 = LOOKUP3(t44, t47, 0, 0x3c);
    u32 t49 = LOOKUP3(t11, t36, t39, 0x06);
    u32 t50 = LOOKUP3(t38, t35, t5, 0x28);
    u32 t51 = LOOKUP3(t39, t4, t50, 0x56);
    u32 t52 = LOOKUP3(t49, t51, 0, 0x3c);
    u32 s0 = LOOKUP3(t48, t52, 0, 0x3c);
    u32 t53 = LOOKUP3(t33, t9, x[7], 0x09);
    u32 t54 = LOOKUP3(t48, t53, 0, 0xc3);
    u32 t55 = LOOKUP3(t9, t46, t50, 0xa6);
    u32 s3 = LOOKUP3(t54, t55, 0, 0x3c);
    u32 t56 = LOOKUP3(t52, t43, 0, 0x3c);
    u32 s1 = LOOKUP3(s3, t56, 0, 0x3c);
    u32 t57 = LOOKUP3(t36, t10, t49, 0xa6);
    u32 t58 = LOOKUP3(t44, t57, 0, 0x3c);
    u32 t59 = LOOKUP3(t38, t35, t0, 0x28);
    u32 t60 = LOOKUP3(t31, x[7], 0, 0xc0);
    u32 t61 = LOOKUP3(t55, t59, t60, 0x69);
    u32 t62 = LOOKUP3(t27, t38, t61, 0x59);
    u32 t63 = LOOKUP3(t58, t62, 0, 0x3c);
    u32 t64 = LOOKUP3(t36, t16, t40, 0xa6);
    u32 s2 = LOOKUP3(t63, t56, t64, 0x69);
    u32 t65 = LOOKUP3(t4, x[7], t38, 0x82);
    u32 s4 = LOOKUP3(t54, t60, t65, 0x96);
    u32 t66 = LOOKUP3(t7, x[3], t31, 0x28);
    u32 s5 = LOOKUP3(t63, t45, t66, 0x69);
    u32 t67 = LOOKUP3(t35, t15, t65, 0x6a);
    u32 s6 = LOOKUP3(t58, t67, t59, 0x96);
    u32 s7 = LOOKUP3(t42, t61, t67, 0x96);
    x[0] = s0, x[1] = s1, x[2] = s2, x[3] = s3, x[4] = s4, x[5] = s5, x[6] = s6, x[7] = s7;
}

/* The inverse of the affine map of section 5.1.1: bit i is the sum of bits i+2, i+5 and i+7, and 05. */
FN void aes_inverse_affine(u32 *x) {
    u32 y[8];
    /* Bit i lies in plane 7 - i. */
    UNROLL for (u32 i = 0; i < 8; ++i) {
        u32 sum = XOR3(x[7 - (i + 2) % 8], x[7 - (i + 5) % 8], x[7 - (i + 7) % 8]);
        y[7 - i] = i == 0 || i == 2 ? ~sum : sum;
    }
    UNROLL for (u32 i = 0; i < 8; ++i) x[i] = y[i];
}

/* InvSubBytes (section 5.3.2): S is the affine map after inversion, so its inverse is S between two inverse maps. */
FN void aes_inverse_sbox(u32 *x) {
    aes_inverse_affine(x);
    aes_sbox(x);
    aes_inverse_affine(x);
}

/* SubWord (section 5.2) with no table. */
FN u32 aes_sub_word(u32 word) {
    u32 x[8];
    slice_word(x, word);
    aes_sbox(x);
    return unslice_word(x);
}

#endif
