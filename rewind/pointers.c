/* rewind/pointers.c - see pointers.h. Only whole, aligned words count. What is unknown at the moment (the stack below a call) is left
 * out, so the places may be too few: who uses them guesses. */
#include "rewind/pointers.h"

#include "debug/dump.h"
#include "rewind/past.h"
#include "rewind/trie.h"

#include <elf.h>
#include <string.h>

enum { MOST_BYTES = 64 << 20 };

void pointers_deinit(struct pointers *w)
{
	vec_deinit(&w->all);
	vec_deinit(&w->words);
}

static int by_value(const void *a, const void *b)
{
	const struct pointer *x = a, *y = b;

	if (x->value != y->value)
		return x->value > y->value ? 1 : -1;
	return (x->at > y->at) - (x->at < y->at);
}

static void add_segment(struct history *h, const struct dump_segment *s)
{
	for (uint64_t at = s->address; at + 8 <= s->address + s->there; at += 8) {
		struct pointer w = { .at = at };

		if (dump_read(h->dump, at, &w.value, 8) && past_readable(h, w.value, false))
			vec_push(&h->pointers.all, w);
	}
}

static void make(struct history *h)
{
	uint64_t bytes = 0;

	h->pointers.made = true;
	for (size_t i = 0; i < h->dump->segments.len; i++) {
		const struct dump_segment *s = &h->dump->segments.data[i];

		bytes += s->flags & PF_W ? s->there : 0;
		if (bytes > MOST_BYTES)
			return;
		if (s->flags & PF_W)
			add_segment(h, s);
	}
	vec_sort(&h->pointers.all, by_value);
}

struct places {
	struct history *h;
	const struct past *p;
	uint64_t value, *at;
	size_t n, most;
};

static void add_place(struct places *s, uint64_t at)
{
	uint64_t v;

	for (size_t i = 0; i < MIN(s->n, s->most); i++)
		if (s->at[i] == at)
			return;
	if (!past_value(s->h, s->p, past_load(s->h, s->p, at, 64), &v) || v != s->value)
		return;
	if (s->n < s->most)
		s->at[s->n] = at;
	s->n++;
}

static void add_cell(uint64_t key, uint64_t cell, void *arg)
{
	(void)cell;
	add_place(arg, key * 8);
}

size_t pointers_find(struct history *h, const struct past *p, uint64_t value, uint64_t *ret,
		     size_t most)
{
	struct places s = { .h = h, .p = p, .value = value, .at = ret, .most = most };
	size_t low = 0, high;

	if (!h->pointers.made)
		make(h);
	high = h->pointers.all.len;
	if (!high || !past_readable(h, value, false))
		return most + 1;
	while (low < high) {
		size_t mid = (low + high) / 2;

		if (h->pointers.all.data[mid].value < value)
			low = mid + 1;
		else
			high = mid;
	}
	for (; low < h->pointers.all.len && h->pointers.all.data[low].value == value && s.n <= most;
	     low++)
		add_place(&s, h->pointers.all.data[low].at);
	if (s.n <= most)
		trie_each(p->memory, add_cell, &s);
	return s.n;
}

/* ---- any word ---- */

static void find_in_segment(const struct dump *d, const struct dump_segment *s, struct word *w)
{
	uint64_t page[512];

	for (uint64_t at = s->address; at + sizeof(page) <= s->address + s->there;
	     at += sizeof(page)) {
		if (!dump_read(d, at, page, sizeof(page)))
			continue;
		for (size_t i = 0; i < ARRAY_SIZE(page); i++) {
			if (page[i] != w->value)
				continue;
			if (w->n < WORD_PLACES)
				w->at[w->n] = at + 8 * i;
			w->n++;
		}
	}
}

static const struct word *find_word(struct history *h, uint64_t value)
{
	struct word w = { .value = value };
	uint64_t bytes = 0;

	for (size_t i = 0; i < h->pointers.words.len; i++)
		if (h->pointers.words.data[i].value == value)
			return &h->pointers.words.data[i];
	for (size_t i = 0; i < h->dump->segments.len; i++) {
		const struct dump_segment *s = &h->dump->segments.data[i];

		if (s->flags & PF_X)
			continue;
		bytes += s->there;
		if (bytes > MOST_BYTES)
			w.n = WORD_PLACES + 1;
		if (w.n <= WORD_PLACES)
			find_in_segment(h->dump, s, &w);
	}
	vec_push(&h->pointers.words, w);
	return vec_last(&h->pointers.words);
}

size_t word_places(struct history *h, const struct past *p, uint64_t value, uint64_t *ret,
		   size_t most)
{
	struct places s = { .h = h, .p = p, .value = value, .at = ret, .most = most };
	const struct word *w = value ? find_word(h, value) : NULL;

	if (!w || w->n > WORD_PLACES)
		return 0;
	for (size_t i = 0; i < w->n; i++)
		add_place(&s, w->at[i]);
	trie_each(p->memory, add_cell, &s);
	return s.n;
}
