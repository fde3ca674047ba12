/* base/siphash.h - SipHash-2-4 with 128 bits of output: a hash that nobody can compute without the
 * key (Aumasson and Bernstein, 2012). For stamps, not for tables: map.h has its own. */
#ifndef BASE_SIPHASH_H
#define BASE_SIPHASH_H

#include <stddef.h>
#include <stdint.h>

enum { SIPHASH_KEY = 16, SIPHASH_LEN = 16 };

struct siphash {
	uint64_t v[4];
	uint64_t len;
	uint8_t rest[8]; /* bytes that do not make a word yet: len % 8 */
};

void siphash_init(struct siphash *h, const uint8_t key[SIPHASH_KEY]);
void siphash_add(struct siphash *h, const void *data, size_t len);
void siphash_end(struct siphash *h, uint8_t ret[SIPHASH_LEN]);

#endif
