/* Two bytes of what is looked for, compared in 16 positions of a text at once: most positions are left out by that. */
#ifndef PLACES_H
#define PLACES_H

#include <stdint.h>
#include <string.h>

#define LANES 16
#define HAS_LANES (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__)

/* `mask` and `byte` of a place: what the text's byte is compared with after the mask, which is 0xDF where both cases match. */
typedef struct {
    uint8_t place[2];
    uint8_t mask[2];
    uint8_t byte[2];
} Places;

#if HAS_LANES
typedef uint8_t Lanes __attribute__((vector_size(LANES)));

static inline Lanes lanes_at(const uint8_t *text) {
    Lanes lanes;
    memcpy(&lanes, text, sizeof lanes);
    return lanes;
}

/* Of each of the positions from `at` on, 0xFF where both bytes fit; LANES bytes behind the further place are read. */
static inline Lanes fitting(const Places *each, const uint8_t *at) {
    Lanes first = (Lanes)((lanes_at(at + each->place[0]) & each->mask[0]) == each->byte[0]);
    Lanes second = (Lanes)((lanes_at(at + each->place[1]) & each->mask[1]) == each->byte[1]);
    return first & second;
}
#endif

static inline int fits(const Places *each, const uint8_t *at) {
    return (at[each->place[0]] & each->mask[0]) == each->byte[0] && (at[each->place[1]] & each->mask[1]) == each->byte[1];
}

#endif
