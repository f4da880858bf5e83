/* Random reads and writes of 4 KiB, always 32 outstanding, through the C interface; prints what the drive said.
 *
 *     closed_loop REQUESTS TEXT.toml...
 *
 * The first half of the drive is written in sequence before. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "drivelab.h"

#define DEPTH 32

static uint64_t state = 1;

/* SplitMix64. */
static uint64_t draw(void) {
    uint64_t z = (state += UINT64_C(0x9E3779B97F4A7C15));
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return z ^ (z >> 31);
}

static char *read_file(const char *path) {
    FILE *file = fopen(path, "rb");
    if (!file) return NULL;
    fseek(file, 0, SEEK_END);
    long size = ftell(file);
    rewind(file);
    char *text = calloc((size_t)size + 1, 1);
    if (text && fread(text, 1, (size_t)size, file) != (size_t)size) text = NULL;
    fclose(file);
    return text;
}

typedef struct {
    uint64_t count, batches, latency_sum_ns, latency_max_ns, parts_sum_ns;
} totals;

/* Keeps DEPTH requests outstanding until `count` are done. */
static int run(drivelab_drive *drive, uint64_t count, int fill, uint64_t sectors, totals *sums) {
    drivelab_request batch[DEPTH];
    drivelab_completion done[DEPTH];
    uint64_t issued = 0, next = 0;
    size_t ready = 0;
    for (uint64_t heard = 0; heard < count;) {
        uint64_t now = drivelab_now_ns(drive);
        size_t room = issued == 0 ? DEPTH : ready;
        size_t size = 0;
        while (size < room && issued < count) {
            drivelab_request request = {.time_ns = now, .tag = (uint32_t)issued};
            if (fill) {
                request.lba = next, request.sector_count = 256, request.op = DRIVELAB_OP_WRITE;
                next += 256;
            } else {
                request.lba = draw() % (sectors / 8) * 8, request.sector_count = 8;
                request.op = draw() % 2 ? DRIVELAB_OP_WRITE : DRIVELAB_OP_READ;
            }
            batch[size++] = request;
            issued++;
        }
        if (drivelab_submit(drive, batch, size) != size) {
            fprintf(stderr, "refused: %s\n", drivelab_error(drive));
            return 1;
        }
        ready = drivelab_wait(drive, DRIVELAB_NEVER, done, DEPTH);
        sums->batches++;
        for (size_t i = 0; i < ready; i++) {
            uint64_t latency = done[i].completed_ns - done[i].submitted_ns;
            sums->count++;
            sums->latency_sum_ns += latency;
            if (latency > sums->latency_max_ns) sums->latency_max_ns = latency;
            sums->parts_sum_ns += done[i].queueing_ns + done[i].link_ns + done[i].firmware_ns + done[i].flash_ns +
                                  done[i].cleaning_ns;
        }
        heard += ready;
    }
    return 0;
}

int main(int argc, char **argv) {
    const char *texts[8];
    char error[DRIVELAB_ERROR_BYTES];
    int count = argc - 2;
    if (count < 1 || count > 8) return fprintf(stderr, "usage: closed_loop REQUESTS TEXT.toml...\n"), 2;
    for (int i = 0; i < count; i++) {
        texts[i] = read_file(argv[i + 2]);
        if (!texts[i]) return fprintf(stderr, "%s can't be read\n", argv[i + 2]), 2;
    }
    drivelab_drive *drive = drivelab_open(texts, (size_t)count, 1, error, sizeof error);
    if (!drive) return fprintf(stderr, "%s\n", error), 2;
    uint64_t sectors = drivelab_capacity_sectors(drive) / 512 * 256;
    totals filled = {0}, sums = {0};
    if (run(drive, sectors / 256, 1, sectors, &filled)) return 1;
    drivelab_drive *copy = drivelab_copy(drive);
    drivelab_close(drive);
    clock_t started = clock();
    if (run(copy, strtoull(argv[1], NULL, 10), 0, sectors, &sums)) return 1;
    double seconds = (double)(clock() - started) / CLOCKS_PER_SEC;
    size_t bytes = drivelab_counters(copy, NULL, 0);
    char *counters = malloc(bytes);
    drivelab_counters(copy, counters, bytes);
    printf("%" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n%s\n", sums.count, sums.latency_sum_ns,
           sums.latency_max_ns, sums.parts_sum_ns, drivelab_now_ns(copy), counters);
    fprintf(stderr, "drivelab %s: %.2f M requests/s of processor time, %.2f a call\n", drivelab_version(),
            (double)sums.count / seconds / 1e6, (double)sums.count / (double)sums.batches);
    /* What isn't allowed is refused with a reason, and changes nothing. */
    drivelab_request wrong = {.time_ns = drivelab_now_ns(copy), .lba = UINT64_MAX, .sector_count = 8};
    if (drivelab_submit(copy, &wrong, 1) != 0) return 1;
    printf("%s\n", drivelab_error(copy));
    drivelab_close(copy);
    if (drivelab_open(texts, 0, 1, error, sizeof error)) return 1;
    free(counters);
    for (int i = 0; i < count; i++) free((char *)texts[i]);
    return 0;
}
