/* rewind/ask.c - see ask.h: the state at a line, and the writer of a place.
 *
 * Both questions are put to every suffix that is left. For the state we look for the first instruction of the line, as a
 * debugger's breakpoint would, and show the last time it was reached. For the writer we go back from the dump to the first
 * write that overlaps the place; what the place is follows from the variables as they are in the dump. Equal answers of
 * several suffixes are one. */
#include "rewind/ask-state.h"

#include "base/err.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "debug/heap.h"
#include "rewind/moment.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *ask_verdict_name(enum ask_verdict v)
{
	static const char *const names[] = { "unknown", "none", "some", "all" };

	return names[v];
}

void answers_deinit(struct answers *a)
{
	for (size_t i = 0; i < a->len; i++) {
		struct answer *x = &a->data[i];

		for (size_t k = 0; k < x->found.len; k++) {
			free(x->found.data[k].text);
			free(x->found.data[k].call);
			free(x->found.data[k].thread);
			locals_deinit(&x->found.data[k].values);
		}
		vec_deinit(&x->found);
		free(x->text);
		free(x->why);
	}
	vec_deinit(a);
}

/* ---- lines ---- */

bool ask_line_begins(struct rewind *r, const struct ask_place *p, struct addresses *ret, char **why)
{
	bool has_file = false;
	unsigned next = 0, found;

	for (size_t i = 0; i < r->dump.modules.len; i++) {
		const struct dump_module *d = &r->dump.modules.data[i];
		size_t first = ret->len;
		struct module *m;
		struct err *err = modules_get(r->names.modules, d->path, d->build_id, &m);

		if (!err && module_line_begins(m, p->file, p->line, ret, &found)) {
			has_file = true;
			if (found && (!next || found < next))
				next = found;
		}
		for (; first < ret->len; first++)
			ret->data[first] += d->bias;
		err_free(err);
	}
	if (ret->len)
		return true;
	if (!has_file)
		*why = xasprintf("no line of a file %s is known: is the program built with -g?",
				 p->file);
	else if (next)
		*why = xasprintf("%s:%u has no code; the next line that has some is %u", p->file,
				 p->line, next);
	else
		*why = xasprintf("%s has no code from line %u on", p->file, p->line);
	return false;
}

static bool begins_at(const struct addresses *a, uint64_t pc)
{
	for (size_t i = 0; i < a->len; i++)
		if (a->data[i] == pc)
			return true;
	return false;
}

bool ask_is_at(struct rewind *r, uint64_t pc, const struct ask_place *p)
{
	struct source_frames frames = { 0 };
	size_t n = strlen(p->file);
	bool at = false;

	dump_names_frames(&r->names, pc, &frames);
	for (size_t i = 0; i < frames.len && !at; i++) {
		const char *file = frames.data[i].file;
		size_t len = file ? strlen(file) : 0;

		at = len >= n && frames.data[i].line == p->line &&
		     strcmp(file + len - n, p->file) == 0 && (len == n || file[len - n - 1] == '/');
	}
	vec_deinit(&frames);
	return at;
}

/* ---- suffixes ---- */

/* The steps of a suffix, the last one before the dump first; how many. The caller frees them. */
static size_t steps_of(const struct node *leaf, const struct node ***ret)
{
	VEC(const struct node *) all = { 0 };

	for (const struct node *n = leaf; n->parent; n = n->parent)
		if (n->step.npieces)
			vec_push(&all, n);
	for (size_t i = 0; i < all.len / 2; i++) {
		const struct node *k = all.data[i];

		all.data[i] = all.data[all.len - 1 - i];
		all.data[all.len - 1 - i] = k;
	}
	*ret = all.data;
	return all.len;
}

static void judge(struct rewind *r, struct answer *a, size_t leaves)
{
	a->total = (uint32_t)leaves;
	for (size_t i = 0; i < a->found.len; i++)
		a->yes += a->found.data[i].suffixes;
	if (a->verdict != ASK_UNKNOWN || !leaves)
		return;
	a->verdict = a->yes == a->total ? ASK_ALL : a->yes ? ASK_SOME : ASK_NONE;
	if (!a->why && (r->tree.cut || tree_alive(&r->tree) > ASK_LEAVES))
		a->why = xstrdup("there were more ways than could be followed");
}

