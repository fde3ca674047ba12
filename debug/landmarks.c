/* debug/landmarks.c - see landmarks.h. */
#include "debug/landmarks.h"

#include "base/err.h"
#include "base/map.h"
#include "base/mem.h"

#include <elf.h>
#include <string.h>

enum { STUB_MOST = 16, TEXT_MOST = 4096, ENTRY_BYTES = 64 };

static int32_t distance_at(const uint8_t *p)
{
	int32_t d;

	memcpy(&d, p, sizeof(d));
	return d;
}

/* The import that a stub of the linkage table jumps to: endbr64 and a prefix may come first. */
static const char *stub_import(const struct text *t, uint64_t address)
{
	size_t len, at = 0;
	const uint8_t *p = text_bytes(t, address, &len);

	if (!p || len < STUB_MOST)
		return NULL;
	if (!memcmp(p, "\xf3\x0f\x1e\xfa", 4))
		at = 4;
	at += p[at] == 0xf2;
	if (p[at] != 0xff || p[at + 1] != 0x25)
		return NULL;
	return text_import(t, address + at + 6 + (uint64_t)(int64_t)distance_at(p + at + 2));
}

static bool is_beginning(const struct text *t, uint64_t address)
{
	const struct text_range *f = text_function(t, address);

	return f && f->low == address;
}

static const char *text_constant(const struct text *t, uint64_t address)
{
	const struct text_segment *s = text_segment_at(t, address);
	size_t len;
	const uint8_t *p;

	if (!s || s->flags & (PF_W | PF_X))
		return NULL;
	p = text_bytes(t, address, &len);
	return p && *p && memchr(p, 0, MIN(len, (size_t)TEXT_MOST)) ? (const char *)p : NULL;
}

/* ---- instructions ---- */

static void add_import(struct landmarks *l, uint64_t behind, const char *name, bool jump)
{
	if (name)
		vec_push(&l->all, ((struct landmark){ .address = behind,
						      .kind = LANDMARK_IMPORT,
						      .text = name,
						      .jump = jump }));
}

/* call or jmp with a distance: to a function, or to a stub. */
static void add_call(struct landmarks *l, const struct text_range *in, uint64_t behind, uint64_t to,
		     bool jump)
{
	if (to >= in->low && to < in->high && (jump || to != in->low))
		return;
	if (is_beginning(&l->text, to) && !stub_import(&l->text, to))
		vec_push(&l->all, ((struct landmark){ .address = behind,
						      .kind = LANDMARK_CALL,
						      .target = to,
						      .jump = jump }));
	else
		add_import(l, behind, stub_import(&l->text, to), jump);
}

/* What begins at p, of which 7 bytes may be read. */
static void look_at(struct landmarks *l, const struct text_range *in, const uint8_t *p, uint64_t at)
{
	const char *text = NULL;
	size_t len = 7;

	if (p[0] == 0xe8 || p[0] == 0xe9) {
		add_call(l, in, at + 5, at + 5 + (uint64_t)(int64_t)distance_at(p + 1),
			 p[0] == 0xe9);
		return;
	}
	if (p[0] == 0xff && (p[1] == 0x15 || p[1] == 0x25)) {
		uint64_t slot = at + 6 + (uint64_t)(int64_t)distance_at(p + 2);

		add_import(l, at + 6, text_import(&l->text, slot), p[1] == 0x25);
		return;
	}
	if ((p[0] & 0xfb) == 0x48 && p[1] == 0x8d && (p[2] & 0xc7) == 0x05) { /* lea d(%rip), r */
		text = text_constant(&l->text, at + 7 + (uint64_t)(int64_t)distance_at(p + 3));
	} else if (p[0] >= 0xb8 && p[0] <= 0xbf) { /* mov $d, r32: where programs do not move */
		text = text_constant(&l->text, (uint32_t)distance_at(p + 1));
		len = 5;
	}
	if (text)
		vec_push(&l->all,
			 ((struct landmark){
				 .address = at + len, .kind = LANDMARK_TEXT, .text = text }));
}

static void look_through(struct landmarks *l, const struct text_range *f)
{
	size_t len;
	const uint8_t *p = text_bytes(&l->text, f->low, &len);

	if (!p || stub_import(&l->text, f->low))
		return;
	len = MIN(len, f->high - f->low);
	for (size_t i = 0; i + 7 <= len; i++)
		look_at(l, f, p + i, f->low + i);
	if (len >= 5 && (p[len - 5] == 0xe8 || p[len - 5] == 0xe9)) /* its last instruction */
		look_at(l, f, p + len - 5, f->low + len - 5);
}

