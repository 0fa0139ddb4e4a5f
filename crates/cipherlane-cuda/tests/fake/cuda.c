/* A CUDA driver and an NVRTC in one library, for machines without a GPU: kernels are compiled as host C and run
 * in turns, a block after the other. What it makes of a call is what CUDA's manual says, as far as cipherlane
 * calls it. Streams run at once, so their order is not tested; arguments, sizes, copies and life times are. Threads
 * of the host may call it at the same time: one waits for the other.
 *
 * FAKE_FOLDER names a folder for compiled kernels, and for a file `loads` with a line for each that was loaded; CC the
 * compiler, FAKE_INIT a result for cuInit. A file `failing` in the folder has the number of copies to the host that still
 * succeed. fake_capture has a stream of others be captured in the global mode, or ends that; fake_fail_record has an event
 * not be recorded, after some that are; fake_synchronised says how often a stream was waited for, fake_pushed how often the
 * calling thread has pushed a context, and fake_streams how many streams were made.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

typedef uint64_t pointer_t;
enum { OK, INVALID_VALUE = 1, OUT_OF_MEMORY = 2, NOT_INITIALIZED = 3, INVALID_CONTEXT = 201, NOT_FOUND = 500, LAUNCH_FAILED = 719 };

static int initialised;
static __thread void *current; /* this thread's context, and those that it pushed away */
static __thread void *pushed[8];
static __thread unsigned depth;
static __thread int pushes;
static int context;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void unlock(int *held) { (void)held, pthread_mutex_unlock(&lock); }
#define ALONE __attribute__((cleanup(unlock))) int held = pthread_mutex_lock(&lock)
#define NEED_CONTEXT                                                                                                   \
    ALONE;                                                                                                             \
    if (!initialised) return NOT_INITIALIZED;                                                                          \
    if (current != &context) return INVALID_CONTEXT

/* What may be of a graph is refused while any thread captures one in the global mode, unless this thread's is relaxed. */
static int capturing, synchronised, streams, records = -1;
static __thread int capture_mode;
enum { RELAXED = 2, CAPTURE_UNSUPPORTED = 900 };
#define NEED_NO_CAPTURE                                                                                                \
    if (capturing && capture_mode != RELAXED) return CAPTURE_UNSUPPORTED
int cuThreadExchangeStreamCaptureMode(int *mode) {
    if (*mode < 0 || *mode > RELAXED) return INVALID_VALUE;
    int before = capture_mode;
    return capture_mode = *mode, *mode = before, OK;
}
void fake_capture(int on) { capturing = on; }
void fake_fail_record(int others) { records = others; }
int fake_synchronised(void) { return synchronised; }
int fake_pushed(void) { return pushes; }
int fake_streams(void) { return streams; }