/* ---- state ---- */

static char *join_values(const struct locals *l)
{
	struct strbuf sb = { 0 };

	for (size_t i = 0; i < l->len; i++)
		strbuf_addf(&sb, "%s%s = %s", i ? ", " : "", l->data[i].name, l->data[i].text);
	return strbuf_detach(&sb);
}

/* Adopts the values. */
static void add_state(struct answer *a, struct ask_found f)
{
	f.text = join_values(&f.values);
	f.suffixes = 1;
	for (size_t i = 0; i < a->found.len; i++) {
		struct ask_found *k = &a->found.data[i];

		if (k->insn == f.insn && k->visits == f.visits && strcmp(k->text, f.text) == 0) {
			k->suffixes++;
			free(f.text);
			locals_deinit(&f.values);
			return;
		}
	}
	vec_push(&a->found, f);
}

/* What the instructions of a step read and wrote from `order` on, as long as they are on the line. */
static void add_accesses(struct rewind *r, const struct node *leaf, const struct step *s,
			 uint32_t order, const struct ask_place *p, struct locals *ret)
{
	enum { MOST = 8 };
	size_t first = ret->len;

	for (uint32_t i = 0; i < s->naccesses && ret->len < first + MOST; i++) {
		const struct access *k = &s->accesses[i];
		struct strbuf name = { 0 };
		uint64_t at, v;
		bool known;

		if (k->order < order || !k->w || k->w > 64)
			continue;
		if (!ask_is_at(r, k->insn, p))
			break;
		if (!past_value(&r->h, leaf->past, k->address, &at) ||
		    !dump_names_global(&r->names, at, &v, &v))
			continue;
		known = past_value(&r->h, leaf->past, k->value, &v);
		strbuf_adds(&name, k->is_write ? "written " : "read ");
		dump_names_add_object(&r->names, at, &name);
		vec_push(ret,
			 ((struct local){
				 .name = strbuf_detach(&name),
				 .text = known ? xasprintf(v < 4096 ? "%" PRIu64 : "0x%" PRIx64, v)
					       : xstrdup("?"),
				 .known = known }));
	}
}

static void show_moment(struct rewind *r, const struct past *p, size_t frame, struct locals *ret)
{
	struct moment *m = xmalloc(sizeof(*m));

	moment_init(m, r, p);
	if (frame < m->n)
		scope_locals(&m->scopes[frame], ret);
	free(m);
}

/* The last time that control came to the line in this suffix. False: it did not. */
static bool find_visit(struct rewind *r, const struct node *leaf, const struct addresses *begins,
		       const struct ask_place *place, struct ask_found *ret)
{
	const struct node **steps;
	size_t n = steps_of(leaf, &steps);
	const struct step *last = NULL;
	uint32_t order = 0;

	*ret = (struct ask_found){ 0 };
	for (size_t i = n; i-- > 0;) { /* oldest first */
		const struct step *s = &steps[i]->step;
		uint32_t at = 0;

		for (uint32_t k = 0; k < s->npieces; k++)
			for (uint32_t j = 0; j < s->pieces[k].n; j++, at++) {
				const struct piece *p = &s->pieces[k];
				uint64_t pc = p->function->insns.data[p->first + j].address;

				if (!begins_at(begins, pc))
					continue;
				ret->visits++;
				ret->insn = pc;
				last = s;
				order = at;
			}
	}
	if (last) {
		show_moment(r, step_inside(&r->h, leaf->past, last, order), 0, &ret->values);
		add_accesses(r, leaf, last, order, place, &ret->values);
	}
	free(steps);
	return last != NULL;
}

/* Is the dump itself at the line, in one of its frames? */
static bool is_there_now(struct rewind *r, const struct ask_place *p, struct ask_found *ret)
{
	struct moment *m = xmalloc(sizeof(*m));
	bool there = false;

	moment_init(m, r, r->start);
	for (size_t i = 0; i < m->n && !there; i++)
		if (ask_is_at(r, m->frames[i].pc - (i > 0), p)) {
			there = true;
			*ret = (struct ask_found){ .insn = m->frames[i].pc - (i > 0) };
			scope_locals(&m->scopes[i], &ret->values);
		}
	free(m);
	return there;
}

