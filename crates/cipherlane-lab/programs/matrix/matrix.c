// Product of two square matrices, its rows spread over threads. Prints a checksum and seconds.
// All entries are small integers, so all sums are exact in any order.
#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static int size, threads;
static double *left, *right, *product;

static void *rows(void *argument) {
    int thread = *(int *)argument;
    int first = (int)((long long)size * thread / threads);
    int end = (int)((long long)size * (thread + 1) / threads);
    for (int row = first; row < end; row++) {
        double *out = product + (size_t)row * size;
        for (int inner = 0; inner < size; inner++) {
            double factor = left[(size_t)row * size + inner];
            const double *in = right + (size_t)inner * size;
            for (int column = 0; column < size; column++) {
                out[column] += factor * in[column];
            }
        }
    }
    return NULL;
}

int main(int count, char **arguments) {
    if (count != 3) {
        return 2;
    }
    size = atoi(arguments[1]);
    threads = atoi(arguments[2]);
    size_t entries = (size_t)size * size;
    left = malloc(entries * sizeof *left);
    right = malloc(entries * sizeof *right);
    product = calloc(entries, sizeof *product);
    pthread_t *handles = malloc(threads * sizeof *handles);
    int *numbers = malloc(threads * sizeof *numbers);
    if (!left || !right || !product || !handles || !numbers) {
        return 1;
    }
    for (size_t entry = 0; entry < entries; entry++) {
        left[entry] = (double)(entry * 7 % 11);
        right[entry] = (double)(entry * 5 % 13);
    }
    struct timespec start, end;
    clock_gettime(CLOCK_MONOTONIC, &start);
    for (int thread = 0; thread < threads; thread++) {
        numbers[thread] = thread;
        if (pthread_create(&handles[thread], NULL, rows, &numbers[thread])) {
            return 1;
        }
    }
    for (int thread = 0; thread < threads; thread++) {
        pthread_join(handles[thread], NULL);
    }
    clock_gettime(CLOCK_MONOTONIC, &end);
    unsigned checksum = 0;
    for (size_t entry = 0; entry < entries; entry++) {
        checksum = checksum * 31u + (unsigned)product[entry];
    }
    printf("%u %.9f\n", checksum, (double)(end.tv_sec - start.tv_sec) + (double)(end.tv_nsec - start.tv_nsec) / 1e9);
}
