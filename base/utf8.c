#include "base/utf8.h"

size_t utf8_decode(const void *text, size_t left, uint32_t *ret)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	const uint8_t *p = text;
	size_t len;
	uint32_t c;

	if (!left)
		return 0;
	len = p[0] < 0x80 ? 1 : p[0] >> 5 == 6 ? 2 : p[0] >> 4 == 14 ? 3 : p[0] >> 3 == 30 ? 4 : 0;
	if (!len || len > left)
		return 0;
	c = len == 1 ? p[0] : p[0] & (0x7fu >> len);
	for (size_t i = 1; i < len; i++) {
		if (p[i] >> 6 != 2)
			return 0;
		c = c << 6 | (p[i] & 0x3f);
	}
	*ret = c;
	return c >= least[len] && c <= 0x10ffff && c >> 11 != 0x1b ? len : 0;
}