static struct err *ask_state(struct rewind *r, struct answer *a)
{
	const struct ask_place *p = &a->question.from;
	struct addresses begins = { 0 };
	struct node *leaves[ASK_LEAVES];
	size_t n = tree_leaves(&r->tree, leaves, ASK_LEAVES);
	struct ask_found now, f;

	if (ask_line_begins(r, p, &begins, &a->why)) {
		for (size_t i = 0; i < n; i++)
			if (find_visit(r, leaves[i], &begins, p, &f))
				add_state(a, f);
		if (!a->found.len && n && is_there_now(r, p, &now)) {
			add_state(a, now);
			a->found.data[0].suffixes = (uint32_t)n;
		}
		judge(r, a, n);
	}
	vec_deinit(&begins);
	return NULL;
}

/* ---- writers ---- */

enum hit { HIT_NONE, HIT_WRITE, HIT_UNKNOWN, HIT_THREADS };

struct writer {
	enum hit hit;
	const struct node *node;
	uint64_t insn;
	const char *call; /* that wrote; NULL = an instruction */
	bool may;	  /* it was allowed to, nobody knows how much it wrote */
	bool has_value, has_before;
	uint64_t value, before;
	const char *why; /* HIT_UNKNOWN */
};

/* How many bytes it says that it wrote, and did it write all of them? */
static bool is_partial(const struct effect *e)
{
	return !e || e->kind == EFFECT_WRITES || e->kind == EFFECT_SCANS ||
	       e->kind == EFFECT_SORTS || e->kind == EFFECT_RESIZES || e->kind == EFFECT_FREES ||
	       e->kind == EFFECT_ALLOCATES || e->kind == EFFECT_LINES || e->kind == EFFECT_WIDE ||
	       e->kind == EFFECT_CUTS;
}

static bool wrote_by_call(struct rewind *r, const struct node *leaf, const struct step *s,
			  const struct access *k, const struct ask_target *t, struct writer *w)
{
	const struct effect *e = step_effect(s, k->insn);
	uint64_t at, len;

	if (!past_value(&r->h, leaf->past, k->address, &at) ||
	    !past_value(&r->h, leaf->past, k->value, &len))
		return false;
	if (!k->is_write && (!e || e->kind != EFFECT_ZEROES))
		len = 16; /* what the heap keeps in a free block */
	if (!ask_overlaps(t, at, len))
		return false;
	w->hit = HIT_WRITE;
	w->insn = k->insn;
	w->call = e ? e->function : "a call";
	w->may = is_partial(e);
	return true;
}

static bool wrote(struct rewind *r, const struct node *leaf, const struct access *k,
		  const struct ask_target *t, struct writer *w)
{
	uint64_t at;

	if (!past_value(&r->h, leaf->past, k->address, &at)) {
		w->hit = HIT_UNKNOWN;
		w->insn = k->insn;
		w->why = "a later write goes to an address that is not known";
		return true;
	}
	if (!ask_overlaps(t, at, k->w / 8))
		return false;
	w->hit = HIT_WRITE;
	w->insn = k->insn;
	w->has_value = k->w <= 64 && past_value(&r->h, leaf->past, k->value, &w->value);
	w->has_before =
		k->before && k->w <= 64 && past_value(&r->h, leaf->past, k->before, &w->before);
	return true;
}

static bool is_forgotten(const struct past *p, uint64_t at)
{
	enum { DEEPEST_CALL = 1 << 17 };

	return (at < p->floor && at >= p->floor - DEEPEST_CALL) ||
	       (at >= p->gap_low && at < p->gap_high);
}

/* A call that is not followed may have written there, or given time to other threads. */
static bool lost_in_call(struct rewind *r, const struct step *s, const struct ask_target *t,
			 bool shared, struct writer *w)
{
	struct heap_chunk chunk;

	for (uint32_t i = s->npieces; i-- > 0;) {
		const struct piece *p = &s->pieces[i];

		if (p->way != WAY_SKIPPED)
			continue;
		if (shared && p->effect->kind == EFFECT_THREADS) {
			w->hit = HIT_THREADS;
			return true;
		}
		if ((is_forgotten(s->before, t->address) && !is_forgotten(s->after, t->address)) ||
		    (p->effect->kind == EFFECT_FREES && s->guessed &&
		     heap_chunk_at(&r->dump, t->address, &chunk) && chunk.state == HEAP_FREE)) {
			w->hit = HIT_UNKNOWN;
			w->why = "a call that is not followed may have written it later";
			return true;
		}
	}
	return false;
}

