/* base/sha256.c - see sha256.h. The names are those of FIPS 180-4, section 6.2. */
#include "base/sha256.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

static const uint32_t K[64] = {
	0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4,
	0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe,
	0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f,
	0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7,
	0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc,
	0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
	0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116,
	0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
	0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7,
	0xc67178f2,
};

static uint32_t right(uint32_t x, unsigned n)
{
	return x >> n | x << (32 - n);
}

static uint32_t big_endian(const uint8_t *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static void add_block(uint32_t H[8], const uint8_t block[64])
{
	uint32_t W[64], v[8]; /* v: a to h */

	for (unsigned t = 0; t < 16; t++)
		W[t] = big_endian(block + 4 * t);
	for (unsigned t = 16; t < 64; t++) {
		uint32_t x = W[t - 15], y = W[t - 2];

		W[t] = W[t - 16] + (right(x, 7) ^ right(x, 18) ^ x >> 3) + W[t - 7] +
		       (right(y, 17) ^ right(y, 19) ^ y >> 10);
	}
	memcpy(v, H, sizeof(v));
	for (unsigned t = 0; t < 64; t++) {
		uint32_t a = v[0], e = v[4];
		uint32_t T1 = v[7] + (right(e, 6) ^ right(e, 11) ^ right(e, 25)) +
			      ((e & v[5]) ^ (~e & v[6])) + K[t] + W[t];
		uint32_t T2 = (right(a, 2) ^ right(a, 13) ^ right(a, 22)) +
			      ((a & v[1]) ^ (a & v[2]) ^ (v[1] & v[2]));

		memmove(v + 1, v, 7 * sizeof(v[0]));
		v[4] += T1;
		v[0] = T1 + T2;
	}
	for (unsigned i = 0; i < 8; i++)
		H[i] += v[i];
}

void sha256_hex(const void *data, size_t len, char ret[SHA256_HEX])
{
	uint32_t H[8] = { 0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
			  0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19 };
	const uint8_t *p = data;
	uint8_t end[128] = { 0 };
	size_t rest = len % 64, n = rest < 56 ? 64 : 128;

	for (size_t i = 0; i + 64 <= len; i += 64)
		add_block(H, p + i);
	if (rest)
		memcpy(end, p + len - rest, rest);
	end[rest] = 0x80;
	for (unsigned i = 0; i < 8; i++)
		end[n - 1 - i] = (uint8_t)((uint64_t)len * 8 >> 8 * i);
	for (size_t i = 0; i < n; i += 64)
		add_block(H, end + i);
	for (unsigned i = 0; i < 8; i++)
		snprintf(ret + 8 * i, 9, "%08x", H[i]);
}
