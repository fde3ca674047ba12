/* cmd/manual.c - see manual.h. */
#include "cmd/manual.h"

#include "base/embed.h"
#include "base/mem.h"

#include <stdio.h>
#include <string.h>

enum { MANUAL_WORDS = 5 };

#define PAGE(id, path, ...)                                                                        \
	extern const char manual_##id[];                                                           \
	EMBED(manual_##id, path);
#include "cmd/manual.def"
#undef PAGE

static const struct page {
	const char *text;
	const char *words[MANUAL_WORDS]; /* that name it */
} pages[] = {
#define PAGE(id, path, ...) { manual_##id, { __VA_ARGS__ } },
#include "cmd/manual.def"
#undef PAGE
};

bool manual_print(const char *task)
{
	for (size_t i = 0; i < ARRAY_SIZE(pages); i++)
		for (size_t w = 0; w < MANUAL_WORDS && pages[i].words[w]; w++)
			if (strcmp(pages[i].words[w], task) == 0)
				return fputs(pages[i].text, stdout) >= 0;
	return false;
}
