/* Runs the stages of a program on this CPU: a block is as many POSIX threads as it has threads, blocks follow each
 * other. Appended to the text of a program, with CL_STAGES naming its entry points.
 *
 * Standard input is a job: the buffers in the order of the arguments (64-bit length and bytes; all ones for `out`
 * means in place), then launches (stage, blocks, words of schedule to copy afterwards, parameters). Standard output is
 * `out`, `tags` and `accepted`.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

_Thread_local u32 cl_thread;
u32 cl_block, cl_blocks;
u32 cl_shared[256 * 1024 / 4] __attribute__((aligned(16)));
static pthread_barrier_t meeting;

void cl_barrier(void) {
    pthread_barrier_wait(&meeting);
}

/* Neighbouring threads exchange words here, and meet by themselves: other groups may be elsewhere. */
static u32 exchange[THREADS][6];
static pthread_barrier_t groups[(THREADS + LANES - 1) / LANES];

static void exchanged(const u32 *words, u32 count) {
    pthread_barrier_wait(&groups[cl_thread / LANES]);
    memcpy(exchange[cl_thread], words, 4 * count);
    pthread_barrier_wait(&groups[cl_thread / LANES]);
}

u32 cl_shuffle(u32 word, u32 lane) {
    exchanged(&word, 1);
    return exchange[cl_thread / LANES * LANES + lane % LANES][0];
}

/* PTX ISA, "Matrix Fragments for mma.m16n8k256": lane 4 g + t holds rows g and g + 8 of A, column g of B, both at the
 * words t and t + 4 of 8; and columns 2 t and 2 t + 1 of C in these rows.
 */
void cl_mma_xor(u32 *c, const u32 *a, const u32 *b) {
    u32 words[6] = {a[0], a[1], a[2], a[3], b[0], b[1]}, g = cl_thread % LANES / 4, t = cl_thread % 4;
    exchanged(words, 6);
    for (u32 i = 0; i < 4; ++i)
        for (u32 k = 0; k < 8; ++k) {
            const u32 *row = exchange[cl_thread / LANES * LANES + 4 * g + k % 4];
            const u32 *column = exchange[cl_thread / LANES * LANES + 4 * (2 * t + i % 2) + k % 4];
            c[i] += (u32)__builtin_popcount(row[i / 2 + k / 4 * 2] & column[4 + k / 4]);
        }
}

typedef void (*stage_t)(ARGUMENTS);
static const stage_t stages[] = {CL_STAGES};

enum { IN, OUT, OFFSETS, TILES, ORDER, KEYS, NONCES, NONCE_OFFSETS, AAD, AAD_OFFSETS, TAGS, TAG_LENGTHS, ACCEPTED,
       WORK, SCHEDULE_BUFFER, BUFFERS };
static void *buffer[BUFFERS];
static u64 bytes[BUFFERS];
static params_t parameters;
static stage_t stage;

static void *lane(void *index) {
    cl_thread = (u32)(size_t)index;
    for (u32 block = 0; block < cl_blocks; ++block) {
        cl_barrier();
        if (cl_thread == 0) cl_block = block;
        cl_barrier();
        stage(buffer[IN], buffer[OUT], buffer[OFFSETS], buffer[TILES], buffer[ORDER], buffer[KEYS], buffer[NONCES],
              buffer[NONCE_OFFSETS], buffer[AAD], buffer[AAD_OFFSETS], buffer[TAGS], buffer[TAG_LENGTHS],
              buffer[ACCEPTED], buffer[WORK], buffer[SCHEDULE_BUFFER], parameters);
    }
    return NULL;
}

static void get(void *to, size_t size) {
    if (size && fread(to, size, 1, stdin) != 1) {
        fprintf(stderr, "the job ends early\n");
        exit(2);
    }
}

/* Aligned as device memory is, and no longer than a runtime must make it: the next multiple of 16. */
static void get_buffer(u32 i) {
    get(&bytes[i], 8);
    if (bytes[i] == ~(u64)0) {
        buffer[i] = buffer[IN], bytes[i] = bytes[IN];
        return;
    }
    if (posix_memalign(&buffer[i], 256, (bytes[i] + 15) / 16 * 16 + (bytes[i] == 0))) abort();
    get(buffer[i], bytes[i]);
}

int main(void) {
    u64 launches;
    for (u32 i = 0; i < BUFFERS; ++i) get_buffer(i);
    get(&launches, 8);
    pthread_barrier_init(&meeting, NULL, THREADS);
    for (u32 i = 0; i < THREADS / LANES; ++i) pthread_barrier_init(&groups[i], NULL, LANES);
    for (u64 i = 0; i < launches; ++i) {
        u64 head[3];
        pthread_t threads[THREADS];
        get(head, sizeof head);
        get(&parameters, sizeof parameters);
        stage = stages[head[0]], cl_blocks = (u32)head[1];
        memset(cl_shared, 0xa5, sizeof cl_shared);
        for (size_t t = 0; t < THREADS; ++t)
            if (pthread_create(&threads[t], NULL, lane, (void *)t)) abort();
        for (size_t t = 0; t < THREADS; ++t) pthread_join(threads[t], NULL);
        memcpy(buffer[SCHEDULE_BUFFER], (u8 *)buffer[WORK] + parameters.schedule_at, 4 * head[2]);
    }
    fwrite(buffer[OUT], bytes[OUT], 1, stdout);
    fwrite(buffer[TAGS], bytes[TAGS], 1, stdout);
    fwrite(buffer[ACCEPTED], bytes[ACCEPTED], 1, stdout);
    return fflush(stdout) || ferror(stdout) ? 2 : 0;
}
