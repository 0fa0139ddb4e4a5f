/* Camellia (RFC 3713) over either form of its S-boxes: `camellia_boxes` gives, for WIDTH blocks, U and A of the two
 * words that enter F.
 *
 * Words are in memory order, subkeys too. With the S-boxes spread out by what P does with them (section 2.4.1),
 *   A = the first four bytes' share of the first four sums, D = the last four bytes' share of all sums,
 * F gives U = A ^ D and V = U ^ (A turned by one byte).
 */
#ifndef CL_CAMELLIA
#define CL_CAMELLIA
#include "batch.h"
#include "primitive/camellia_sbox.h"

/* Subkeys: 4 whitening, then 18 or 24 rounds with two FL keys after each six, as pairs of words in order of use. */
#define CAMELLIA_SUBKEYS (4 + ROUNDS + 2 * (ROUNDS / 6 - 1))
#define SCHEDULE_ROW (2 * CAMELLIA_SUBKEYS)

/* What F adds to the other half once A and D are known. `k` goes to the first word as well. */
FN void camellia_add(u32 *to0, u32 *to1, u32 u, u32 a, u32 k) {
    *to0 = XOR3(*to0, u, k);
    *to1 ^= u ^ ROTL32(a, 8);
}

/* Rotation by one bit of the word that four bytes in memory order stand for: the top bit of a byte goes to the one before. */
FN u32 camellia_rotate(u32 x) {
    return (x << 1 & 0xfefefefeu) | (ROTL32(x, 17) & 0x01010101u);
}

/* Round `r` of six for WIDTH blocks: a half goes through F into the other. The first word of the half has been given its
 * subkey already, where another word was added to it: a function of three words takes no longer than one of two. The
 * first word of the other half gets `carried`: it gives back what it has, and takes what comes next.
 */
FN void camellia_round(block_t *x, u32 r, u32 carried, KEY const u32 *k, LOCAL const u32 *shared) {
    u32 t[2 * WIDTH], from = r % 2 * 2;
    UNROLL for (u32 w = 0; w < WIDTH; ++w) {
        t[2 * w] = x[w].w[from];
        t[2 * w + 1] = x[w].w[from + 1] ^ k[2 * r + 1];
    }
    camellia_boxes(t, shared);
    UNROLL for (u32 w = 0; w < WIDTH; ++w)
        camellia_add(&x[w].w[2 - from], &x[w].w[3 - from], t[2 * w], t[2 * w + 1], carried);
}

/* FL on the first half, FLINV on the second (section 2.4.2), where the first words carry the subkeys `c0` and `c2`. */
FN void camellia_fl(block_t *x, KEY const u32 *k, u32 c0, u32 c2) {
    x->w[1] ^= camellia_rotate((x->w[0] ^ c0) & k[0]);
    x->w[0] ^= x->w[1] | k[1];
    x->w[2] ^= x->w[3] | k[3];
    x->w[3] ^= camellia_rotate((x->w[2] ^ c2) & k[2]);
}

/* Section 2.3: whitening, rounds in sixes, halves swapped, whitening. First words carry subkeys from one six to the next. */
FN void cipher_encrypt(block_t *x, KEY const u32 *k, LOCAL const u32 *shared) {
    UNROLL for (u32 w = 0; w < WIDTH; ++w) {
        x[w].w[0] ^= k[0] ^ k[8];
        x[w].w[1] ^= k[1];
        x[w].w[3] ^= k[3];
    }
    CAMELLIA_LOOP for (u32 six = 0; six < ROUNDS / 6; ++six) {
        KEY const u32 *here = k + 8 + 16 * six;
        if (six) {
            UNROLL for (u32 w = 0; w < WIDTH; ++w) camellia_fl(&x[w], here - 4, here[0], here[-6]);
        }
        UNROLL for (u32 r = 0; r < 6; ++r) {
            u32 had = r ? here[2 * r - 2] : six ? here[-6] : k[2];
            u32 next = r < 5 ? here[2 * r + 2] : six < ROUNDS / 6 - 1 ? here[16] : k[6];
            camellia_round(x, r, had ^ next, here, shared);
        }
    }
    UNROLL for (u32 w = 0; w < WIDTH; ++w) {
        block_t y = x[w];
        x[w].w[0] = y.w[2] ^ k[4] ^ k[8 + 16 * (ROUNDS / 6 - 1) + 10];
        x[w].w[1] = y.w[3] ^ k[5];
        x[w].w[2] = y.w[0];
        x[w].w[3] = y.w[1] ^ k[7];
    }
}

