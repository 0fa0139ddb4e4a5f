/* Bulk cryptography on every lane of a machine: the engine of cipherlane for C.
 *
 * Link with -lcipherlane_c. Everything here may be called from several threads at a time.
 * This file is made by cbindgen from the sources of cipherlane-capi and cipherlane-lent. */

#ifndef CIPHERLANE_H
#define CIPHERLANE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The version of this header; `cipherlane_version` tells that of the library.
#define CIPHERLANE_VERSION "0.1.0"

// How a call ended. Where a batch did not run, `accepted` has zeros, and nothing else was written, unless something else is
// said here.
typedef enum {
    // It did what was asked. A message whose tag was wrong is no failure: see `accepted`.
    CIPHERLANE_STATUS_OK = 0,
    // No algorithm, operation or device has this name, or it is no UTF-8; the message lists those that there are, or says why
    // there is no device of that kind.
    CIPHERLANE_STATUS_UNKNOWN_NAME = 1,
    // The parts of the batch do not fit together.
    CIPHERLANE_STATUS_BATCH = 2,
    // The device has no kernel for this, or not as the wish insists.
    CIPHERLANE_STATUS_UNSUPPORTED = 3,
    // The device failed, or gave an output that is known to be wrong. No message was accepted. In memory of the host, text that
    // may have come out is zeroed, and with it what was to be opened in place; where none can have, as where no threads could
    // be started, that is as it was. In memory of a GPU, text may be left, and is worth nothing: such as no tag vouches for is
    // zeroed only if the GPU still does as it is told. All else that is to be written is worth nothing.
    CIPHERLANE_STATUS_DEVICE = 4,
    // A pointer is NULL that must not be, or not aligned, or its length is one that no memory has; buffers overlap; or memory
    // of a GPU is not such as the device can use. `accepted` may be as it was.
    CIPHERLANE_STATUS_POINTER = 5,
    // A fault of this library: please report it. Outputs hold anything.
    CIPHERLANE_STATUS_INTERNAL = 6,
} cipherlane_status;

// Runs batches on one device. May be shared between threads; batches that are run alike then take turns: who has threads of
// its own to run batches side by side opens an engine with one thread on each.
//
// Its threads are started by the first batch that wants them, each pinned to one of the CPUs that the thread which opened the
// engine might use then; of engines that have some of the CPUs each takes others, as far as there are any. With
// `CIPHERLANE_NO_PINNING=1` in the environment the system places them. After a fork the new process has an engine
// on the CPU without its threads: batches run on the caller, and wait for ever if another thread was in a call of the engine
// then. No engine on a GPU works in it: CUDA serves no process that was forked after its parent had begun to use it. Start
// such processes by `exec`, or fork before anything looks for GPUs.
typedef struct cipherlane_engine cipherlane_engine;

// Lengths in bytes.
typedef struct {
    // The key of a message; 0 of a hash function. XTS has two cipher keys in one.
    size_t key;
    // The nonce, IV, initial counter block or tweak of a message; 12 of GCM, which takes any from 1 byte.
    size_t nonce;
    // The whole tag of GCM, the usual digest of a hash function; 0 of others.
    size_t tag;
} cipherlane_sizes;

// What a caller insists on; NULL and 0 leave it to the engine.
typedef struct {
    // A tier of the CPU: "portable", "sse", "avx2", "avx512".
    const char *tier;
    // A kernel by its full name; `cipherlane plan` shows it.
    const char *kernel;
    // Threads of the CPU.
    size_t threads;
    // Bytes that a thread takes at a time, or that go to a GPU at a time.
    size_t chunk;
    // Blocks of a launch on a GPU.
    size_t blocks;
    // Threads of each.
    size_t threads_per_block;
    // Queues of a GPU.
    size_t streams;
} cipherlane_wish;

