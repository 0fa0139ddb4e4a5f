// x = x * a + b over an array that fits the first-level cache, in each type. Prints a checksum and seconds.
// a is -1, so every value returns after two rounds and all types have the same, exact, results.
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define LENGTH 1024

// The type of the array and that of a and b; where they differ, every value is converted there and back.
#define JOB(name, type, factor_type)                                         \
    static unsigned name(int rounds, int factor) {                           \
        static type values[LENGTH];                                          \
        static factor_type addends[LENGTH];                                  \
        factor_type a = (factor_type)factor;                                 \
        for (int i = 0; i < LENGTH; i++) {                                   \
            values[i] = (type)(i % 89);                                      \
            addends[i] = (factor_type)(i % 97);                              \
        }                                                                    \
        for (int round = 0; round < rounds; round++) {                       \
            for (int i = 0; i < LENGTH; i++) {                               \
                values[i] = (type)(values[i] * a + addends[i]);              \
            }                                                                \
        }                                                                    \
        unsigned checksum = 0;                                               \
        for (int i = 0; i < LENGTH; i++) {                                   \
            checksum = checksum * 31u + (unsigned)(int)values[i];            \
        }                                                                    \
        return checksum;                                                     \
    }

JOB(job_int, int, int)
JOB(job_long, long, long)
JOB(job_long_long, long long, long long)
JOB(job_float, float, float)
JOB(job_double, double, double)
JOB(job_cast, float, double)

static const struct {
    const char *name;
    unsigned (*job)(int, int);
} JOBS[] = {
    {"int", job_int},     {"long", job_long},     {"long-long", job_long_long},
    {"float", job_float}, {"double", job_double}, {"float-cast", job_cast},
};

int main(int count, char **arguments) {
    if (count != 4) {
        return 2;
    }
    int rounds = atoi(arguments[2]), factor = atoi(arguments[3]);
    for (size_t i = 0; i < sizeof JOBS / sizeof *JOBS; i++) {
        if (strcmp(arguments[1], JOBS[i].name) == 0) {
            struct timespec start, end;
            clock_gettime(CLOCK_MONOTONIC, &start);
            unsigned checksum = JOBS[i].job(rounds, factor);
            clock_gettime(CLOCK_MONOTONIC, &end);
            double seconds = (double)(end.tv_sec - start.tv_sec) + (double)(end.tv_nsec - start.tv_nsec) / 1e9;
            printf("%u %.9f\n", checksum, seconds);
            return 0;
        }
    }
    return 2;
}
