#include "base/words.h"

#include "base/mem.h"
#include "base/strbuf.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

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

size_t word_distance(const char *a, size_t na, const char *b)
{
	size_t row[64], nb = strlen(b);

	if (na >= ARRAY_SIZE(row) || nb >= ARRAY_SIZE(row))
		return SIZE_MAX;
	for (size_t k = 0; k <= nb; k++)
		row[k] = k;
	for (size_t i = 1; i <= na; i++) {
		size_t corner = row[0];

		row[0] = i;
		for (size_t k = 1; k <= nb; k++) {
			size_t changed = corner + (a[i - 1] != b[k - 1]);

			corner = row[k];
			row[k] = MIN(changed, MIN(row[k], row[k - 1]) + 1);
		}
	}
	return row[nb];
}
