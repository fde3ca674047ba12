/* synth/likeness.c - see likeness.h. */
#include "synth/likeness.h"

#include <math.h>
#include <string.h>

enum {
	INLINED_MOST = 4, /* calls inside calls that one function of the binary may hold */
	MARKS_MOST = 4000,
	NEAR = 8,	/* features on each side of an instruction */
	LOOK_MOST = 64, /* landmarks that are looked at for them */
	AROUND = 24,	/* and of an operation */
	TEXT_LEAST = 2	/* characters; shorter ones are everywhere */
};

/* ---- features ---- */

/* What compilers and headers make of one call. */
static const char *const alike[][8] = {
	{ "printf", "puts", "putchar", "vprintf" },
	{ "fprintf", "fputs", "fputc", "fwrite", "putc", "IO_putc", "vfprintf" },
	{ "getc", "getchar", "fgetc", "IO_getc" },
	{ "snprintf", "vsnprintf", "sprintf", "vsprintf" },
	{ "exit", "sym_exit" },
	{ "strlen", "sym_strlen" },
	{ "sigsetjmp", "setjmp" },
};
/* What they do themselves where they can. */
static const char *const foldable[] = { "memcpy", "memmove", "memset",	"memcmp", "strlen",
					"strcpy", "stpcpy",  "strcmp",	"strchr", "strncmp",
					"strcat", "abs",     "mempcpy", "strrchr" };

static void normal_import(const char *name, char *ret, size_t room)
{
	size_t n;

	while (*name == '_')
		name++;
	if (!strncmp(name, "isoc99_", 7) || !strncmp(name, "isoc23_", 7))
		name += 7;
	n = strlen(name);
	if (n > 4 && !strcmp(name + n - 4, "_chk"))
		n -= 4;
	n = MIN(n, room - 1);
	memcpy(ret, name, n);
	ret[n] = '\0';
	for (size_t i = 0; i < ARRAY_SIZE(alike); i++)
		for (size_t k = 1; k < ARRAY_SIZE(alike[i]) && alike[i][k]; k++)
			if (!strcmp(ret, alike[i][k]))
				memcpy(ret, alike[i][0], strlen(alike[i][0]) + 1);
}

bool same_import(const char *a, const char *b)
{
	char x[128], y[128];

	normal_import(a, x, sizeof(x));
	normal_import(b, y, sizeof(y));
	return !strcmp(x, y);
}

/* printf("text\n") becomes puts("text"). */
static bool normal_text(const char *text, char *ret, size_t room)
{
	size_t n = strlen(text);

	n -= n && text[n - 1] == '\n';
	if (n < TEXT_LEAST || n + 2 > room)
		return false;
	ret[0] = '"';
	memcpy(ret + 1, text, n);
	ret[n + 1] = '\0';
	return true;
}

static bool feature_name(bool import, const char *text, char *ret, size_t room)
{
	if (!import)
		return normal_text(text, ret, room);
	normal_import(text, ret, room);
	return true;
}

static bool is_foldable(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(foldable); i++)
		if (!strcmp(name, foldable[i]))
			return true;
	return false;
}

static uint32_t intern_feature(struct likeness *l, const struct sym_mark *m)
{
	char name[1024];
	uint32_t f;

	if ((m->kind != SYM_MARK_IMPORT && m->kind != SYM_MARK_TEXT) ||
	    !feature_name(m->kind == SYM_MARK_IMPORT, m->text, name, sizeof(name)))
		return NAMES_NONE;
	f = names_intern(&l->features, name);
	if (f == l->weights.len) {
		vec_push(&l->weights, 0.0);
		vec_push(&l->stamps, 0u);
	}
	l->weights.data[f] += 1;
	return f;
}

static void read_program(struct likeness *l)
{
	l->of_program = xcalloc(l->program.len + 1, sizeof(*l->of_program));
	for (size_t i = 0; i < l->program.len; i++) {
		const struct sym_sketch *k = &l->program.data[i];

		l->of_program[i] = xcalloc(k->marks.len + 1, sizeof(uint32_t));
		for (size_t n = 0; n < k->marks.len; n++)
			l->of_program[i][n] = intern_feature(l, &k->marks.data[n]);
		vec_push(&l->looked, 0u);
	}
	for (size_t i = 0; i < l->weights.len; i++)
		l->weights.data[i] =
			is_foldable(l->features.text[i])
				? 0.2
				: log2(1 + (double)l->program.len / l->weights.data[i]);
}

