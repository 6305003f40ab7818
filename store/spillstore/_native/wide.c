/* Asks the processor whether it has vectors of 32 bytes, and whether the system keeps them. */
#include "wide.h"

#include <stdint.h>

#if HAS_WIDE
#include <cpuid.h>

static int has_wide(void) {
    const unsigned saved = 1u << 27, avx = 1u << 28, bmi = 1u << 3, avx2 = 1u << 5;
    unsigned a, b, c, d, low, high;
    if (!__get_cpuid(1, &a, &b, &c, &d) || (c & (saved | avx)) != (saved | avx))
        return 0;
    __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return (low & 6) == 6 && __get_cpuid_count(7, 0, &a, &b, &c, &d) && (b & (avx2 | bmi)) == (avx2 | bmi);
}
#else
static int has_wide(void) { return 0; }
#endif

static _Atomic int used = -1; /* not asked yet */

int wide_used(void) {
    int answer = used;
    if (answer < 0)
        used = answer = has_wide();
    return answer;
}

/* Uses wide vectors or not from now on, in all threads; returns whether they are used. For tests: the answers are the same. */
int64_t spillstore_use_wide(int64_t wanted) {
    used = wanted && has_wide();
    return used;
}
