/* The arguments that every entry point takes. src/abi.rs says the same in Rust and documents each. */
#ifndef CL_ABI
#define CL_ABI
#include "dialect.h"

typedef struct {
    u64 first_message, end_message;
    u64 first_tile, end_tile;
    u64 uniform_tiles;
    u64 text_base;
    u64 key_stride;
    u64 nonce_stride, nonce_bytes;
    u64 aad_stride, aad_bytes;
    u64 tag_stride;
    u64 schedule_at, hash_at, state_at, chain_at;
    u32 tag_bytes;
    u32 flags;
} params_t;

/* Bits of `flags`. */
#define IN_PLACE 1u
#define NONCES_RAGGED 2u
#define AAD_RAGGED 4u
#define ORDERED 8u
#define TAGS_EACH 16u

#define ARGUMENTS                                                                                              \
    GLOBAL const u8 *in, GLOBAL u8 *out, GLOBAL const u64 *offsets, GLOBAL const u64 *tiles,                   \
        GLOBAL const u32 *order, GLOBAL const u8 *keys, GLOBAL const u8 *nonces,                               \
        GLOBAL const u64 *nonce_offsets, GLOBAL const u8 *aad, GLOBAL const u64 *aad_offsets,                  \
        GLOBAL u8 *tags, GLOBAL const u8 *tag_lengths, GLOBAL u8 *accepted, GLOBAL u8 *work,                   \
        CONSTANT const u32 *schedule, params_t p

#endif
