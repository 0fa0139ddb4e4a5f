/* Every function of the header: known answers, batches there and back, and what is said of each fault. */

#include "cipherlane.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *step = "";

static void fail(const char *what, int line) {
    fprintf(stderr, "line %d, %s: %s (%s)\n", line, step, what, cipherlane_last_error());
    exit(1);
}

#define CHECK(condition) ((condition) ? (void)0 : fail(#condition, __LINE__))

static cipherlane_bytes bytes(const void *data, size_t length) {
    cipherlane_bytes lent = {(const uint8_t *)data, length};
    return lent;
}

static cipherlane_buffer buffer(void *data, size_t length) {
    cipherlane_buffer lent = {(uint8_t *)data, length};
    return lent;
}

static cipherlane_engine *opened(const char *device, const cipherlane_wish *wish) {
    cipherlane_engine *engine = NULL;
    CHECK(cipherlane_engine_open(device, wish, &engine) == CIPHERLANE_STATUS_OK);
    CHECK(engine != NULL);
    return engine;
}

/* FIPS 180-4's example, and the empty message. */
static void hashes(const cipherlane_engine *engine) {
    static const uint8_t ABC[4] = {0xba, 0x78, 0x16, 0xbf}, EMPTY[4] = {0xe3, 0xb0, 0xc4, 0x42};
    const uint64_t offsets[] = {0, 3, 3};
    uint8_t digests[2][32];
    cipherlane_batch batch = {0};
    cipherlane_output output = {0};
    step = "hashes";
    batch.algorithm = "sha-256";
    batch.operation = "hash";
    batch.messages = 2;
    batch.offsets = offsets;
    batch.source = bytes("abc", 3);
    batch.tag_bytes = sizeof digests[0];
    output.tags = buffer(digests, sizeof digests);
    CHECK(cipherlane_run(engine, &batch, &output, NULL) == CIPHERLANE_STATUS_OK);
    CHECK(memcmp(digests[0], ABC, 4) == 0 && memcmp(digests[1], EMPTY, 4) == 0);
    /* Of texts that lie where others would go, too. */
    {
        uint8_t text[3] = {'a', 'b', 'c'};
        memset(digests, 0, sizeof digests);
        batch.source = bytes(NULL, 0);
        output.text = buffer(text, sizeof text);
        CHECK(cipherlane_run(engine, &batch, &output, NULL) == CIPHERLANE_STATUS_OK);
        CHECK(memcmp(digests[0], ABC, 4) == 0 && memcmp(text, "abc", 3) == 0);
    }
}

/* Test case 2 of the GCM specification: AES-128, a block of zeros under zeros. */
static void known_answer(const cipherlane_engine *engine) {
    static const uint8_t TEXT[4] = {0x03, 0x88, 0xda, 0xce}, TAG[4] = {0xab, 0x6e, 0x47, 0xd4};
    const uint8_t zeros[16] = {0};
    const uint64_t offsets[] = {0, 16};
    uint8_t text[16], tag[16];
    cipherlane_spans spans = {0};
    cipherlane_batch batch = {0};
    cipherlane_output output = {0};
    step = "known answer";
    batch.algorithm = "aes-128-gcm";
    batch.operation = "seal";
    batch.messages = 1;
    batch.offsets = offsets;
    batch.source = bytes(zeros, 16);
    batch.keys.bytes = bytes(zeros, 16);
    batch.nonces.bytes = bytes(zeros, 12);
    batch.tag_bytes = 16;
    output.text = buffer(text, sizeof text);
    output.tags = buffer(tag, sizeof tag);
    CHECK(cipherlane_run(engine, &batch, &output, &spans) == CIPHERLANE_STATUS_OK);
    CHECK(memcmp(text, TEXT, 4) == 0 && memcmp(tag, TAG, 4) == 0);
    CHECK(spans.wall > 0);
}

enum { MESSAGES = 100 };