static void read_binary(struct likeness *l)
{
	char name[1024];

	l->of_binary = xcalloc(l->binary->all.len + 1, sizeof(*l->of_binary));
	for (size_t i = 0; i < l->binary->all.len; i++) {
		const struct landmark *m = &l->binary->all.data[i];

		l->of_binary[i] = NAMES_NONE;
		if (m->kind != LANDMARK_CALL &&
		    feature_name(m->kind == LANDMARK_IMPORT, m->text, name, sizeof(name)))
			l->of_binary[i] = names_find(&l->features, name);
	}
}

void likeness_init(struct likeness *l, const struct landmarks *binary, struct sym_program *p)
{
	*l = (struct likeness){ .binary = binary };
	sym_sketches_init(&l->program, p);
	read_program(l);
	read_binary(l);
}

void likeness_deinit(struct likeness *l)
{
	for (size_t i = 0; i < l->program.len; i++)
		free(l->of_program[i]);
	free(l->of_program);
	free(l->of_binary);
	sym_sketches_deinit(&l->program);
	names_deinit(&l->features);
	vec_deinit(&l->weights);
	vec_deinit(&l->stamps);
	vec_deinit(&l->looked);
}

/* ---- whole functions ---- */

/* Stamp the features of f and of what it calls. */
static void stamp_closure(struct likeness *l, uint32_t f, unsigned depth, unsigned *left)
{
	const struct sym_sketch *k = &l->program.data[f];

	if (l->looked.data[f] == l->stamp)
		return;
	l->looked.data[f] = l->stamp;
	for (size_t i = 0; i < k->marks.len && *left; i++, --*left) {
		uint32_t x = l->of_program[f][i];

		if (x != NAMES_NONE)
			l->stamps.data[x] = l->stamp;
		else if (k->marks.data[i].kind == SYM_MARK_CALL && depth)
			stamp_closure(l, k->marks.data[i].callee, depth - 1, left);
	}
}

/* One part of the binary's function: what both have, and what the program's function lacks. */
static void compare_part(struct likeness *l, const struct text_range *part, double *both,
			 double *lacks)
{
	size_t i = vec_upper(&l->binary->all, address, part->low);

	for (; i < l->binary->all.len && l->binary->all.data[i].address <= part->high; i++) {
		uint32_t x = l->of_binary[i];

		if (x == NAMES_NONE)
			continue;
		*(l->stamps.data[x] >= l->stamp ? both : lacks) += l->weights.data[x];
		if (l->stamps.data[x] == l->stamp)
			l->stamps.data[x]++; /* the binary has it, too */
	}
}

double likeness_of(struct likeness *l, uint64_t code, uint32_t f)
{
	const struct sym_sketch *k = &l->program.data[f];
	double both = 0, binary = 0, program = 0;
	unsigned left = MARKS_MOST;

	l->stamp++;
	stamp_closure(l, f, INLINED_MOST, &left);
	for (size_t i = 0; i < l->binary->owners.len; i++)
		if (l->binary->owners.data[i] == code)
			compare_part(l, &l->binary->text.functions.data[i], &both, &binary);
	for (size_t i = 0; i < k->marks.len; i++) {
		uint32_t x = l->of_program[f][i];

		if (x != NAMES_NONE && l->stamps.data[x] == l->stamp)
			program += l->weights.data[x];
	}
	l->stamp++;
	return (both - binary - program) / (1 + both + binary + program);
}

static void stamp_part(struct likeness *l, const struct text_range *part)
{
	size_t i = vec_upper(&l->binary->all, address, part->low);

	for (; i < l->binary->all.len && l->binary->all.data[i].address <= part->high; i++)
		if (l->of_binary[i] != NAMES_NONE)
			l->stamps.data[l->of_binary[i]] = l->stamp;
}