/* ---- the driver ------------------------------------------------------------------------------------------------ */
int cuInit(unsigned flags) {
    const char *result = getenv("FAKE_INIT");
    initialised = 1;
    return flags ? INVALID_VALUE : result ? atoi(result) : OK;
}
int cuDriverGetVersion(int *version) { return *version = 13000, OK; }
int cuGetErrorName(int code, const char **name) {
    if (code > 1000) return *name = NULL, INVALID_VALUE;
    return *name = code == 2 ? "CUDA_ERROR_OUT_OF_MEMORY" : "CUDA_ERROR_OF_SOME_KIND", OK;
}
int cuGetErrorString(int code, const char **text) {
    if (code > 1000) return *text = NULL, INVALID_VALUE;
    return *text = code == 2 ? "out of memory" : "a failure", OK;
}
/* All but the first cannot say what they are. */
int cuDeviceGetCount(int *count) {
    const char *devices = getenv("FAKE_DEVICES");
    return *count = devices ? atoi(devices) : 1, OK;
}
int cuDeviceGet(int *device, int ordinal) { return *device = 7, ordinal ? 101 : OK; }
int cuDeviceGetName(char *name, int length, int device) { return snprintf(name, length, "fake"), device == 7 ? OK : 101; }
int cuDeviceGetPCIBusId(char *name, int length, int device) {
    return snprintf(name, length, "0000:00:00.0"), device == 7 ? OK : 101;
}
int cuDeviceTotalMem_v2(size_t *bytes, int device) { return *bytes = 1u << 30, device == 7 ? OK : 101; }
int cuDeviceGetAttribute(int *value, int attribute, int device) {
    switch (attribute) {
    case 1: *value = 64; break;         /* threads of a block: each takes its turn */
    case 10: *value = 32; break;        /* lanes of a warp */
    case 16: *value = 2; break;         /* multiprocessors */
    case 75: *value = 9; break;         /* capability 9.0 */
    case 76: *value = 0; break;
    case 97: *value = 227 << 10; break; /* shared memory of a block */
    default: *value = 1;
    }
    return device == 7 ? OK : 101;
}
int cuDevicePrimaryCtxRetain(void **handle, int device) { return *handle = &context, device == 7 ? OK : 101; }
int cuDevicePrimaryCtxRelease_v2(int device) { return device == 7 ? OK : 101; }
int cuCtxSetCurrent(void *handle) { return current = handle, OK; }
int cuCtxGetCurrent(void **handle) { return *handle = current, OK; }
int cuCtxPushCurrent_v2(void *handle) {
    if (depth == sizeof pushed / sizeof *pushed) return INVALID_VALUE;
    return pushed[depth++] = current, current = handle, ++pushes, OK;
}
int cuCtxPopCurrent_v2(void **handle) {
    if (!depth) return INVALID_CONTEXT;
    return *handle = current, current = pushed[--depth], OK;
}
/* Of a context that a captured stream is of, in any mode. */
int cuCtxSynchronize(void) { return capturing ? CAPTURE_UNSUPPORTED : current == &context ? OK : INVALID_CONTEXT; }
int cuMemGetInfo_v2(size_t *free, size_t *total) { return *free = *total = 1u << 30, OK; }

/* A block of memory knows its size, so that a copy that leaves it is told. */
typedef struct block {
    struct block *next;
    pointer_t start;
    size_t bytes;
    int host;
    uint64_t id;
} block_t;
static block_t *blocks;

static block_t *find(pointer_t at, size_t bytes) {
    for (block_t *b = blocks; b; b = b->next)
        if (at >= b->start && at - b->start <= b->bytes && bytes <= b->bytes - (at - b->start)) return b;
    return NULL;
}
static int know(void *memory, size_t bytes, int host) {
    static uint64_t made;
    block_t *b = malloc(sizeof *b);
    *b = (block_t){blocks, (pointer_t)memory, bytes, host, ++made};
    blocks = b;
    return OK;
}
static int make(void **memory, size_t bytes, int host) {
    if (!bytes) return INVALID_VALUE;
    if (bytes > 1u << 30 || posix_memalign(memory, 256, (bytes + 255) / 256 * 256)) return OUT_OF_MEMORY;
    memset(*memory, 0xa5, bytes);
    return know(*memory, bytes, host);
}
static int unmake(pointer_t start, int host) {
    for (block_t **b = &blocks; *b; b = &(*b)->next) {
        if ((*b)->start == start && (*b)->host == host) {
            block_t *gone = *b;
            *b = gone->next;
            free((void *)start);
            free(gone);
            return OK;
        }
    }
    return INVALID_VALUE;
}
int cuMemAlloc_v2(pointer_t *memory, size_t bytes) {
    NEED_CONTEXT;
    NEED_NO_CAPTURE;
    void *made = NULL;
    int code = make(&made, bytes, 0);
    return *memory = (pointer_t)made, code;
}
int cuMemFree_v2(pointer_t memory) {
    ALONE;
    NEED_NO_CAPTURE;
    return unmake(memory, 0);
}
int cuMemHostAlloc(void **memory, size_t bytes, unsigned flags) {
    NEED_CONTEXT;
    NEED_NO_CAPTURE;
    return flags == 1 ? make(memory, bytes, 1) : INVALID_VALUE;
}
int cuMemFreeHost(void *memory) {
    ALONE;
    NEED_NO_CAPTURE;
    return unmake((pointer_t)memory, 1);
}
/* Memory of the caller's, which is pinned until the process ends. */
int cuMemHostRegister_v2(void *memory, size_t bytes, unsigned flags) {
    ALONE;
    return flags || !bytes ? INVALID_VALUE : know(memory, bytes, 1);
}
/* What begins in pinned memory has to end in the same. */
static int is_refused(const void *at, size_t bytes) {
    block_t *b = find((pointer_t)at, 1);
    return b && b->host && (pointer_t)at - b->start + bytes > b->bytes;
}
/* Of memory that the driver does not know, every attribute is 0, and that is no error. */
int cuPointerGetAttributes(unsigned count, int *attributes, void **values, pointer_t at) {
    ALONE;
    block_t *b = find(at, 1);
    for (unsigned i = 0; i < count; i++) switch (attributes[i]) {
        case 1: *(void **)values[i] = b ? &context : NULL; break;
        case 2: *(unsigned *)values[i] = !b ? 0 : b->host ? 1 : 2; break;
        case 7: *(uint64_t *)values[i] = b ? b->id : 0; break;
        case 9: *(int *)values[i] = 0; break; /* the GPU's number */
        default: return INVALID_VALUE;
        }
    return OK;
}