/* Ragged messages with a key each, sealed in place and opened elsewhere, one of them spoilt. */
static void there_and_back(const cipherlane_engine *engine) {
    static uint8_t keys[MESSAGES][32], nonces[MESSAGES][12], aad[MESSAGES * (MESSAGES - 1) / 2 + 1];
    static uint8_t text[MESSAGES * 200], back[sizeof text], tags[MESSAGES][16], accepted[MESSAGES];
    static uint64_t offsets[MESSAGES + 1], aad_offsets[MESSAGES + 1];
    cipherlane_batch batch = {0};
    cipherlane_output output = {0};
    size_t i;
    step = "there and back";
    for (i = 0; i < MESSAGES; i++) {
        memset(keys[i], (int)i, sizeof keys[i]);
        memset(nonces[i], (int)(i + 1), sizeof nonces[i]);
        offsets[i + 1] = offsets[i] + 7 * i % 200;
        aad_offsets[i + 1] = aad_offsets[i] + i;
    }
    for (i = 0; i < sizeof text; i++)
        text[i] = (uint8_t)(i * 31);
    batch.algorithm = "aes-256-gcm";
    batch.operation = "seal";
    batch.messages = MESSAGES;
    batch.offsets = offsets;
    batch.keys.bytes = bytes(keys, sizeof keys);
    batch.keys.width = sizeof keys[0];
    batch.nonces.bytes = bytes(nonces, sizeof nonces);
    batch.nonces.width = sizeof nonces[0];
    batch.aad.bytes = bytes(aad, sizeof aad);
    batch.aad.offsets = aad_offsets;
    batch.tag_bytes = 16;
    output.text = buffer(text, sizeof text);
    output.tags = buffer(tags, sizeof tags);
    CHECK(cipherlane_run(engine, &batch, &output, NULL) == CIPHERLANE_STATUS_OK);
    CHECK(text[offsets[50]] != (uint8_t)(offsets[50] * 31) || text[offsets[50] + 1] != (uint8_t)((offsets[50] + 1) * 31));

    tags[50][3] ^= 1;
    memset(accepted, 7, sizeof accepted);
    batch.operation = "open";
    batch.source = bytes(text, offsets[MESSAGES]);
    batch.tags = bytes(tags, sizeof tags);
    output.text = buffer(back, sizeof back);
    output.tags = buffer(NULL, 0);
    output.accepted = buffer(accepted, sizeof accepted);
    CHECK(cipherlane_run(engine, &batch, &output, NULL) == CIPHERLANE_STATUS_OK);
    for (i = 0; i < MESSAGES; i++) {
        uint64_t at;
        CHECK(accepted[i] == (i != 50));
        for (at = offsets[i]; at < offsets[i + 1]; at++)
            CHECK(back[at] == (i == 50 ? 0 : (uint8_t)(at * 31)));
    }
}

/* Tags of several lengths, each at the front of a row of 16. */
static void tags_of_some_lengths(const cipherlane_engine *engine) {
    const uint8_t key[16] = {0}, nonces[2][12] = {{1}, {2}}, lengths[2] = {16, 4};
    const uint64_t offsets[] = {0, 1, 2};
    uint8_t text[2] = {0}, tags[2][16];
    cipherlane_batch batch = {0};
    cipherlane_output output = {0};
    step = "tags of some lengths";
    batch.algorithm = "sm4-gcm";
    batch.operation = "seal";
    batch.messages = 2;
    batch.offsets = offsets;
    batch.keys.bytes = bytes(key, 16);
    batch.nonces.bytes = bytes(nonces, sizeof nonces);
    batch.nonces.width = 12;
    batch.tag_lengths = lengths;
    output.text = buffer(text, sizeof text);
    output.tags = buffer(tags, sizeof tags);
    CHECK(cipherlane_run(engine, &batch, &output, NULL) == CIPHERLANE_STATUS_OK);
    CHECK(tags[0][15] != 0 || tags[0][14] != 0);
    CHECK(tags[1][3] != 0 || tags[1][2] != 0);
    CHECK(tags[1][4] == 0 && tags[1][15] == 0);
}

static void expect(cipherlane_status status, cipherlane_status wanted, const char *word) {
    CHECK(status == wanted);
    CHECK(strstr(cipherlane_last_error(), word) != NULL);
}

