/* Tables of 256 words in shared memory, 32 copies of each: lane l reads only bank l, whatever it looks up.
 *
 * TABLES of them: one, or an even number, of 32 KiB each. With more than one, two lie side by side in rows of 256
 * bytes, so that a byte of the state becomes an address by one PERMUTE: the byte times 256 plus four times the lane.
 */
#ifndef CL_BANKED
#define CL_BANKED
#include "dialect.h"

#define BANKED_BYTES (TABLES * 32768)
#define BANKED_LANE (THREAD % LANES * 4)

/* Fills table `k` with ENTRY_AT(i, k). */
#define BANKED_FILL(shared, ENTRY_AT)                                                                          \
    do {                                                                                                       \
        ROLLED for (u32 i_ = THREAD; i_ < 256 * 32 * (TABLES > 1 ? 2 : 1); i_ += THREADS) {                    \
            u32 k_ = TABLES > 1 ? (i_ >> 5) & 1 : 0, entry_ = TABLES > 1 ? i_ >> 6 : i_ >> 5;                  \
            shared[i_] = ENTRY_AT(entry_, k_);                                                                 \
            UNROLL for (u32 more_ = 2; more_ < TABLES; more_ += 2)                                             \
                shared[i_ + 8192 * more_] = ENTRY_AT(entry_, k_ + more_);                                      \
        }                                                                                                      \
        BARRIER();                                                                                             \
    } while (0)

/* Table `k` (below TABLES) at byte `b` of `x`; `lane` is BANKED_LANE. */
#if TABLES > 1
#define BANKED(shared, x, b, k, lane)                                                                          \
    LOCAL_WORD(shared, PERMUTE((x), (lane), 0x5504 + 16 * (b)), (k) % 2 * 128 + (k) / 2 * 65536)
#else
#define BANKED(shared, x, b, k, lane) LOCAL_WORD(shared, PERMUTE((x), 0, 0x4440 + (b)) * 128 + (lane), 0)
#endif

/* Table `k` of four, of which each is the one before rotated left by a byte, looked up at byte `b` of `x`. */
#define BANKED_TURNED(shared, x, b, k, lane)                                                                   \
    banked_turn(BANKED(shared, x, b, (k) % TABLES, lane), (k) / TABLES * TABLES)

FN u32 banked_turn(u32 x, u32 bytes) {
    return bytes == 0 ? x : ROTL32(x, 8 * bytes);
}

#endif