static int stream;
#define NEED_STREAM                                                                                                    \
    NEED_CONTEXT;                                                                                                      \
    if (handle != &stream) return 400
int cuMemcpyHtoDAsync_v2(pointer_t to, const void *from, size_t bytes, void *handle) {
    NEED_STREAM;
    if (is_refused(from, bytes)) return INVALID_VALUE;
    return find(to, bytes) ? memcpy((void *)to, from, bytes), OK : INVALID_VALUE;
}
static int fails(void) {
    char path[512];
    int left = 0;
    snprintf(path, sizeof path, "%s/failing", getenv("FAKE_FOLDER"));
    FILE *file = fopen(path, "r+");
    if (!file) return 0;
    int known = fscanf(file, "%d", &left) == 1;
    rewind(file);
    if (left > 0) fprintf(file, "%d ", left - 1);
    return fclose(file) || !known || left <= 0;
}
int cuMemcpyDtoHAsync_v2(void *to, pointer_t from, size_t bytes, void *handle) {
    NEED_STREAM;
    if (fails()) return LAUNCH_FAILED;
    if (is_refused(to, bytes)) return INVALID_VALUE;
    return find(from, bytes) ? memcpy(to, (void *)from, bytes), OK : INVALID_VALUE;
}
int cuMemcpyDtoDAsync_v2(pointer_t to, pointer_t from, size_t bytes, void *handle) {
    NEED_STREAM;
    return find(from, bytes) && find(to, bytes) ? memcpy((void *)to, (void *)from, bytes), OK : INVALID_VALUE;
}
int cuMemsetD8Async(pointer_t to, unsigned char byte, size_t bytes, void *handle) {
    NEED_STREAM;
    return find(to, bytes) ? memset((void *)to, byte, bytes), OK : INVALID_VALUE;
}
int cuStreamCreate(void **handle, unsigned flags) {
    NEED_CONTEXT;
    return ++streams, *handle = &stream, flags == 1 ? OK : INVALID_VALUE;
}
int cuStreamDestroy_v2(void *handle) { return handle == &stream ? OK : 400; }
int cuStreamSynchronize(void *handle) {
    NEED_NO_CAPTURE;
    return ++synchronised, handle == &stream ? OK : 400;
}
int cuStreamWaitEvent(void *handle, void *event, unsigned flags) {
    NEED_STREAM;
    return event && !flags ? OK : INVALID_VALUE;
}
int cuEventCreate(void **event, unsigned flags) {
    NEED_CONTEXT;
    return *event = calloc(1, sizeof(struct timespec)), flags ? INVALID_VALUE : OK;
}
int cuEventDestroy_v2(void *event) { return free(event), OK; }
int cuEventRecord(void *event, void *handle) {
    NEED_STREAM;
    if (records >= 0 && records-- == 0) return LAUNCH_FAILED;
    return clock_gettime(CLOCK_MONOTONIC, event), OK;
}
int cuEventSynchronize(void *event) {
    NEED_NO_CAPTURE;
    return ((struct timespec *)event)->tv_sec ? OK : 400;
}
int cuEventElapsedTime(float *milliseconds, void *start, void *end) {
    struct timespec *a = start, *b = end;
    if (!a->tv_sec || !b->tv_sec) return 400;
    /* Doubles until the end: floats would lose short times across a second's boundary. */
    return *milliseconds = (float)((b->tv_sec - a->tv_sec) * 1e3 + (b->tv_nsec - a->tv_nsec) / 1e6), OK;
}