static void find_writer(struct rewind *r, const struct node *leaf, const struct ask_target *t,
			bool shared, struct writer *w)
{
	const struct node **steps;
	size_t n = steps_of(leaf, &steps);

	*w = (struct writer){ 0 };
	for (size_t i = 0; i < n && !w->hit; i++) {
		const struct step *s = &steps[i]->step;

		w->node = steps[i];
		for (uint32_t k = s->naccesses; k-- > 0 && !w->hit;) {
			const struct access *a = &s->accesses[k];

			if (!a->w)
				wrote_by_call(r, leaf, s, a, t, w);
			else if (a->is_write)
				wrote(r, leaf, a, t, w);
		}
		if (!w->hit)
			lost_in_call(r, s, t, shared, w);
	}
	free(steps);
}

static void add_writer(struct rewind *r, struct answer *a, const struct writer *w)
{
	struct strbuf sb = { 0 };

	for (size_t i = 0; i < a->found.len; i++)
		if (a->found.data[i].insn == w->insn) {
			a->found.data[i].suffixes++;
			return;
		}
	if (w->call)
		strbuf_addf(&sb, "%s by %s", w->may ? "perhaps written" : "written", w->call);
	else if (w->has_value)
		strbuf_addf(&sb, w->value < 4096 ? "set to %" PRIu64 : "set to 0x%" PRIx64,
			    w->value);
	else
		strbuf_adds(&sb, "written");
	if (w->has_before)
		strbuf_addf(&sb, w->before < 4096 ? ", before: %" PRIu64 : ", before: 0x%" PRIx64,
			    w->before);
	strbuf_adds(&sb, ", at ");
	dump_names_add_place(&r->names, w->insn, &sb);
	vec_push(&a->found, ((struct ask_found){ .suffixes = 1,
						 .insn = w->insn,
						 .text = strbuf_detach(&sb),
						 .call = w->call ? xstrdup(w->call) : NULL }));
}

/* "4 bytes at 0x5581..." or "0x5581...": memory without a name. */
static bool raw_target(const char *text, struct ask_target *ret)
{
	int used = 0;

	ret->size = 8;
	if (sscanf(text, "%" SCNu64 " bytes at %" SCNi64 "%n", &ret->size, &ret->address, &used) ==
		    2 &&
	    !text[used] && ret->size && ret->size <= 1 << 20)
		return true;
	ret->size = 8;
	used = 0;
	return strncmp(text, "0x", 2) == 0 &&
	       sscanf(text, "%" SCNx64 "%n", &ret->address, &used) == 1 && !text[used];
}

/* What the expression is in the dump. False: the answer says why that is not known. */
static bool find_target(struct rewind *r, struct answer *a, struct ask_target *ret)
{
	struct moment *m;
	struct moment_value v;
	struct err *err;

	if (raw_target(a->question.expression, ret))
		return true;
	m = xmalloc(sizeof(*m));
	moment_init(m, r, r->start);
	err = moment_evaluate(m, a->question.expression, &v);
	free(m);
	if (err)
		a->why = xstrdup(err_message(err));
	else if (*v.unknown)
		a->why = xasprintf("where %s is cannot be told at the dump", v.unknown);
	else if (!v.is_place)
		a->why = xstrdup("it has no address: it is in a register, or computed");
	else if (!v.known)
		a->why = xstrdup("a pointer in it leads to memory that the dump does not have");
	else if (!v.size)
		a->why = xstrdup("its size is not known");
	err_free(err);
	*ret = (struct ask_target){ v.address, v.size };
	return !a->why;
}

static bool is_shared(struct rewind *r, const struct ask_target *t)
{
	for (uint64_t i = 0; i < t->size && i < 1 << 20; i++)
		if (map_find(&r->h.shared, t->address + i))
			return true;
	return false;
}

