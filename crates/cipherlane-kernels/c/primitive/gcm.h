/* What the entries of GCM share: rows of AAD, tags and verdicts. */
#ifndef CL_GCM
#define CL_GCM
#include "batch.h"
#include "primitive/counter.h"
#include "primitive/ghash.h"

#define NONCE_BYTES(message)                                                                                   \
    (p.flags & NONCES_RAGGED ? nonce_offsets[(message) + 1] - nonce_offsets[message] : p.nonce_bytes)
/* Whether J0 is public, as it is where it is the nonce itself. Hashed from a nonce of another length it depends on the key:
 * then no address and no number of rounds may depend on counters.
 */
#define HAS_PUBLIC_COUNTER(message) (NONCE_BYTES(message) == 12)
#define AAD_AT(message) (aad + (p.flags & AAD_RAGGED ? aad_offsets[message] : (message)*p.aad_stride))
#define AAD_BYTES(message)                                                                                     \
    (p.flags & AAD_RAGGED ? aad_offsets[(message) + 1] - aad_offsets[message] : p.aad_bytes)
#define TAG_AT(message) (tags + (message)*p.tag_stride)
#define TAG_BYTES(message) (p.flags & TAGS_EACH ? (u32)tag_lengths[message] : p.tag_bytes)

/* Whether the first `bytes` bytes agree, looking at all of them whatever they are. */
FN u32 tags_agree(const block_t *tag, GLOBAL const u8 *given, u32 bytes) {
    block_t wanted = load_part(given, bytes), have = *tag;
    keep_part(&have, bytes);
    xor_block(&have, &wanted);
    return (have.w[0] | have.w[1] | have.w[2] | have.w[3]) == 0;
}

FN void zero_text(GLOBAL u8 *to, u64 bytes) {
    block_t zero = zero_block();
    ROLLED for (; bytes >= BLOCK_BYTES; bytes -= BLOCK_BYTES, to += BLOCK_BYTES) store_block(to, &zero);
    store_part(to, &zero, (u32)bytes);
}

#endif