/* A cubin is the path of a library of host C; a function is one of its symbols and how to run it. */
typedef struct {
    void *entry;
    void (*run)(void *entry, unsigned blocks, unsigned threads, void **arguments);
    int shared;
} function_t;
static void note_load(const char *image) {
    char file[512];
    snprintf(file, sizeof file, "%s/loads", getenv("FAKE_FOLDER"));
    FILE *out = fopen(file, "a");
    if (out) fprintf(out, "%s\n", image), fclose(out);
}
int cuModuleLoadDataEx(void **module, const void *image, unsigned options, int *names, void **values) {
    NEED_CONTEXT;
    NEED_NO_CAPTURE;
    (void)names, (void)values;
    *module = dlopen(image, RTLD_NOW | RTLD_LOCAL);
    if (!*module) fprintf(stderr, "%s\n", dlerror());
    note_load(image);
    return !options && *module ? OK : 200;
}
int cuModuleUnload(void *module) { return dlclose(module) ? INVALID_VALUE : OK; }
int cuModuleGetFunction(void **function, void *module, const char *name) {
    function_t *f = calloc(1, sizeof *f);
    f->entry = dlsym(module, name), *(void **)&f->run = dlsym(module, "fake_run");
    return *function = f, f->entry && f->run ? OK : NOT_FOUND;
}
int cuModuleGetGlobal_v2(pointer_t *at, size_t *bytes, void *module, const char *name) {
    (void)at, (void)bytes, (void)module, (void)name;
    const char *result = getenv("FAKE_GLOBAL");
    return result ? atoi(result) : NOT_FOUND; /* host C takes the schedule as an argument */
}
int cuFuncGetAttribute(int *value, int attribute, void *function) { return *value = 0, function && attribute < 10 ? OK : 1; }
int cuFuncSetAttribute(void *function, int attribute, int value) {
    if (attribute != 8 || value > 227 << 10) return INVALID_VALUE;
    return ((function_t *)function)->shared = value, OK;
}
int cuOccupancyMaxActiveBlocksPerMultiprocessor(int *count, void *function, int threads, size_t shared) {
    return *count = 1, function && threads <= 64 && shared <= 227 << 10 ? OK : INVALID_VALUE;
}
int cuLaunchKernel(void *function, unsigned x, unsigned y, unsigned z, unsigned threads, unsigned ty, unsigned tz,
                   unsigned shared, void *handle, void **arguments, void **extra) {
    NEED_STREAM;
    function_t *f = function;
    if (!x || y != 1 || z != 1 || ty != 1 || tz != 1 || threads > 64 || (int)shared > f->shared || extra)
        return INVALID_VALUE;
    f->run(f->entry, x, threads, arguments);
    return OK;
}