static bool has_live_others(const struct rewind *r)
{
	for (size_t i = 0; i < r->threads.mates.len; i++)
		if (r->threads.mates.data[i].thread != MATE_ENDED)
			return true;
	return r->dump.threads.len > 1;
}

static struct err *ask_writer(struct rewind *r, struct answer *a)
{
	struct node *leaves[ASK_LEAVES];
	size_t n = tree_leaves(&r->tree, leaves, ASK_LEAVES), unknown = 0, threads = 0;
	struct ask_target t;
	bool shared;

	if (!find_target(r, a, &t))
		return NULL;
	shared = is_shared(r, &t);
	if (shared && r->threads.found && r->threads.complete && r->threads.is_main &&
	    !ask_threads_wrote(r, &t))
		shared = false; /* it may have been, but the threads did not do it */
	if (shared && has_live_others(r))
		return ask_writer_of_threads(r, &t, a);
	for (size_t i = 0; i < n; i++) {
		struct writer w;

		find_writer(r, leaves[i], &t, shared, &w);
		if (w.hit == HIT_WRITE) {
			add_writer(r, a, &w);
		} else if (w.hit == HIT_THREADS) {
			threads++;
		} else if (w.hit == HIT_UNKNOWN) {
			unknown++;
			if (!a->why)
				a->why = xstrdup(w.why);
		}
	}
	if (threads == n && n)
		return ask_writer_of_threads(r, &t, a);
	judge(r, a, n);
	if (unknown + threads && a->verdict == ASK_NONE)
		a->verdict = ASK_UNKNOWN;
	if (!a->why && r->threads.mates.len && !r->threads.complete)
		a->why = xstrdup("what other threads wrote is not known completely");
	return NULL;
}

/* ---- all questions ---- */

/* "yes, in 2 of 5 suffixes" */
static void say(struct rewind *r, struct answer *a)
{
	static const char *const positive[] = {
		[ASK_STATE] = "control passed there", [ASK_WRITER] = "it was written"
	};
	struct strbuf sb = { 0 };

	if (a->text)
		return;
	switch (a->verdict) {
	case ASK_ALL:
		strbuf_addf(&sb,
			    a->total == 1 ? "%s in the one suffix that is left"
					  : "%s in all %u suffixes",
			    positive[a->question.kind], a->total);
		break;
	case ASK_SOME:
		strbuf_addf(&sb, "%s in %u of %u suffixes", positive[a->question.kind], a->yes,
			    a->total);
		break;
	case ASK_NONE:
		strbuf_addf(&sb,
			    "%s in none of %u suffixes, which go back %u blocks at most; "
			    "before that is not known",
			    positive[a->question.kind], a->total, r->tree.reached);
		break;
	default:
		strbuf_adds(&sb, "not known");
	}
	a->text = strbuf_detach(&sb);
}

struct err *ask(struct rewind *r, const struct question *q, struct answer *ret)
{
	struct err *err = NULL;

	*ret = (struct answer){ .question = *q };
	if (!r->best && q->kind != ASK_PREEMPTED)
		ret->why = xstrdup("every way to this dump contradicts it");
	else if (q->kind == ASK_STATE)
		err = ask_state(r, ret);
	else if (q->kind == ASK_WRITER)
		err = ask_writer(r, ret);
	else
		err = ask_preempted(r, ret);
	say(r, ret);
	return err;
}

bool ask_is_reached(struct rewind *r, const struct question *q)
{
	struct answer a = { .question = *q };
	struct addresses begins = { 0 };
	struct ask_found f = { 0 };
	struct ask_target t;
	struct writer w;
	bool reached = true;

	if (q->kind == ASK_STATE && ask_line_begins(r, &q->from, &begins, &a.why)) {
		reached = find_visit(r, r->best, &begins, &q->from, &f);
		locals_deinit(&f.values);
	} else if (q->kind == ASK_WRITER && find_target(r, &a, &t)) {
		find_writer(r, r->best, &t, is_shared(r, &t), &w);
		reached = w.hit != HIT_NONE;
	}
	vec_deinit(&begins);
	free(a.why);
	return reached;
}