static void faults(const cipherlane_engine *engine) {
    const uint8_t key[16] = {0}, nonce[16] = {0};
    const uint64_t offsets[] = {0, 16};
    uint8_t text[32] = {0}, accepted[1] = {1};
    cipherlane_sizes sizes;
    cipherlane_engine *none = (cipherlane_engine *)text;
    cipherlane_wish wish = {0};
    cipherlane_batch batch = {0}, good;
    cipherlane_output output = {0};
    step = "faults";
    batch.algorithm = "aes-128-ctr";
    batch.operation = "encrypt";
    batch.messages = 1;
    batch.offsets = offsets;
    batch.source = bytes(text + 16, 16);
    batch.keys.bytes = bytes(key, 16);
    batch.nonces.bytes = bytes(nonce, 16);
    output.text = buffer(text, 16);
    good = batch;
    CHECK(cipherlane_run(engine, &batch, &output, NULL) == CIPHERLANE_STATUS_OK);

    expect(cipherlane_run(NULL, &batch, &output, NULL), CIPHERLANE_STATUS_POINTER, "engine is NULL");
    expect(cipherlane_run(engine, NULL, &output, NULL), CIPHERLANE_STATUS_POINTER, "batch is NULL");
    expect(cipherlane_run(engine, &batch, NULL, NULL), CIPHERLANE_STATUS_POINTER, "output is NULL");
    batch.algorithm = "rot-13";
    output.accepted = buffer(accepted, 1);
    expect(cipherlane_run(engine, &batch, &output, NULL), CIPHERLANE_STATUS_UNKNOWN_NAME, "-gcm");
    CHECK(accepted[0] == 0);
    output.accepted = buffer(NULL, 0);
    batch.algorithm = NULL;
    expect(cipherlane_run(engine, &batch, &output, NULL), CIPHERLANE_STATUS_POINTER, "algorithm is NULL");
    batch = good;
    batch.operation = "seal";
    expect(cipherlane_run(engine, &batch, &output, NULL), CIPHERLANE_STATUS_BATCH, "encrypt");
    batch = good;
    batch.offsets = NULL;
    expect(cipherlane_run(engine, &batch, &output, NULL), CIPHERLANE_STATUS_POINTER, "offsets of the messages");
    batch = good;
    batch.offsets = (const uint64_t *)((const char *)offsets + 1);
    expect(cipherlane_run(engine, &batch, &output, NULL), CIPHERLANE_STATUS_POINTER, "multiple of 8 bytes");
    batch = good;
    batch.messages = SIZE_MAX;
    expect(cipherlane_run(engine, &batch, &output, NULL), CIPHERLANE_STATUS_POINTER, "no memory has");
    batch = good;
    batch.tag_bytes = 16;
    batch.tag_lengths = key;
    expect(cipherlane_run(engine, &batch, &output, NULL), CIPHERLANE_STATUS_BATCH, "lengths of their own");
    batch = good;
    batch.keys.bytes = bytes(key, 15);
    expect(cipherlane_run(engine, &batch, &output, NULL), CIPHERLANE_STATUS_BATCH, "key");
    batch.keys.bytes = bytes(NULL, 16);
    expect(cipherlane_run(engine, &batch, &output, NULL), CIPHERLANE_STATUS_POINTER, "keys is NULL");
    batch = good;
    batch.keys.width = 16;
    batch.keys.offsets = offsets;
    expect(cipherlane_run(engine, &batch, &output, NULL), CIPHERLANE_STATUS_BATCH, "width and offsets");
    batch = good;
    batch.source = bytes(NULL, 16);
    expect(cipherlane_run(engine, &batch, &output, NULL), CIPHERLANE_STATUS_POINTER, "source is NULL");
    batch.source = bytes(text + 1, 16);
    expect(cipherlane_run(engine, &batch, &output, NULL), CIPHERLANE_STATUS_POINTER, "in place");
    batch = good;
    batch.keys.bytes = bytes(text, 16);
    expect(cipherlane_run(engine, &batch, &output, NULL), CIPHERLANE_STATUS_POINTER, "overlaps the keys");
    batch = good;
    output.text = buffer(text, 15);
    expect(cipherlane_run(engine, &batch, &output, NULL), CIPHERLANE_STATUS_BATCH, "16");
    output.text = buffer(text, 16);
    batch = good;
    batch.on_gpu = true;
    CHECK(cipherlane_run(engine, &batch, &output, NULL) != CIPHERLANE_STATUS_OK);
    CHECK(strstr(cipherlane_last_error(), "the source: cuda") != NULL);
    batch.source = bytes(NULL, 0);
    output.text = buffer(NULL, 16);
    expect(cipherlane_run(engine, &batch, &output, NULL), CIPHERLANE_STATUS_POINTER, "memory of a GPU");
    batch.messages = 0;
    batch.source = bytes(NULL, 0);
    output.text = buffer(NULL, 0);
    CHECK(cipherlane_run(engine, &batch, &output, NULL) == CIPHERLANE_STATUS_OK);

    expect(cipherlane_engine_open("abacus", NULL, &none), CIPHERLANE_STATUS_UNKNOWN_NAME, "known: cpu");
    CHECK(none == NULL);
    cipherlane_engine_close(none);
    expect(cipherlane_engine_open("cpu", NULL, NULL), CIPHERLANE_STATUS_POINTER, "engine");
    wish.tier = "neon";
    none = opened("cpu", &wish);
    output.text = buffer(text, 16);
    expect(cipherlane_run(none, &good, &output, NULL), CIPHERLANE_STATUS_UNSUPPORTED, "neon");
    cipherlane_engine_close(none);
    expect(cipherlane_sizes_of("rot-13", &sizes), CIPHERLANE_STATUS_UNKNOWN_NAME, "rot-13");
    expect(cipherlane_sizes_of("sm4-ctr", NULL), CIPHERLANE_STATUS_POINTER, "sizes");
}

