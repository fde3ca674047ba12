/* scan.c - made-up files, and the search in them. No shared state. */
#include "pfscan.h"

#include <string.h>

void file_read(int number, char *text, int size)
{
	static const char *const words[] = {"warp ", "weft ", "plait ", "strand ", "knot ", "thread "};
	unsigned n = (unsigned)number * 7919 + 13;
	int at = 0;

	while (at < size) {
		const char *word = words[n % 6];
		int length = (int)strlen(word);

		if (length > size - at)
			length = size - at;
		memcpy(text + at, word, (size_t)length);
		at += length;
		n = n * 1103515245 + 12345;
		n ^= n >> 16;
	}
}

int text_search(const char *text, int size, const char *what)
{
	int length = (int)strlen(what);
	int found = 0;

	for (int i = 0; i + length <= size; i++)
		found += memcmp(text + i, what, (size_t)length) == 0;
	return found;
}
