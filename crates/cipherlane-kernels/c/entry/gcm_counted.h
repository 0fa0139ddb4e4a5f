/* How a run of a record counts: COUNTING and COUNTED of entry/gcm_run.h, by tables that a tile's threads share. */
#include "primitive/aes_counted.h"

#define COUNTING const counting_t
#define COUNTED(s, run, here, k, shared) counting_state((s), (u32)(here), (k), (shared))
#define COUNTED_ROUNDS 2
