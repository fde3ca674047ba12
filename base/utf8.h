/* base/utf8.h - is this UTF-8? */
#ifndef BASE_UTF8_H
#define BASE_UTF8_H

#include <stddef.h>
#include <stdint.h>

/* The length of the sequence at p (1..4) and its code point; 0 when the bytes are no UTF-8: cut
 * off, longer than needed, a surrogate, or too large. `left`: how many bytes there are. */
size_t utf8_decode(const void *p, size_t left, uint32_t *ret);

#endif
