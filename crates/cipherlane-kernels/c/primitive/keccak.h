/* Keccak (FIPS 202): SHA-3, SHAKE and the original padding, by RATE in bytes and SUFFIX, the bits that follow the
 * message with the first bit of the padding.
 */
#ifndef CL_KECCAK
#define CL_KECCAK
#include "primitive/digest.h"

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

/* The first `rounds` rounds, an even number. */
FN void keccak_rounds(u64 *a, u32 rounds) {
    ROLLED for (u32 r = 0; r < rounds; r += 2) {
        keccak_round(a, keccak_constant[r]);
        keccak_round(a, keccak_constant[r + 1]);
    }
}

FN void keccak_permute(u64 *a) {
    keccak_rounds(a, 24);
}

/* The last round where its first plane is all that is wanted: a third of a round. Pi brings the diagonal there. */
FN void keccak_last_plane(u64 *a, u64 iota) {
    u64 c[5], b[5];
    UNROLL for (u32 x = 0; x < 5; ++x)
        c[x] = keccak_xor3(keccak_xor3(a[x], a[x + 5], a[x + 10]), a[x + 15], a[x + 20]);
    UNROLL for (u32 x = 0; x < 5; ++x)
        b[x] = keccak_xor3(a[6 * x], c[(x + 4) % 5], ROTL64(c[(x + 1) % 5], 1));
    b[1] = ROTL64(b[1], 44), b[2] = ROTL64(b[2], 43), b[3] = ROTL64(b[3], 21), b[4] = ROTL64(b[4], 14);
    UNROLL for (u32 x = 0; x < 5; ++x) a[x] = b[x] ^ (~b[(x + 1) % 5] & b[(x + 2) % 5]);
    a[0] ^= iota;
}

/* All of it, for results of `bytes` bytes. */
FN void keccak_permute_to(u64 *a, u32 bytes) {
    keccak_rounds(a, 22);
    keccak_round(a, keccak_constant[22]);
    if (bytes <= 5 * 8)
        keccak_last_plane(a, keccak_constant[23]);
    else
        keccak_round(a, keccak_constant[23]);
}

/* Eight bytes, read by the aligned words that hold them. `shift` is in bits how far their address is from one of a word:
 * lanes of a text share it.
 */
FN u64 keccak_load(GLOBAL const u8 *p, u32 shift) {
    GLOBAL const u32 *q = (GLOBAL const u32 *)(p - shift / 8);
    u32 w0 = q[0], w1 = q[1], w2 = shift ? q[2] : 0;
    return (u64)FUNNEL_RIGHT(w1, w2, shift) << 32 | FUNNEL_RIGHT(w0, w1, shift);
}

FN u64 keccak_load_part(GLOBAL const u8 *p, u32 bytes) {
    u64 lane = 0;
    ROLLED for (u32 i = 0; i < bytes; ++i) lane |= (u64)p[i] << (8 * i);
    return lane;
}

/* Lanes `first` up to `end` of a block whose address is `off` bytes from one of a lane. */
FN void keccak_absorb(u64 *a, GLOBAL const u8 *from, u32 off, u32 first, u32 end) {
    if (off) {
        u32 shift = (off & 3) * 8;
        UNROLL for (u32 i = first; i < end; ++i) a[i] ^= keccak_load(from + 8 * i, shift);
    } else {
        UNROLL for (u32 i = first; i < end; ++i) a[i] ^= ((GLOBAL const u64 *)from)[i];
    }
}

FN void hash_block(hash_t *h, GLOBAL const u8 *from) {
    keccak_absorb(h->a, from, MISALIGNMENT(from, 8), 0, RATE_LANES);
    keccak_permute(h->a);
}

/* Lanes that are asked about together, so that asking takes no longer than absorbing. */
#define FEW 4

/* What is left of a message, with pad10*1 (section 5.1) after SUFFIX. */
FN void keccak_absorb_last(u64 *a, GLOBAL const u8 *from, u32 left) {
    u32 lanes = left / 8, rest = left % 8, off = MISALIGNMENT(from, 8);
    u64 last = keccak_load_part(from + 8 * lanes, rest) | (u64)SUFFIX << (8 * rest);
    UNROLL for (u32 first = 0; first < RATE_LANES; first += FEW) {
        u32 end = first + FEW < RATE_LANES ? first + FEW : RATE_LANES;
        if (lanes >= end) {
            keccak_absorb(a, from, off, first, end);
        } else if (lanes >= first) {
            UNROLL for (u32 i = first; i < end; ++i) {
                if (i < lanes) keccak_absorb(a, from, off, i, i + 1);
                if (i == lanes) a[i] ^= last;
            }
        }
    }
    a[RATE_LANES - 1] ^= (u64)0x80 << 56;
}

/* The first `bytes` bytes of the state, at most RATE. */
FN void keccak_store(GLOBAL u8 *to, const u64 *a, u32 bytes) {
    UNROLL for (u32 i = 0; i < RATE_LANES; i += 2) {
        u64 next = i + 1 < RATE_LANES ? a[i + 1] : 0;
        block_t b = {{(u32)a[i], (u32)(a[i] >> 32), (u32)next, (u32)(next >> 32)}};
        store_digest(to, 8 * i, &b, bytes);
    }
}

/* As many bytes as are wanted are squeezed (section 4). */
FN void hash_end(hash_t *h, GLOBAL const u8 *from, u32 left, u64 bytes, GLOBAL u8 *digest, u32 digest_bytes) {
    (void)bytes;
    keccak_absorb_last(h->a, from, left);
    keccak_permute_to(h->a, digest_bytes);
    ROLLED for (;;) {
        keccak_store(digest, h->a, digest_bytes < RATE ? digest_bytes : RATE);
        if (digest_bytes <= RATE) return;
        digest += RATE, digest_bytes -= RATE;
        keccak_permute(h->a);
    }
}

#endif
