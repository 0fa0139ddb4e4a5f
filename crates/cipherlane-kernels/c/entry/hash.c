/* Hash functions: a thread walks a message. HASH gives hash_start, hash_block (one whole block of the message),
 * hash_end (what is left, padded) and the digest.
 */
#include "batch.h"
#include HASH

KERNEL(THREADS) ENTRY(text)(ARGUMENTS) {
    EACH_MESSAGE(message) {
        message_t m = find_message(offsets, &p, message);
        GLOBAL const u8 *from = in + m.at;
        hash_t h;
        u64 left = m.bytes;
        hash_start(&h);
        ROLLED for (; left >= HASH_BLOCK; left -= HASH_BLOCK, from += HASH_BLOCK) hash_block(&h, from);
        hash_end(&h, from, (u32)left, m.bytes, tags + message * p.tag_stride, p.tag_bytes);
    }
}
