/* A simulator with events of its own: requests arrive at random times, the drive's events are met one by one. Half way
 * the drive is saved to a file and restored; both go on, and must say the same.
 *
 *     checkpoint REQUESTS FILE TEXT.toml... */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drivelab.h"

#define MOST 64

/* SplitMix64. */
static uint64_t draw(uint64_t *state) {
    uint64_t z = (*state += UINT64_C(0x9E3779B97F4A7C15));
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return z ^ (z >> 31);
}

static char *read_file(const char *path, size_t *size) {
    FILE *file = fopen(path, "rb");
    if (!file) return NULL;
    fseek(file, 0, SEEK_END);
    *size = (size_t)ftell(file);
    rewind(file);
    char *bytes = calloc(*size + 1, 1);
    if (bytes && fread(bytes, 1, *size, file) != *size) bytes = NULL;
    fclose(file);
    return bytes;
}

static bool write_piece(void *file, const uint8_t *bytes, size_t count) {
    return fwrite(bytes, 1, count, file) == count;
}

static int calls_left;

/* A disk that is full after some calls; after that it must not be asked again. */
static bool write_little(void *nothing, const uint8_t *bytes, size_t count) {
    (void)nothing, (void)bytes, (void)count;
    return calls_left-- > 0;
}

/* What the host knows: its next request, and a sum over all that it heard. */
typedef struct {
    uint64_t state, arrival_ns, sum;
    uint32_t arrived, heard;
} host;

static int late;

static void hear(host *host, drivelab_drive *drive, uint64_t until_ns) {
    drivelab_completion done[MOST];
    size_t count = drivelab_wait(drive, until_ns, done, MOST);
    for (size_t i = 0; i < count; i++) {
        host->sum = host->sum * 31 + done[i].tag;
        host->sum = host->sum * 31 + done[i].completed_ns;
        host->heard++;
    }
}

/* Until `arrivals` requests have arrived; with `drain`, until all are done. */
static int run(host *host, drivelab_drive *drive, uint32_t arrivals, bool drain) {
    uint64_t sectors = drivelab_capacity_sectors(drive);
    while (host->arrived < arrivals || (drain && host->heard < host->arrived)) {
        uint64_t next_ns = drivelab_next_ns(drive);
        if (host->arrived == arrivals || next_ns < host->arrival_ns) {
            hear(host, drive, next_ns);
            continue;
        }
        drivelab_request request = {.time_ns = host->arrival_ns, .tag = host->arrived, .sector_count = 8};
        request.lba = draw(&host->state) % (sectors / 8) * 8;
        request.op = draw(&host->state) % 4 ? DRIVELAB_OP_WRITE : DRIVELAB_OP_READ;
        request.queue = (uint16_t)(host->arrived % 3);
        if (drivelab_submit(drive, &request, 1) == 1) {
            if (drivelab_now_ns(drive) != host->arrival_ns) late++;
            host->arrived++;
            host->arrival_ns += draw(&host->state) % 50000;
        } else if (*drivelab_error(drive)) {
            fprintf(stderr, "refused: %s\n", drivelab_error(drive));
            return 1;
        } else { /* The queue is full: the request comes when there is room. */
            hear(host, drive, next_ns);
            host->arrival_ns = drivelab_now_ns(drive);
        }
    }
    return 0;
}

int main(int argc, char **argv) {
    const char *texts[8];
    char error[DRIVELAB_ERROR_BYTES];
    size_t count = 0, size;
    if (argc < 4 || argc > 11) return fprintf(stderr, "usage: checkpoint REQUESTS FILE TEXT.toml...\n"), 2;
    for (; count + 3 < (size_t)argc; count++) {
        texts[count] = read_file(argv[count + 3], &size);
        if (!texts[count]) return fprintf(stderr, "%s can't be read\n", argv[count + 3]), 2;
    }
    drivelab_drive *drive = drivelab_open(texts, count, 1, error, sizeof error);
    if (!drive) return fprintf(stderr, "%s\n", error), 2;
    uint8_t classes[] = {DRIVELAB_QUEUE_CLASS_HIGH, DRIVELAB_QUEUE_CLASS_LOW};
    if (!drivelab_set_queue_classes(drive, classes, 2)) return fprintf(stderr, "%s\n", drivelab_error(drive)), 1;
    uint32_t requests = (uint32_t)strtoul(argv[1], NULL, 10);
    host one = {.state = 1};
    if (run(&one, drive, requests / 2, false)) return 1;
    printf("%" PRIu32 " inside\n", one.arrived - one.heard);
    if (drivelab_secure_erase(drive)) return fprintf(stderr, "erased with requests inside\n"), 1;
    printf("%s\n", drivelab_error(drive));

    FILE *file = fopen(argv[2], "wb");
    if (!file) return fprintf(stderr, "%s can't be written\n", argv[2]), 2;
    bool saved = drivelab_save(drive, write_piece, file);
    if (fclose(file) || !saved) return fprintf(stderr, "%s can't be written\n", argv[2]), 2;
    for (int calls = 0; calls < 3; calls++) {
        calls_left = calls;
        if (drivelab_save(drive, write_little, NULL) || calls_left != -1)
            return fprintf(stderr, "asked again\n"), 1;
    }
    char *bytes = read_file(argv[2], &size);
    drivelab_drive *restored = drivelab_restore(texts, count, (const uint8_t *)bytes, size, error, sizeof error);
    if (!restored) return fprintf(stderr, "%s\n", error), 1;
    host other = one;
    if (run(&one, drive, requests, true) || run(&other, restored, requests, true)) return 1;
    const char *compared = memcmp(&one, &other, sizeof one) ? "different" : "the same";
    printf("%" PRIu32 " done, %s, %d late\n", one.heard, compared, late);

    /* What was cut short, or changed, makes no drive. */
    if (drivelab_restore(texts, count, (const uint8_t *)bytes, size - 1, error, sizeof error)) return 1;
    bytes[size / 2] ^= 1;
    if (drivelab_restore(texts, count, (const uint8_t *)bytes, size, error, sizeof error)) return 1;
    printf("%s\n", error);

    size_t needed = drivelab_smart(drive, NULL, 0);
    char *smart = malloc(needed);
    drivelab_smart(drive, smart, needed);
    printf("%s\n", smart);
    if (!drivelab_secure_erase(restored)) return fprintf(stderr, "%s\n", drivelab_error(restored)), 1;
    drivelab_close(drive);
    drivelab_close(restored);
    free(smart);
    free(bytes);
    while (count--) free((char *)texts[count]);
    return 0;
}
