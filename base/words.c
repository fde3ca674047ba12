#include "base/words.h"

#include "base/mem.h"
#include "base/strbuf.h"

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

void words_add_crowd(const struct words *names, const char *noun, struct strbuf *out)
{
	enum { NAMED = 2 };

	strbuf_addf(out, "%s%s ", noun, names->len > 1 ? "s" : "");
	for (size_t i = 0; i < names->len && i < NAMED; i++)
		strbuf_addf(out, "%s%s",
			    !i			  ? ""
			    : names->len == NAMED ? " and "
						  : ", ",
			    names->data[i]);
	if (names->len > NAMED)
		strbuf_addf(out, " and %zu more", names->len - NAMED);
}
