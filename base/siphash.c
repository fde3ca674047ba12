#include "base/siphash.h"

#include <string.h>

/* Words are little-endian; so is every machine that unplait runs on. */
static uint64_t word(const uint8_t *p)
{
	uint64_t w;

	memcpy(&w, p, 8);
	return w;
}

static uint64_t rotate(uint64_t x, int n)
{
	return x << n | x >> (64 - n);
}

static void rounds(uint64_t *v, int n)
{
	while (n--) {
		v[0] += v[1];
		v[2] += v[3];
		v[1] = rotate(v[1], 13) ^ v[0];
		v[3] = rotate(v[3], 16) ^ v[2];
		v[0] = rotate(v[0], 32);
		v[2] += v[1];
		v[0] += v[3];
		v[1] = rotate(v[1], 17) ^ v[2];
		v[3] = rotate(v[3], 21) ^ v[0];
		v[2] = rotate(v[2], 32);
	}
}

static void compress(struct siphash *h, uint64_t m)
{
	h->v[3] ^= m;
	rounds(h->v, 2);
	h->v[0] ^= m;
}

void siphash_init(struct siphash *h, const uint8_t key[SIPHASH_KEY])
{
	uint64_t k0 = word(key), k1 = word(key + 8);

	*h = (struct siphash){ .v = { k0 ^ 0x736f6d6570736575, k1 ^ 0x646f72616e646f6d ^ 0xee,
				      k0 ^ 0x6c7967656e657261, k1 ^ 0x7465646279746573 } };
}

void siphash_add(struct siphash *h, const void *data, size_t len)
{
	const uint8_t *p = data;
	size_t used = h->len % 8;

	h->len += len;
	for (; used && len; len--) {
		h->rest[used++] = *p++;
		if (used == 8) {
			compress(h, word(h->rest));
			used = 0;
		}
	}
	for (; len >= 8; len -= 8, p += 8)
		compress(h, word(p));
	memcpy(h->rest + used, p, len);
}

void siphash_end(struct siphash *h, uint8_t ret[SIPHASH_LEN])
{
	uint64_t out[2];
	size_t used = h->len % 8;

	memset(h->rest + used, 0, 8 - used);
	compress(h, word(h->rest) | h->len << 56);
	h->v[2] ^= 0xee;
	rounds(h->v, 4);
	out[0] = h->v[0] ^ h->v[1] ^ h->v[2] ^ h->v[3];
	h->v[1] ^= 0xdd;
	rounds(h->v, 4);
	out[1] = h->v[0] ^ h->v[1] ^ h->v[2] ^ h->v[3];
	memcpy(ret, out, SIPHASH_LEN);
}
