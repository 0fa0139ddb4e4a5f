/* Messages, tiles and blocks: what entry points share. */
#ifndef CL_BATCH
#define CL_BATCH
#include "abi.h"

/* The name of an entry point carries the program's, so that a profiler shows what runs. */
#define CL_JOIN_(a, b) a##_##b
#define CL_JOIN(a, b) CL_JOIN_(a, b)
#define ENTRY(stage) CL_JOIN(PROGRAM, stage)

/* 16 bytes in memory order: byte 0 is the low byte of w[0]. */
typedef struct {
    u32 w[4];
} block_t;

#define BLOCK_BYTES 16
#define MISALIGNMENT(pointer, bytes) ((u32)(size_t)(pointer) & ((bytes)-1))

FN block_t zero_block(void) {
    block_t b;
    UNROLL for (u32 i = 0; i < 4; ++i) b.w[i] = 0;
    return b;
}

FN void xor_block(block_t *a, const block_t *b) {
    UNROLL for (u32 i = 0; i < 4; ++i) a->w[i] ^= b->w[i];
}

/* Every byte is read by the aligned word that holds it: up to three bytes before and after a block. `off` is the
 * misalignment of `p`, which all blocks of a text share: loops find it out once.
 */
FN block_t load_block_off(GLOBAL const u8 *p, u32 off) {
    block_t b;
    if (off == 0) {
        words4 v = *(GLOBAL const words4 *)p;
        b.w[0] = v.x, b.w[1] = v.y, b.w[2] = v.z, b.w[3] = v.w;
    } else {
        u32 shift = (off & 3) * 8;
        GLOBAL const u32 *q = (GLOBAL const u32 *)(p - (off & 3));
        u32 low = q[0];
        UNROLL for (u32 i = 0; i < 3; ++i) {
            u32 high = q[i + 1];
            b.w[i] = FUNNEL_RIGHT(low, high, shift);
            low = high;
        }
        b.w[3] = FUNNEL_RIGHT(low, shift ? q[4] : 0, shift);
    }
    return b;
}

FN block_t load_block(GLOBAL const u8 *p) {
    return load_block_off(p, MISALIGNMENT(p, 16));
}

/* A word at any address, by its bytes. */
FN u32 load_word(GLOBAL const u8 *p) {
    return (u32)p[0] | (u32)p[1] << 8 | (u32)p[2] << 16 | (u32)p[3] << 24;
}

/* Sixteen bits as every other bit of a word, from the lowest. */
FN u32 spread_bits(u32 x) {
    x = (x | x << 8) & 0x00ff00ffu;
    x = (x | x << 4) & 0x0f0f0f0fu;
    x = (x | x << 2) & 0x33333333u;
    return (x | x << 1) & 0x55555555u;
}

FN u32 byte_of(const block_t *b, u32 i) {
    return b->w[i / 4] >> (i % 4 * 8);
}

FN void store_block_off(GLOBAL u8 *p, u32 off, const block_t *b) {
    if (off == 0) {
        words4 v;
        v.x = b->w[0], v.y = b->w[1], v.z = b->w[2], v.w = b->w[3];
        *(GLOBAL words4 *)p = v;
    } else if ((off & 3) == 0) {
        UNROLL for (u32 i = 0; i < 4; ++i) ((GLOBAL u32 *)p)[i] = b->w[i];
    } else {
        /* Three whole words inside; the ends may share their words with other messages. */
        u32 head = 4 - (off & 3), shift = head * 8;
        UNROLL for (u32 i = 0; i < 3; ++i) if (i < head) p[i] = (u8)byte_of(b, i);
        UNROLL for (u32 i = 0; i < 3; ++i) {
            ((GLOBAL u32 *)(p + head))[i] = FUNNEL_RIGHT(b->w[i], b->w[i + 1], shift);
        }
        UNROLL for (u32 i = 13; i < 16; ++i) if (i >= head + 12) p[i] = (u8)byte_of(b, i);
    }
}

FN void store_block(GLOBAL u8 *p, const block_t *b) {
    store_block_off(p, MISALIGNMENT(p, 16), b);
}

/* The first `bytes` (0 to 16) bytes, then zeros. */
FN block_t load_part(GLOBAL const u8 *p, u32 bytes) {
    block_t b = zero_block();
    UNROLL for (u32 i = 0; i < 16; ++i) if (i < bytes) b.w[i / 4] |= (u32)p[i] << (i % 4 * 8);
    return b;
}

