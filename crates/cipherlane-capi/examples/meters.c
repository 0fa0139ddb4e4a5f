/* A head-end opens the readings of a thousand meters, each sealed under the key of its meter.
 *
 *     cargo rustc --release -p cipherlane-capi --lib --crate-type cdylib
 *     cc -I crates/cipherlane-capi/include crates/cipherlane-capi/examples/meters.c -L target/release -lcipherlane_c
 *     LD_LIBRARY_PATH=target/release ./a.out
 */

#include <cipherlane.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { METERS = 1000, READING = 128, KEY = 16, NONCE = 12, TAG = 16 };

static uint8_t keys[METERS][KEY], nonces[METERS][NONCE], readings[METERS][READING], tags[METERS][TAG];
static uint8_t accepted[METERS];
static uint64_t offsets[METERS + 1];

static void run(const cipherlane_engine *engine, const cipherlane_batch *batch, const cipherlane_output *output) {
    if (cipherlane_run(engine, batch, output, NULL) != CIPHERLANE_STATUS_OK) {
        fprintf(stderr, "%s\n", cipherlane_last_error());
        exit(1);
    }
}

int main(void) {
    cipherlane_engine *engine;
    if (cipherlane_engine_open("cpu", NULL, &engine) != CIPHERLANE_STATUS_OK) {
        fprintf(stderr, "%s\n", cipherlane_last_error());
        return 1;
    }
    for (int i = 0; i < METERS; i++) {
        memcpy(keys[i], &i, sizeof i); /* in truth, keys are random */
        memcpy(nonces[i], &i, sizeof i);
        snprintf((char *)readings[i], READING, "meter %d: %d kWh", i, 17 * i % 1000);
        offsets[i + 1] = offsets[i] + READING;
    }

    /* The text of the output is read as well, where `source` is NULL: sealed in place. */
    cipherlane_batch batch = {
        .algorithm = "aes-128-gcm",
        .operation = "seal",
        .messages = METERS,
        .offsets = offsets,
        .keys = {.bytes = {keys[0], sizeof keys}, .width = KEY},
        .nonces = {.bytes = {nonces[0], sizeof nonces}, .width = NONCE},
        .tag_bytes = TAG,
    };
    cipherlane_output output = {.text = {readings[0], sizeof readings}, .tags = {tags[0], sizeof tags}};
    run(engine, &batch, &output);

    tags[7][0] ^= 1; /* somebody meddles */

    batch.operation = "open";
    batch.tags = (cipherlane_bytes){tags[0], sizeof tags};
    output.tags = (cipherlane_buffer){NULL, 0};
    output.accepted = (cipherlane_buffer){accepted, sizeof accepted};
    run(engine, &batch, &output);

    int rejected = 0;
    for (int i = 0; i < METERS; i++)
        rejected += !accepted[i];
    printf("%d readings, %d rejected; the last: %s\n", METERS, rejected, (const char *)readings[METERS - 1]);
    cipherlane_engine_close(engine);
    return 0;
}