/* The same with the subkeys in reverse (section 2.3.3), which is how `cipher_expand_inverse` stores them. */
FN void cipher_decrypt(block_t *x, KEY const u32 *k, LOCAL const u32 *shared) {
    cipher_encrypt(x, k, shared);
}

/* ---- key schedule (section 2.2): words most significant first, in the standard's order ---------------------------- */

FN u32 camellia_sub_word(u32 word) {
    u32 x[8];
    slice_word(x, word);
    camellia_sbox(x);
    return unslice_word(x);
}

/* A word whose bytes were rotated left by one bit each. */
FN u32 camellia_rotate_bytes(u32 x) {
    return (x & 0x7f7f7f7fu) << 1 | (x & 0x80808080u) >> 7;
}

/* d ^= F(s, k). The boxes in order are 1 2 3 4 and 2 3 4 1: box 4 rotates what goes in, 2 and 3 what comes out. */
FN void camellia_f(u32 *d, const u32 *s, u32 k0, u32 k1) {
    u32 x0 = s[0] ^ k0, x1 = s[1] ^ k1;
    u32 y0 = camellia_sub_word((x0 & 0xffffff00u) | (camellia_rotate_bytes(x0) & 0xffu));
    u32 y1 = camellia_sub_word((x1 & 0xffff00ffu) | (camellia_rotate_bytes(x1) & 0xff00u));
    u32 l0 = camellia_rotate_bytes(y0), l1 = camellia_rotate_bytes(y1);
    u32 r0 = (y0 >> 1 & 0x7f7f7f7fu) | (y0 & 0x01010101u) << 7, r1 = (y1 >> 1 & 0x7f7f7f7fu) | (y1 & 0x01010101u) << 7;
    u32 a1 = y0 >> 24, a2 = l0 >> 16 & 255, a3 = r0 >> 8 & 255, a4 = y0 & 255;
    u32 d1 = l1 >> 24, d2 = r1 >> 16 & 255, d3 = y1 >> 8 & 255, d4 = y1 & 255;
    u32 a = a1 * 0x01010100u ^ a2 * 0x00010101u ^ a3 * 0x01000101u ^ a4 * 0x01010001u;
    u32 u = a ^ d1 * 0x00010101u ^ d2 * 0x01000101u ^ d3 * 0x01010001u ^ d4 * 0x01010100u;
    d[0] ^= u;
    d[1] ^= u ^ ROTL32(a, 24);
}

FN void camellia_two_rounds(u32 *s, u32 a0, u32 a1, u32 b0, u32 b1) {
    camellia_f(s + 2, s, a0, a1);
    camellia_f(s, s + 2, b0, b1);
}

/* Subkey `to`: the half `part` (0 is the upper) of `key` <<< n, in memory order. */
FN void camellia_subkey(GLOBAL u32 *out, u32 to, const u32 *key, u32 n, u32 part) {
    UNROLL for (u32 i = 0; i < 2; ++i) {
        u32 word = (2 * part + i + n / 32) % 4, shift = n % 32;
        u32 high = key[word], low = key[(word + 1) % 4];
        out[2 * to + i] = SWAP32(shift ? high << shift | low >> (32 - shift) : high);
    }
}

/* Where a subkey goes: numbered as in encryption from 0, whitening first; decryption uses them from the other end. */
FN u32 camellia_place(u32 i, u32 inverse) {
    if (!inverse) return i;
    return i < 4 ? (i + 2) % 4 : CAMELLIA_SUBKEYS + 3 - i;
}

