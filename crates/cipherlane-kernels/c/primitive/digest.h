/* How hash functions write their results. */
#ifndef CL_DIGEST
#define CL_DIGEST
#include "batch.h"

/* The block at byte `at` of a digest of `bytes` bytes, as far as it belongs to it. */
FN void store_digest(GLOBAL u8 *digest, u32 at, const block_t *b, u32 bytes) {
    if (bytes >= at + BLOCK_BYTES)
        store_block(digest + at, b);
    else if (bytes > at)
        store_part(digest + at, b, bytes - at);
}

#endif