double likeness_lacks(struct likeness *l, uint64_t code, uint32_t f)
{
	const struct sym_sketch *k = &l->program.data[f];
	double lacks = 0, all = 1;

	l->stamp++;
	for (size_t i = 0; i < l->binary->owners.len; i++)
		if (l->binary->owners.data[i] == code)
			stamp_part(l, &l->binary->text.functions.data[i]);
	for (size_t i = 0; i < k->marks.len; i++) {
		uint32_t x = l->of_program[f][i];

		if (x == NAMES_NONE)
			continue;
		all += l->weights.data[x];
		if (l->stamps.data[x] != l->stamp)
			lacks += l->weights.data[x];
	}
	return lacks / all;
}

/* ---- around an instruction ---- */

struct around {
	uint32_t x[AROUND];
	unsigned n;
};

/* The marks of f before (or from) pc, nearest first; those of inlined callees among them. */
static void gather(const struct likeness *l, uint32_t f, uint32_t pc, bool before, unsigned depth,
		   struct around *ret)
{
	const struct sym_sketch *k = &l->program.data[f];

	for (size_t n = 0; n < k->marks.len && ret->n < AROUND; n++) {
		const struct sym_mark *m = &k->marks.data[before ? k->marks.len - 1 - n : n];
		uint32_t x;

		if (before ? m->pc > pc : m->pc < pc)
			continue;
		x = l->of_program[f][m - k->marks.data];
		if (x != NAMES_NONE)
			ret->x[ret->n++] = x;
		else if (m->kind == SYM_MARK_CALL && depth && m->pc != pc)
			gather(l, m->callee, before ? UINT32_MAX : 0, before, depth - 1, ret);
	}
}

static double position(const struct around *a, uint32_t x)
{
	for (unsigned i = 0; i < a->n; i++)
		if (a->x[i] == x)
			return 1 / (1 + 0.25 * i);
	return 0;
}

/* The features of the binary at one side of an instruction, nearest first; of a function of its own that is called, what
 * lies in there. */
static void gather_binary(const struct likeness *l, size_t at, bool before, uint64_t code,
			  unsigned depth, struct around *ret)
{
	const struct landmarks *b = l->binary;

	for (size_t n = 0;
	     ret->n < NEAR && n < LOOK_MOST && (before ? n < at : at + n < b->all.len); n++) {
		size_t i = before ? at - 1 - n : at + n;
		const struct landmark *m = &b->all.data[i];
		const struct text_range *callee;

		if (landmarks_function(b, m->address - 1) != code)
			return;
		if (l->of_binary[i] != NAMES_NONE)
			ret->x[ret->n++] = l->of_binary[i];
		if (m->kind != LANDMARK_CALL || !depth)
			continue;
		callee = text_function(&b->text, m->target);
		if (callee)
			gather_binary(
				l, vec_upper(&b->all, address, before ? callee->high : callee->low),
				before, landmarks_function(b, m->target), depth - 1, ret);
	}
}

/* Features on one side of the instruction, against both sides of the operation. */
static void compare_side(const struct likeness *l, uint64_t address, bool before,
			 const struct around *same, const struct around *other, double *sum,
			 double *all)
{
	struct around here = { 0 };

	gather_binary(l, vec_upper(&l->binary->all, address, address - before), before,
		      landmarks_function(l->binary, address - 1), 1, &here);
	for (unsigned i = 0; i < here.n; i++) {
		double weight = l->weights.data[here.x[i]] / (1 + 0.5 * i);

		*sum += weight * MAX(position(same, here.x[i]), 0.4 * position(other, here.x[i]));
		*all += weight;
	}
}

double likeness_nearby(struct likeness *l, uint64_t address, const struct way *w, size_t from)
{
	struct around before = { 0 }, after = { 0 };
	double sum = 0, all = 0.01;

	for (size_t i = w->len; i-- > from;) {
		const struct sym_place *p = &w->data[i];
		bool anywhere = p->pc == UINT32_MAX;

		gather(l, p->function, p->pc, true, 2, &before);
		gather(l, p->function, anywhere ? 0 : p->pc, false, 2, &after);
	}
	compare_side(l, address, true, &before, &after, &sum, &all);
	compare_side(l, address, false, &after, &before, &sum, &all);
	return sum / all;
}
