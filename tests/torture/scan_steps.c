/* Counts what a scan does: the compiler calls `__sanitizer_cov_trace_pc` at the beginning of each block of instructions
 * (-fsanitize-coverage=trace-pc), and the scanner's `memchr` and `memcmp` are the counted ones here. Not instrumented itself. */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define EDGES 65536

uint64_t scan_steps;
uint32_t scan_edges;
int scan_watched;

static uint8_t seen[EDGES];
static uintptr_t last;

void scan_forget_edges(void) {
    memset(seen, 0, sizeof seen);
    scan_edges = 0;
    last = 0;
}

void __sanitizer_cov_trace_pc(void) {
    if (!scan_watched)
        return;
    uintptr_t here = (uintptr_t)__builtin_return_address(0) - (uintptr_t)&scan_forget_edges; /* the same in each process */
    uint32_t edge = (uint32_t)((here ^ here >> 16 ^ last << 3) % EDGES);
    last = here;
    scan_steps++;
    scan_edges += !seen[edge];
    seen[edge] = 1;
}

void *counted_memchr(const void *in, int byte, size_t size) {
    void *found = memchr(in, byte, size);
    if (scan_watched)
        scan_steps += found ? (size_t)((uint8_t *)found - (const uint8_t *)in) : size;
    return found;
}

int counted_memcmp(const void *one, const void *other, size_t size) {
    if (scan_watched)
        scan_steps += size;
    return memcmp(one, other, size);
}