FN void store_part(GLOBAL u8 *p, const block_t *b, u32 bytes) {
    UNROLL for (u32 i = 0; i < 16; ++i) if (i < bytes) p[i] = (u8)byte_of(b, i);
}

/* Zeroes all but the first `bytes` (0 to 16) bytes. */
FN void keep_part(block_t *b, u32 bytes) {
    UNROLL for (u32 i = 0; i < 4; ++i) {
        u32 have = bytes > 4 * i ? bytes - 4 * i : 0;
        b->w[i] &= have >= 4 ? 0xffffffffu : (1u << (8 * have)) - 1;
    }
}

/* A message, or a part of one: `at` is its offset in `in` and `out`. */
typedef struct {
    u64 message, row, at, bytes;
} message_t;

FN message_t find_message(GLOBAL const u64 *offsets, const params_t *p, u64 message) {
    message_t m;
    u64 begin = offsets[message];
    m.message = message;
    m.row = message - p->first_message;
    m.at = begin - p->text_base;
    m.bytes = offsets[message + 1] - begin;
    return m;
}

/* A run of blocks: `text` is all of its message; `first` and `blocks` count blocks, a last part of one included. */
typedef struct {
    message_t text;
    u64 first;
    u32 blocks, bytes;
} tile_t;

/* The message that tile `tile` belongs to: the last one with no more tiles than that before it. */
FN u64 message_of_tile(GLOBAL const u64 *tiles, const params_t *p, u64 tile) {
    u64 low = p->first_message, high = p->end_message;
    while (high - low > 1) {
        u64 middle = low + (high - low) / 2;
        if (tiles[middle] <= tile)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* `whole`: a part of a block belongs to the tile of the block before it. */
FN tile_t find_tile(GLOBAL const u64 *offsets, GLOBAL const u64 *tiles, const params_t *p, u64 tile, u32 size,
                    u32 whole) {
    tile_t t;
    u64 message, index;
    if (p->uniform_tiles) {
        message = tile / p->uniform_tiles;
        index = tile - message * p->uniform_tiles;
    } else {
        message = message_of_tile(tiles, p, tile);
        index = tile - tiles[message];
    }
    t.text = find_message(offsets, p, message);
    t.first = index * size;
    u64 left = t.text.bytes - t.first * BLOCK_BYTES, most = (u64)size * BLOCK_BYTES;
    /* A last tile takes all that is left, which is less than a block more than `most`. */
    t.bytes = (u32)(left < most + (whole ? BLOCK_BYTES : 0) ? left : most);
    t.blocks = (t.bytes + BLOCK_BYTES - 1) / BLOCK_BYTES;
    return t;
}

/* LANES threads walk one tile; all threads stride over the grid. Neighbouring tiles go to neighbouring blocks: each block
 * has a share of the last round, which as a rule has fewer tiles than the grid has room for.
 */
#define OWN_TILE (p.first_tile + (u64)(THREAD / LANES) * BLOCKS + BLOCK)
#define EACH_TILE(tile)                                                                                        \
    for (u64 tile = OWN_TILE; tile < p.end_tile;                                                               \
         tile += (u64)BLOCKS * (THREADS / LANES))

/* A thread walks one message. */
#define EACH_MESSAGE(message)                                                                                  \
    for (u64 place = (u64)BLOCK * THREADS + THREAD, message = 0;                                               \
         place < p.end_message - p.first_message &&                                                            \
         (message = p.first_message + (p.flags & ORDERED ? order[place] : place), 1);                          \
         place += (u64)BLOCKS * THREADS)

#define KEY_ROWS (SHARED_KEY ? 1 : p.end_message - p.first_message)
#define EACH_KEY(row)                                                                                          \
    for (u64 row = (u64)BLOCK * THREADS + THREAD; row < KEY_ROWS; row += (u64)BLOCKS * THREADS)
#define KEY_AT(row) (keys + (p.first_message + (row)) * p.key_stride)

/* Where the round keys of a stage lie. */
#if KEY_IN_REGISTERS
#define KEY
#elif SHARED_KEY
#define KEY CONSTANT
#define ROUND_KEYS(row) (SCHEDULE(schedule))
#else
#define KEY GLOBAL
#define ROUND_KEYS(row) ((GLOBAL const u32 *)(work + p.schedule_at) + (row)*SCHEDULE_ROW)
#endif

#define NONCE_AT(message)                                                                                      \
    (nonces + (p.flags & NONCES_RAGGED ? nonce_offsets[message] : (message)*p.nonce_stride))

#endif