/* ---- NVRTC ----------------------------------------------------------------------------------------------------- */
typedef struct {
    char *source, path[512];
} program_t;
/* The threads of a block are contexts of one thread: each runs up to a barrier, and then the next one does. */
static const char harness[] = "\n#include <ucontext.h>\n"
    "_Thread_local u32 cl_thread; u32 cl_block, cl_blocks; u32 cl_shared[256 * 1024 / 4] __attribute__((aligned(16)));\n"
    "static ucontext_t caller, lanes[64]; static char stacks[64][64 << 10] __attribute__((aligned(64)));\n"
    "static u32 threads_; static void (*entry_)(ARGUMENTS); static void **a;\n"
    "static void cl_turn(u32 next) { u32 self = cl_thread; cl_thread = next;\n"
    "  if (next != self) swapcontext(&lanes[self], &lanes[next]); }\n"
    "void cl_barrier(void) { cl_turn((cl_thread + 1) % threads_); }\n"
    /* Neighbours that exchange words take turns among themselves: others may be elsewhere. */
    "static u32 cl_words[64];\n"
    "u32 cl_shuffle(u32 word, u32 lane) { u32 self = cl_thread, first = self / 32 * 32, found;\n"
    "  u32 count = threads_ - first < 32 ? threads_ - first : 32, next = first + (self - first + 1) % count;\n"
    "  cl_words[self] = word, cl_turn(next), found = cl_words[first + lane % 32], cl_turn(next);\n"
    "  return found; }\n"
    "static void lane(void) { u32 self = cl_thread;\n"
    "  for (u32 block = 0; block < cl_blocks; ++block) { cl_barrier(); cl_block = block;\n"
    "    entry_(*(void **)a[0], *(void **)a[1], *(void **)a[2], *(void **)a[3], *(void **)a[4], *(void **)a[5],\n"
    "      *(void **)a[6], *(void **)a[7], *(void **)a[8], *(void **)a[9], *(void **)a[10], *(void **)a[11],\n"
    "      *(void **)a[12], *(void **)a[13], *(void **)a[14], *(params_t *)a[15]); }\n"
    "  cl_thread = self + 1; }\n"
    "void fake_run(void *entry, u32 blocks, u32 threads, void **arguments) {\n"
    "  *(void **)&entry_ = entry, a = arguments, cl_blocks = blocks, threads_ = threads, cl_thread = 0;\n"
    "  for (u32 i = 0; i < threads; ++i) { getcontext(&lanes[i]), lanes[i].uc_stack.ss_sp = stacks[i];\n"
    "    lanes[i].uc_stack.ss_size = sizeof stacks[i], lanes[i].uc_link = i + 1 < threads ? &lanes[i + 1] : &caller;\n"
    "    makecontext(&lanes[i], lane, 0); }\n"
    "  swapcontext(&caller, &lanes[0]); }\n";

int nvrtcVersion(int *major, int *minor) { return *major = 13, *minor = 0, OK; }
const char *nvrtcGetErrorString(int code) { return code ? "a failure" : "none"; }
int nvrtcGetNumSupportedArchs(int *count) { return *count = 1, OK; }
int nvrtcGetSupportedArchs(int *list) { return *list = 90, OK; }
int nvrtcCreateProgram(program_t **program, const char *source, const char *name, int headers, const char **texts,
                       const char **names) {
    (void)name, (void)texts, (void)names;
    *program = calloc(1, sizeof **program);
    return (*program)->source = strdup(source), headers;
}
int nvrtcDestroyProgram(program_t **program) { return free((*program)->source), free(*program), OK; }
int nvrtcCompileProgram(program_t *program, int count, const char **options) {
    static int number;
    const char *folder = getenv("FAKE_FOLDER"), *compiler = getenv("CC");
    char file[512], command[2048];
    if (!folder || count < 2 || strcmp(options[0], "-arch=sm_90")) return 5;
    int n = __atomic_fetch_add(&number, 1, __ATOMIC_RELAXED);
    snprintf(file, sizeof file, "%s/%d-%d.c", folder, getpid(), n);
    snprintf(program->path, sizeof program->path, "%s/%d-%d.so", folder, getpid(), n);
    FILE *out = fopen(file, "w");
    if (!out) return 5;
    fputs(program->source, out), fputs(harness, out), fclose(out);
    snprintf(command, sizeof command, "%s -std=gnu11 -O1 -w -fno-strict-aliasing -shared -fPIC -o %s %s",
             compiler ? compiler : "cc", program->path, file);
    return system(command) ? 6 : OK;
}
int nvrtcGetProgramLogSize(program_t *program, size_t *bytes) { return *bytes = 1, program ? OK : 4; }
int nvrtcGetProgramLog(program_t *program, char *log) { return *log = 0, program ? OK : 4; }
int nvrtcGetCUBINSize(program_t *program, size_t *bytes) { return *bytes = strlen(program->path) + 1, OK; }
int nvrtcGetCUBIN(program_t *program, char *image) { return strcpy(image, program->path), OK; }
int nvrtcGetPTXSize(program_t *program, size_t *bytes) { return *bytes = 0, program ? 6 : 4; }
int nvrtcGetPTX(program_t *program, char *image) { return (void)image, program ? 6 : 4; }