/* ---- parts ---- */

/* Where calls lead to. */
static void find_called(const struct landmarks *l, struct map *ret)
{
	for (size_t i = 0; i < l->all.len; i++)
		if (l->all.data[i].kind == LANDMARK_CALL && !l->all.data[i].jump)
			map_put(ret, l->all.data[i].target, 1);
	map_put(ret, l->main, 1);
}

/* A jump from function `from` to `to`: a part of it, if nobody calls that. */
static void add_part(struct landmarks *l, const struct map *called, size_t from, uint64_t to)
{
	size_t n = vec_upper(&l->text.functions, low, to);
	const struct text_range *f = n ? &l->text.functions.data[n - 1] : NULL;

	if (f && to < f->high && n - 1 != from && l->owners.data[n - 1] == f->low &&
	    !map_find(called, f->low))
		l->owners.data[n - 1] = l->text.functions.data[from].low;
}

/* Compilers put code that is seldom run far away, with unwind entries of its own: nobody calls it, and one function
 * jumps to it. */
static void find_parts(struct landmarks *l)
{
	struct map called = { 0 };

	find_called(l, &called);
	for (size_t i = 0; i < l->text.functions.len; i++)
		vec_push(&l->owners, l->text.functions.data[i].low);
	for (size_t i = 0; i < l->text.functions.len; i++) {
		const struct text_range *f = &l->text.functions.data[i];
		size_t len;
		const uint8_t *p = text_bytes(&l->text, f->low, &len);

		len = p ? MIN(len, f->high - f->low) : 0;
		for (size_t k = 0; k + 6 <= len; k++) /* jumps with a condition */
			if (p[k] == 0x0f && p[k + 1] >= 0x80 && p[k + 1] <= 0x8f)
				add_part(l, &called, i,
					 f->low + k + 6 +
						 (uint64_t)(int64_t)distance_at(p + k + 2));
	}
	map_deinit(&called);
}

/* _start hands main's address to libc: lea d(%rip), %rdi, or mov $d, %rdi. */
static uint64_t find_main(const struct text *t)
{
	size_t len;
	const uint8_t *p = text_bytes(t, t->entry, &len);

	for (size_t i = 0; p && i + 7 <= MIN(len, (size_t)ENTRY_BYTES); i++) {
		uint64_t to = 0;

		if (!memcmp(p + i, "\x48\x8d\x3d", 3))
			to = t->entry + i + 7 + (uint64_t)(int64_t)distance_at(p + i + 3);
		else if (!memcmp(p + i, "\x48\xc7\xc7", 3))
			to = (uint32_t)distance_at(p + i + 3);
		if (to && is_beginning(t, to))
			return to;
	}
	return 0;
}

static int by_address(const void *a, const void *b)
{
	const struct landmark *x = a, *y = b;

	return (x->address > y->address) - (x->address < y->address);
}

struct err *landmarks_open(const char *path, struct landmarks *ret)
{
	struct err *err;

	*ret = (struct landmarks){ 0 };
	err = text_open(path, &ret->text);
	if (err)
		return err;
	ret->main = find_main(&ret->text);
	for (size_t i = 0; i < ret->text.functions.len; i++)
		look_through(ret, &ret->text.functions.data[i]);
	vec_sort(&ret->all, by_address);
	find_parts(ret);
	ret->start = landmarks_function(ret, ret->text.entry);
	return NULL;
}

void landmarks_close(struct landmarks *l)
{
	text_close(&l->text);
	vec_deinit(&l->all);
	vec_deinit(&l->owners);
}

uint64_t landmarks_function(const struct landmarks *l, uint64_t address)
{
	const struct text_range *f = text_function(&l->text, address);

	return f ? l->owners.data[f - l->text.functions.data] : 0;
}

const struct landmark *landmarks_call_before(const struct landmarks *l, uint64_t address)
{
	size_t at = vec_upper(&l->all, address, address);

	for (; at && l->all.data[at - 1].address == address; at--)
		if (l->all.data[at - 1].kind != LANDMARK_TEXT && !l->all.data[at - 1].jump)
			return &l->all.data[at - 1];
	return NULL;
}