// How an engine runs batches of one kind. Names end with a zero, and are cut where they are longer.
typedef struct {
    // The device: "cpu", "cuda:0".
    char device[32];
    // The kernel, as a wish names it: "aes-gcm/avx512/x16".
    char kernel[96];
    // The tier of the CPU, or what a GPU's kernel is made for.
    char tier[32];
    // Threads of the CPU, the calling one included.
    size_t threads;
    // Bytes that a thread takes at a time, or that go to a GPU at a time.
    size_t chunk;
    // Blocks of a launch on a GPU; else 0.
    size_t blocks;
    // Threads of each; else 0.
    size_t threads_per_block;
    // Whether the kernel's timing is made to be independent of keys and texts.
    bool constant_time;
} cipherlane_plan;

// Bytes to be read.
typedef struct {
    // The first of them; NULL where there are none.
    const uint8_t *data;
    // How many.
    size_t length;
} cipherlane_bytes;

// One byte string for each message, or one for all of them: keys, nonces or additional data.
//
// With neither `width` nor `offsets`, `bytes` are one row for all messages; of length 0, there is none. With a `width`,
// message i has the bytes from `i * width` on. With `offsets`, one more than there are messages, it has those from
// `offsets[i]` to `offsets[i + 1]`.
typedef struct {
    // All rows, one after the other.
    cipherlane_bytes bytes;
    // Bytes of a row, where all rows are as long; else 0.
    size_t width;
    // Where rows begin, where they are not; else NULL.
    const uint64_t *offsets;
} cipherlane_column;

// Messages that are run together.
typedef struct {
    // "aes-128-gcm", "camellia-256-xts", "sha3-256": one of `cipherlane_algorithms`.
    const char *algorithm;
    // "seal" and "open" of GCM, "encrypt" and "decrypt" of other modes, "hash" of hash functions.
    const char *operation;
    // How many messages.
    size_t messages;
    // `messages` + 1 of them, which must not decrease: message i has the bytes from `offsets[i]` to `offsets[i + 1]`, in
    // `source` and in the text of the output alike. Between messages there is no gap: their tags lie elsewhere.
    const uint64_t *offsets;
    // The texts to read, which the output does not overlap; with NULL for `data` they lie in the text of the output, and
    // are overwritten.
    cipherlane_bytes source;
    // Whether `source` and the text of the output are device addresses, aligned to 16 bytes, in the primary context (that
    // of CUDA's runtime) of the NVIDIA GPU that the engine is on; nothing of them is copied. All else lies in memory of the
    // host as ever. The call waits for what the process has begun in that context. Where all texts are empty, both may be
    // NULL.
    bool on_gpu;
    // Keys; `cipherlane_sizes_of` tells how long they are. Empty for a hash function.
    cipherlane_column keys;
    // Nonces, IVs, initial counter blocks or tweaks. Empty for ECB and for a hash function. That no nonce serves twice
    // under a key is the caller's to see to, but that "seal", and "encrypt" in CTR, refuse one for all messages unless it has 12
    // bytes (GCM) or 16 (CTR) and no key comes twice; and "open" refuses one for all that has not 12 bytes, which may be the
    // nonces of all without their width.
    cipherlane_column nonces;
    // Additional authenticated data of GCM; else empty.
    cipherlane_column aad;
    // Bytes of every tag (4, 8, 12 to 16) or digest; 0 of algorithms that have neither, or with `tag_lengths`. How long the
    // tags of a key are is for you to know, and not to be learnt from a message: short ones can be forged by guessing.
    size_t tag_bytes;
    // Bytes of each tag, each at the front of a row of 16; NULL where all are as long.
    const uint8_t *tag_lengths;
    // The tags to check, a row for each message: for "open", else empty.
    cipherlane_bytes tags;
} cipherlane_batch;

// Bytes to be written.
typedef struct {
    // The first of them; NULL where there are none.
    uint8_t *data;
    // How many.
    size_t length;
} cipherlane_buffer;