FN void camellia_pair(GLOBAL u32 *out, u32 i, const u32 *key, u32 n, u32 inverse) {
    camellia_subkey(out, camellia_place(i, inverse), key, n, 0);
    camellia_subkey(out, camellia_place(i + 1, inverse), key, n, 1);
}

FN void camellia_expand(GLOBAL const u8 *key, GLOBAL u32 *out, u32 inverse) {
    u32 kl[4], kr[4], ka[4], kb[4];
    UNROLL for (u32 i = 0; i < 4; ++i) {
        kl[i] = SWAP32(load_word(key + 4 * i));
        kr[i] = KEY_BYTES == 16 ? 0 : KEY_BYTES == 32 || i < 2 ? SWAP32(load_word(key + 16 + 4 * i)) : ~kr[i - 2];
        ka[i] = kl[i] ^ kr[i];
    }
    camellia_two_rounds(ka, 0xa09e667fu, 0x3bcc908bu, 0xb67ae858u, 0x4caa73b2u);
    UNROLL for (u32 i = 0; i < 4; ++i) ka[i] ^= kl[i];
    camellia_two_rounds(ka, 0xc6ef372fu, 0xe94f82beu, 0x54ff53a5u, 0xf1d36f1cu);
#if KEY_BYTES == 16
    (void)kb;
    camellia_pair(out, 0, kl, 0, inverse);
    camellia_pair(out, 2, ka, 111, inverse);
    camellia_pair(out, 4, ka, 0, inverse);
    camellia_pair(out, 6, kl, 15, inverse);
    camellia_pair(out, 8, ka, 15, inverse);
    camellia_pair(out, 10, ka, 30, inverse);
    camellia_pair(out, 12, kl, 45, inverse);
    camellia_subkey(out, camellia_place(14, inverse), ka, 45, 0);
    camellia_subkey(out, camellia_place(15, inverse), kl, 60, 1);
    camellia_pair(out, 16, ka, 60, inverse);
    camellia_pair(out, 18, kl, 77, inverse);
    camellia_pair(out, 20, kl, 94, inverse);
    camellia_pair(out, 22, ka, 94, inverse);
    camellia_pair(out, 24, kl, 111, inverse);
#else
    UNROLL for (u32 i = 0; i < 4; ++i) kb[i] = ka[i] ^ kr[i];
    camellia_two_rounds(kb, 0x10e527fau, 0xde682d1du, 0xb05688c2u, 0xb3e6c1fdu);
    camellia_pair(out, 0, kl, 0, inverse);
    camellia_pair(out, 2, kb, 111, inverse);
    camellia_pair(out, 4, kb, 0, inverse);
    camellia_pair(out, 6, kr, 15, inverse);
    camellia_pair(out, 8, ka, 15, inverse);
    camellia_pair(out, 10, kr, 30, inverse);
    camellia_pair(out, 12, kb, 30, inverse);
    camellia_pair(out, 14, kl, 45, inverse);
    camellia_pair(out, 16, ka, 45, inverse);
    camellia_pair(out, 18, kl, 60, inverse);
    camellia_pair(out, 20, kr, 60, inverse);
    camellia_pair(out, 22, kb, 60, inverse);
    camellia_pair(out, 24, kl, 77, inverse);
    camellia_pair(out, 26, ka, 77, inverse);
    camellia_pair(out, 28, kr, 94, inverse);
    camellia_pair(out, 30, ka, 94, inverse);
    camellia_pair(out, 32, kl, 111, inverse);
#endif
}

FN void cipher_expand(GLOBAL const u8 *key, GLOBAL u32 *out) {
    camellia_expand(key, out, 0);
}

FN void cipher_expand_inverse(GLOBAL const u8 *key, GLOBAL u32 *out) {
    camellia_expand(key, out, 1);
}

FN void cipher_inverse_tables(LOCAL u32 *shared) {
    cipher_forward_tables(shared);
}

#endif
