/* base/sha256.h - SHA-256 (FIPS 180-4), for formats that name files by it. */
#ifndef BASE_SHA256_H
#define BASE_SHA256_H

#include <stddef.h>

enum { SHA256_HEX = 65 };

/* The digest of len bytes as lower-case hexadecimal, NUL-terminated. */
void sha256_hex(const void *data, size_t len, char ret[SHA256_HEX]);

#endif
