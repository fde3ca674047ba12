/* Width times height overflows 32 bits; the image is larger than its block (CVE-2004-0597 and many like it). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct image {
	unsigned width, height;
	unsigned char *rows;
};

static __attribute__((noinline)) void clear(struct image *m)
{
	for (unsigned y = 0; y < m->height; y++)
		for (unsigned x = 0; x < m->width; x++)
			m->rows[(size_t)y * m->width + x] = 0xff; /* BUG:a */
}

static __attribute__((noinline)) unsigned char *rows_new(const struct image *m)
{
	return malloc(m->width * m->height); /* BUG:a */
}

int main(int argc, char **argv)
{
	struct image m = { .width = 0x10000, .height = 0xffff };

	if (argc > 1)
		m.height = (unsigned)atoi(argv[1]);
	m.height += 2;
	m.rows = rows_new(&m);
	clear(&m);
	return m.rows[7];
}
