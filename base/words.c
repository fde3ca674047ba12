#include "base/words.h"

#include "base/mem.h"

#include <stdlib.h>

void words_take(struct words *w, char *word)
{
	vec_reserve(w, w->len + 2);
	w->data[w->len++] = word;
	w->data[w->len] = NULL;
}

void words_push(struct words *w, const char *word)
{
	words_take(w, xstrdup(word));
}

void words_copy(struct words *to, const struct words *from)
{
	for (size_t i = 0; i < from->len; i++)
		words_push(to, from->data[i]);
}

void words_deinit(struct words *w)
{
	for (size_t i = 0; i < w->len; i++)
		free(w->data[i]);
	vec_deinit(w);
}