/* Where the width of nonces is left out, their first bytes are no nonce for all. */
static void a_width_that_is_left_out(const cipherlane_engine *engine) {
    const uint8_t keys[2][16] = {{1}, {1}}, nonces[2][12] = {{1}, {2}};
    const uint64_t offsets[] = {0, 1, 2};
    uint8_t text[2] = {5, 5}, tags[2][16];
    cipherlane_batch batch = {0};
    cipherlane_output output = {0};
    step = "a width that is left out";
    batch.algorithm = "aes-128-gcm";
    batch.operation = "seal";
    batch.messages = 2;
    batch.offsets = offsets;
    batch.keys.bytes = bytes(keys, sizeof keys);
    batch.keys.width = 16;
    batch.nonces.bytes = bytes(nonces, sizeof nonces);
    batch.tag_bytes = 16;
    output.text = buffer(text, sizeof text);
    output.tags = buffer(tags, sizeof tags);
    expect(cipherlane_run(engine, &batch, &output, NULL), CIPHERLANE_STATUS_BATCH, "need 2 nonces");
    CHECK(text[0] == 5 && text[1] == 5);
    batch.nonces.bytes = bytes(nonces, 12);
    expect(cipherlane_run(engine, &batch, &output, NULL), CIPHERLANE_STATUS_BATCH, "share a key and a nonce");
    batch.nonces.bytes = bytes(nonces, sizeof nonces);
    batch.nonces.width = 12;
    CHECK(cipherlane_run(engine, &batch, &output, NULL) == CIPHERLANE_STATUS_OK);
    /* What lies in place would be gone if it were opened so: no tag is right. */
    {
        uint8_t sealed[2], accepted[2];
        memcpy(sealed, text, sizeof sealed);
        batch.operation = "open";
        batch.tags = bytes(tags, sizeof tags);
        batch.nonces.width = 0;
        output.tags = buffer(NULL, 0);
        output.accepted = buffer(accepted, sizeof accepted);
        expect(cipherlane_run(engine, &batch, &output, NULL), CIPHERLANE_STATUS_BATCH, "need 2 nonces");
        CHECK(memcmp(text, sealed, sizeof sealed) == 0);
        batch.nonces.width = 12;
        CHECK(cipherlane_run(engine, &batch, &output, NULL) == CIPHERLANE_STATUS_OK);
        CHECK(accepted[0] == 1 && accepted[1] == 1 && text[0] == 5);
    }
}