// Where results go.
typedef struct {
    // The texts. A hash function reads them here without a `source`, and writes none.
    cipherlane_buffer text;
    // The tags that "seal" makes, or digests, a row for each message; of other operations it is left as it was.
    cipherlane_buffer tags;
    // Whether each tag was right: 1, or 0 and the text of the message is zeros. For "open" a byte for each message; of other
    // operations zeros.
    cipherlane_buffer accepted;
} cipherlane_output;

// Seconds that a run took.
typedef struct {
    // Moving the batch to where it is computed.
    double load;
    // Computing, key set-up included.
    double execute;
    // Moving the results back.
    double store;
    // From call to return.
    double wall;
} cipherlane_spans;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// What the last call of this thread that failed says of it, with a remedy: in UTF-8, empty where none has failed. It is
// there until the thread's next failure, or its end: what destructors of the thread ask for is empty.
const char *cipherlane_last_error(void);

// The version of the library: "0.1.0".
const char *cipherlane_version(void);

// Tells the sizes of an algorithm.
//
// # Safety
// `algorithm` is a string that ends with a zero, `sizes` is not NULL.
cipherlane_status cipherlane_sizes_of(const char *algorithm, cipherlane_sizes *sizes);

// Writes the algorithms into `text`, a line for each, with a zero behind, as much as there is room for. Returns how many
// bytes all of it takes, the zero included: with more than `size`, ask again; 0 for a fault of this library. `text` may
// be NULL where `size` is 0.
//
// # Safety
// `text` has room for `size` bytes.
size_t cipherlane_algorithms(char *text,
                             size_t size);

// Writes the devices of this machine into `text`, as `cipherlane_algorithms` does the algorithms. Why there is none of a
// kind, `cipherlane_engine_open` of its first one says. Looking for GPUs starts their drivers.
//
// # Safety
// `text` has room for `size` bytes.
size_t cipherlane_devices(char *text,
                          size_t size);

// Opens an engine on a device: "cpu" or NULL, "cuda:0", "cuda:all", "opencl:0". Close it with `cipherlane_engine_close`.
//
// `wish` may be NULL. What it insists on is looked at when something is planned or run: `cipherlane_plan_of` tells at once
// whether it can be had. `*engine` is NULL where it fails.
//
// # Safety
// Strings end with a zero. What is not NULL points to what its type says.
cipherlane_status cipherlane_engine_open(const char *device,
                                         const cipherlane_wish *wish,
                                         cipherlane_engine **engine);

// Closes an engine at once, without waiting for calls: keys that it kept are wiped. NULL is no engine.
//
// # Safety
// `engine` is NULL, or was opened and not yet closed. No other call with it is under way, on any thread, and none follows.
void cipherlane_engine_close(cipherlane_engine *engine);

// Gives back what an engine keeps for batches to come: keys, as they are and expanded, and memory of a GPU. The next batch is slower.
//
// # Safety
// `engine` is NULL, or was opened and not yet closed.
void cipherlane_engine_release(const cipherlane_engine *engine);

// Tells how an engine runs `messages` messages of `bytes` bytes each, under one key or with a key each: by which kernel, and
// on how many threads.
//
// # Safety
// `engine` was opened and not yet closed. Strings end with a zero. `plan` points to what its type says.
cipherlane_status cipherlane_plan_of(const cipherlane_engine *engine,
                                     const char *algorithm,
                                     const char *operation,
                                     size_t messages,
                                     size_t bytes,
                                     bool key_each,
                                     cipherlane_plan *plan);

// Runs a batch, and returns when its results are there. `spans` may be NULL, which saves nearly half of the time of a short
// message by itself on a CPU. The calling thread needs 128 KiB of stack.
//
// # Safety
// `engine` was opened and not yet closed. What `batch` and `output` point to is there; until the call returns nobody
// writes it, and nobody reads what `output` points to.
cipherlane_status cipherlane_run(const cipherlane_engine *engine,
                                 const cipherlane_batch *batch,
                                 const cipherlane_output *output,
                                 cipherlane_spans *spans);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* CIPHERLANE_H */
