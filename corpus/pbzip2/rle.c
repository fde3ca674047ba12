/* rle.c - run-length coding and a checksum: the work a consumer does. No shared state. */
#include "pbzip2.h"

size_t rle_pack(const unsigned char *from, size_t size, unsigned char *to)
{
	size_t out = 0;

	for (size_t i = 0; i < size;) {
		size_t run = 1;

		while (i + run < size && run < 255 && from[i + run] == from[i])
			run++;
		to[out++] = (unsigned char)run;
		to[out++] = from[i];
		i += run;
	}
	return out;
}

size_t rle_unpack(const unsigned char *from, size_t size, unsigned char *to, size_t room)
{
	size_t out = 0;

	for (size_t i = 0; i + 1 < size; i += 2)
		for (int n = from[i]; n > 0 && out < room; n--)
			to[out++] = from[i + 1];
	return out;
}

uint32_t crc32_of(const unsigned char *data, size_t size)
{
	uint32_t crc = ~UINT32_C(0);

	for (size_t i = 0; i < size; i++) {
		crc ^= data[i];
		for (int bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? UINT32_C(0xedb88320) : 0);
	}
	return ~crc;
}
