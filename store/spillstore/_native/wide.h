/* Whether vectors of 32 bytes are used: where the processor has them (AVX2), which is asked once. Elsewhere the same is told byte by byte. */
#ifndef WIDE_H
#define WIDE_H

#if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__))
#define HAS_WIDE 1
#define WIDE __attribute__((target("avx2,bmi")))
#include <immintrin.h>
#else
#define HAS_WIDE 0
#endif

#pragma GCC visibility push(hidden)
int wide_used(void);
#pragma GCC visibility pop

#endif
