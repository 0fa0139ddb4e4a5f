/* Keccak (FIPS 202): SHA-3, SHAKE and the original padding, by RATE in bytes and SUFFIX, the bits that follow the
 * message with the first bit of the padding.
 */
#ifndef CL_KECCAK
#define CL_KECCAK
#include "batch.h"

#define HASH_BLOCK RATE
#define RATE_LANES (RATE / 8)

typedef struct {
    u64 a[25];
} hash_t;

/* Iota's constants (section 3.2.5). */
TABLE u64 keccak_constant[24] = {
    0x0000000000000001UL, 0x0000000000008082UL, 0x800000000000808aUL, 0x8000000080008000UL, 0x000000000000808bUL,
    0x0000000080000001UL, 0x8000000080008081UL, 0x8000000000008009UL, 0x000000000000008aUL, 0x0000000000000088UL,
    0x0000000080008009UL, 0x000000008000000aUL, 0x000000008000808bUL, 0x800000000000008bUL, 0x8000000000008089UL,
    0x8000000000008003UL, 0x8000000000008002UL, 0x8000000000000080UL, 0x000000000000800aUL, 0x800000008000000aUL,
    0x8000000080008081UL, 0x8000000000008080UL, 0x0000000080000001UL, 0x8000000080008008UL};

FN void hash_start(hash_t *h) {
    UNROLL for (u32 i = 0; i < 25; ++i) h->a[i] = 0;
}

/* Rho and pi as one walk (sections 3.2.2 and 3.2.3): each lane goes to the next place, turned by what is due there. */
#define KECCAK_STEP(to, turn)                                                                                  \
    kept = a[to];                                                                                              \
    a[to] = ROTL64(moved, turn);                                                                               \
    moved = kept

/* Spelt out, or the compiler adds two columns first and then their sum to five lanes: six instructions instead of five. */
FN u64 keccak_xor3(u64 a, u64 b, u64 c) {
    return (u64)XOR3((u32)(a >> 32), (u32)(b >> 32), (u32)(c >> 32)) << 32 | XOR3((u32)a, (u32)b, (u32)c);
}

FN void keccak_round(u64 *a, u64 iota) {
    u64 c[5], moved, kept;
    UNROLL for (u32 x = 0; x < 5; ++x)
        c[x] = keccak_xor3(keccak_xor3(a[x], a[x + 5], a[x + 10]), a[x + 15], a[x + 20]);
    UNROLL for (u32 x = 0; x < 5; ++x) {
        u64 turned = ROTL64(c[(x + 1) % 5], 1);
        UNROLL for (u32 y = 0; y < 25; y += 5) a[x + y] = keccak_xor3(a[x + y], c[(x + 4) % 5], turned);
    }
    moved = a[1];
    KECCAK_STEP(10, 1);
    KECCAK_STEP(7, 3);
    KECCAK_STEP(11, 6);
    KECCAK_STEP(17, 10);
    KECCAK_STEP(18, 15);
    KECCAK_STEP(3, 21);
    KECCAK_STEP(5, 28);
    KECCAK_STEP(16, 36);
    KECCAK_STEP(8, 45);
    KECCAK_STEP(21, 55);
    KECCAK_STEP(24, 2);
    KECCAK_STEP(4, 14);
    KECCAK_STEP(15, 27);
    KECCAK_STEP(23, 41);
    KECCAK_STEP(19, 56);
    KECCAK_STEP(13, 8);
    KECCAK_STEP(12, 25);
    KECCAK_STEP(2, 43);
    KECCAK_STEP(20, 62);
    KECCAK_STEP(14, 18);
    KECCAK_STEP(22, 39);
    KECCAK_STEP(9, 61);
    KECCAK_STEP(6, 20);
    KECCAK_STEP(1, 44);
    UNROLL for (u32 y = 0; y < 25; y += 5) {
        UNROLL for (u32 x = 0; x < 5; ++x) c[x] = a[y + x];
        UNROLL for (u32 x = 0; x < 5; ++x) a[y + x] = c[x] ^ (~c[(x + 1) % 5] & c[(x + 2) % 5]);
    }
    a[0] ^= iota;
}

FN void keccak_permute(u64 *a) {
    ROLLED for (u32 r = 0; r < 24; r += 2) {
        keccak_round(a, keccak_constant[r]);
        keccak_round(a, keccak_constant[r + 1]);
    }
}

/* Eight bytes at any address, read by the aligned words that hold them. */
FN u64 keccak_load(GLOBAL const u8 *p) {
    u32 off = MISALIGNMENT(p, 8), shift = (off & 3) * 8;
    if (off == 0) return *(GLOBAL const u64 *)p;
    GLOBAL const u32 *q = (GLOBAL const u32 *)(p - (off & 3));
    u32 w0 = q[0], w1 = q[1], w2 = shift ? q[2] : 0;
    return (u64)FUNNEL_RIGHT(w1, w2, shift) << 32 | FUNNEL_RIGHT(w0, w1, shift);
}

FN u64 keccak_load_part(GLOBAL const u8 *p, u32 bytes) {
    u64 lane = 0;
    ROLLED for (u32 i = 0; i < bytes; ++i) lane |= (u64)p[i] << (8 * i);
    return lane;
}

FN void hash_block(hash_t *h, GLOBAL const u8 *from) {
    if (MISALIGNMENT(from, 8)) {
        UNROLL for (u32 i = 0; i < RATE_LANES; ++i) h->a[i] ^= keccak_load(from + 8 * i);
    } else {
        /* Asked once: a branch for each lane would take as long as two rounds. */
        UNROLL for (u32 i = 0; i < RATE_LANES; ++i) h->a[i] ^= ((GLOBAL const u64 *)from)[i];
    }
    keccak_permute(h->a);
}

/* pad10*1 (section 5.1) after SUFFIX, then as many bytes as are wanted (section 4). */
FN void hash_end(hash_t *h, GLOBAL const u8 *from, u32 left, u64 bytes, GLOBAL u8 *digest, u32 digest_bytes) {
    (void)bytes;
    UNROLL for (u32 i = 0; i < RATE_LANES; ++i) {
        if (left >= 8 * i + 8) {
            h->a[i] ^= keccak_load(from + 8 * i);
        } else if (left >= 8 * i) {
            h->a[i] ^= keccak_load_part(from + 8 * i, left - 8 * i) | (u64)SUFFIX << (8 * (left - 8 * i));
        }
    }
    h->a[RATE_LANES - 1] ^= (u64)0x80 << 56;
    keccak_permute(h->a);
    ROLLED for (;;) {
        UNROLL for (u32 i = 0; i < RATE_LANES; ++i) {
            u64 lane = h->a[i];
            ROLLED for (u32 j = 8 * i; j < 8 * i + 8 && j < digest_bytes; ++j, lane >>= 8) digest[j] = (u8)lane;
        }
        if (digest_bytes <= RATE) return;
        digest += RATE, digest_bytes -= RATE;
        keccak_permute(h->a);
    }
}

#endif