static void plans(const cipherlane_engine *engine, const cipherlane_engine *one_thread) {
    cipherlane_plan plan;
    cipherlane_wish wish = {0};
    cipherlane_engine *none;
    step = "plans";
    CHECK(cipherlane_plan_of(engine, "aes-128-gcm", "seal", 1000, 128, true, &plan) == CIPHERLANE_STATUS_OK);
    CHECK(strcmp(plan.device, "cpu") == 0 && strncmp(plan.kernel, "aes-gcm/", 8) == 0);
    CHECK(plan.constant_time && plan.threads >= 1 && plan.blocks == 0);
    CHECK(cipherlane_plan_of(one_thread, "sha-256", "hash", 1, 1, false, &plan) == CIPHERLANE_STATUS_OK);
    CHECK(strcmp(plan.tier, "portable") == 0 && plan.threads == 1);
    expect(cipherlane_plan_of(engine, "aes-128-gcm", "hash", 1, 1, false, &plan), CIPHERLANE_STATUS_UNSUPPORTED, "hash");
    expect(cipherlane_plan_of(engine, "des", "encrypt", 1, 1, false, &plan), CIPHERLANE_STATUS_UNKNOWN_NAME, "des");
    expect(cipherlane_plan_of(NULL, "des", "encrypt", 1, 1, false, &plan), CIPHERLANE_STATUS_POINTER, "engine");
    expect(cipherlane_plan_of(engine, "sha-256", "hash", 1, 1, false, NULL), CIPHERLANE_STATUS_POINTER, "plan");
    wish.tier = "neon";
    none = opened("cpu", &wish);
    expect(cipherlane_plan_of(none, "sha-256", "hash", 1, 1, false, &plan), CIPHERLANE_STATUS_UNSUPPORTED, "neon");
    cipherlane_engine_close(none);
}

static pthread_key_t ending;

/* Runs when what the library keeps of the thread is gone. */
static void end(void *unused) {
    (void)unused;
    if (cipherlane_sizes_of("sm4-ctr", NULL) != CIPHERLANE_STATUS_POINTER || cipherlane_last_error() == NULL) {
        exit(1);
    }
}

static void *fails_once(void *unused) {
    CHECK(pthread_setspecific(ending, &ending) == 0);
    CHECK(cipherlane_sizes_of("sm4-ctr", NULL) == CIPHERLANE_STATUS_POINTER);
    return unused;
}

static void destructors_of_threads(void) {
    pthread_t thread;
    step = "destructors of threads";
    CHECK(pthread_key_create(&ending, end) == 0);
    CHECK(pthread_create(&thread, NULL, fails_once, NULL) == 0 && pthread_join(thread, NULL) == 0);
}

static void names(void) {
    cipherlane_sizes sizes;
    char devices[4096], few[3];
    size_t wanted;
    step = "names";
    CHECK(strcmp(cipherlane_version(), CIPHERLANE_VERSION) == 0);
    CHECK(cipherlane_sizes_of("aes-256-xts", &sizes) == CIPHERLANE_STATUS_OK);
    CHECK(sizes.key == 64 && sizes.nonce == 16 && sizes.tag == 0);
    CHECK(cipherlane_sizes_of("camellia-192-gcm", &sizes) == CIPHERLANE_STATUS_OK);
    CHECK(sizes.key == 24 && sizes.nonce == 12 && sizes.tag == 16);
    CHECK(cipherlane_sizes_of("sha-384", &sizes) == CIPHERLANE_STATUS_OK);
    CHECK(sizes.key == 0 && sizes.nonce == 0 && sizes.tag == 48);
    wanted = cipherlane_devices(devices, sizeof devices);
    CHECK(wanted == strlen(devices) + 1 && strncmp(devices, "cpu\n", 4) == 0);
    CHECK(cipherlane_devices(few, sizeof few) == wanted && strcmp(few, "cp") == 0);
    CHECK(cipherlane_devices(NULL, 0) == wanted);
    wanted = cipherlane_algorithms(devices, sizeof devices);
    CHECK(wanted == strlen(devices) + 1 && strstr(devices, "\nsc2000-256-xts\n") != NULL);
    CHECK(cipherlane_algorithms(NULL, 0) == wanted);
}

int main(void) {
    cipherlane_wish wish = {0};
    cipherlane_engine *engine = opened("cpu", NULL), *one_thread;
    wish.tier = "portable";
    wish.threads = 1;
    one_thread = opened(NULL, &wish);
    CHECK(strcmp(cipherlane_last_error(), "") == 0);
    hashes(engine);
    cipherlane_engine_release(engine);
    cipherlane_engine_release(NULL);
    hashes(engine);
    hashes(one_thread);
    known_answer(engine);
    known_answer(one_thread);
    there_and_back(engine);
    there_and_back(one_thread);
    tags_of_some_lengths(engine);
    a_width_that_is_left_out(engine);
    plans(engine, one_thread);
    destructors_of_threads();
    names();
    faults(engine);
    cipherlane_engine_close(engine);
    cipherlane_engine_close(one_thread);
    return 0;
}
