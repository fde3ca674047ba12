/* rewind/rewind.c - see rewind.h. */
#include "rewind/rewind.h"

#include "base/err.h"
#include "base/interrupt.h"
#include "base/log.h"
#include "base/mem.h"
#include "crumbs/crumbs.h"
#include "debug/heap.h"
#include "rewind/logged.h"
#include "rewind/objects.h"
#include "rewind/start.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	BLOCKS = 200,
	SECONDS = 20,
	WIDTH = 32,
	MOST_RUNS = 6,
	LARGEST_RUN = 1 << 30,
	MARGIN = 12,
	MOST_PLACES = 3
};

/* Of the time, for the walk that leaves out nothing. */
#define EXACT_SHARE 0.6

/* A dump of somebody else is data, never a program. */
static void may_it_run(struct rewind *r, const char *core)
{
	uint64_t bytes = 0;
	struct stat st;

	r->may_run = !r->o.no_run;
	r->may_not_run = "--no-run";
	if (r->dump.mini) {
		r->may_run = false;
		r->may_not_run = "a minidump has too little memory for that";
	}
	if (r->o.run || r->o.no_run || r->dump.mini)
		return;
	for (size_t i = 0; i < r->dump.segments.len; i++)
		bytes += r->dump.segments.data[i].there;
	if (bytes > LARGEST_RUN) {
		r->may_run = false;
		r->may_not_run =
			"the dump has more than 1 GB of memory; --run runs it all the same";
	}
	if (stat(core, &st) < 0 || st.st_uid != geteuid()) {
		r->may_run = false;
		r->may_not_run = "the dump belongs to another user; --run runs it all the same";
	}
}

static struct err *choose_thread(struct rewind *r)
{
	char *end;
	unsigned long n;

	if (!r->dump.threads.len)
		return err_new(ERR_ENV, "the dump has no threads: it is cut off or damaged");
	if (!r->o.thread)
		return NULL;
	n = strtoul(r->o.thread, &end, 10);
	if (*end || end == r->o.thread || n < 1 || n > r->dump.threads.len)
		return err_new(ERR_USAGE, "--thread: the dump has threads 1 to %zu",
			       r->dump.threads.len);
	r->thread = n - 1;
	return NULL;
}

struct err *rewind_open(const char *core, const struct rewind_options *o, struct rewind **ret)
{
	struct rewind *r = xcalloc(1, sizeof(*r));
	struct err *err;

	r->o = *o;
	r->walk_all = o->blocks != 0;
	r->o.blocks = o->blocks ? MIN(o->blocks, 100000u) : BLOCKS;
	r->o.seconds = o->seconds > 0 ? o->seconds : SECONDS;
	err = dump_open(core, &r->dump);
	r->code = code_new(&r->dump, o->tools);
	history_init(&r->h, &r->dump, r->code);
	r->names = (struct dump_names){ .dump = &r->dump, .modules = code_modules(r->code) };
	if (!err)
		err = choose_thread(r);
	if (!err && code_problem(r->code))
		err = err_new(ERR_ENV, "%s", code_problem(r->code));
	may_it_run(r, core);
	hardware_logged(&r->dump, o->crumbs, &r->hardware);
	if (err) {
		rewind_close(r);
		return err;
	}
	*ret = r;
	return NULL;
}

void rewind_close(struct rewind *r)
{
	if (!r)
		return;
	cause_deinit(&r->cause);
	for (size_t i = 0; i < r->other_causes.len; i++)
		cause_deinit(&r->other_causes.data[i]);
	vec_deinit(&r->other_causes);
	answers_deinit(&r->answers);
	threads_deinit(&r->threads);
	tree_deinit(&r->tree);
	history_deinit(&r->h);
	code_free(r->code);
	dump_close(&r->dump);
	free(r);
}

static bool is_confirmed(const struct confirmation *c)
{
	return c->verdict == CONFIRMED || c->verdict == CONFIRMED_BUT_GAPS;
}

/* Run the suffix from this node on. If that ends in the dump, it is the best one. */
static struct err *confirm_one(struct rewind *r, struct node *n)
{
	struct confirmation c;
	struct err *err = confirm_suffix(&r->h, n, r->thread, r->start, r->at_call, &c);

	if (err)
		return err;
	if (!r->tried++ || is_confirmed(&c))
		r->confirmed = c;
	if (is_confirmed(&c))
		r->best = n;
	return NULL;
}

/* The longest part of the suffix that ends in the dump, by halving; what is short enough nearly always does. */
static struct err *confirm_part(struct rewind *r, struct node *n)
{
	uint32_t good = 0, bad = n->depth;
	struct err *err = NULL;

	while (bad > good + 1 && r->tried < 2 * MOST_RUNS && !err && !history_over(&r->h)) {
		struct node *k = n;

		while (k->parent && (k->depth > (good + bad) / 2 || !k->past))
			k = k->parent;
		if (k->depth <= good) { /* there is only one long step in between */
			for (k = n; k->parent && k->depth >= bad; k = k->parent)
				;
			while (k->parent && !k->past)
				k = k->parent;
			if (k->depth <= good)
				break;
		}
		err = confirm_one(r, k);
		if (r->best == k && is_confirmed(&r->confirmed))
			good = k->depth;
		else
			bad = k->depth;
	}
	return err;
}

/* Run the best suffix; if that does not end in the dump, the next best ones; then parts of the best. */
static struct err *confirm(struct rewind *r)
{
	double start = clock_seconds();
	struct node *leaves[MOST_RUNS], *n = r->best;
	size_t nleaves = tree_leaves(&r->tree, leaves, MOST_RUNS);
	struct err *err = n->parent ? confirm_one(r, n) : NULL;

	for (size_t i = 0; i < nleaves && r->tried && r->tried < MOST_RUNS && !err; i++)
		if (leaves[i] != n && leaves[i]->parent && !is_confirmed(&r->confirmed) &&
		    !history_over(&r->h))
			err = confirm_one(r, leaves[i]);
	if (!err && !is_confirmed(&r->confirmed))
		err = confirm_part(r, n);
	r->confirm_seconds = clock_seconds() - start;
	return err;
}

/* Does the best suffix go back far enough for every question? Asked at 8 blocks, 16, 32 and so on: it takes time. */
static bool has_answers(struct rewind *r)
{
	if (r->o.nquestions && r->tree.reached < r->next_asked)
		return false;
	r->next_asked = MAX(2 * r->tree.reached, 8u);
	for (size_t i = 0; i < r->o.nquestions; i++)
		if (!ask_is_reached(r, &r->o.questions[i]))
			return false;
	return true;
}

/* Further back nothing can change what the best suffix says about the failing value, but for what a little
 * margin may bring: evidence for another way, or the beginning of a loop that ran over its array. */
static bool has_all(void *arg)
{
	struct rewind *r = arg;
	const struct cause *c = &r->cause;

	r->best = tree_best(&r->tree);
	if (!r->best)
		return false;
	if (!r->live) {
		cause_trace(r);
		if (!c->complete ||
		    (c->chain.len &&
		     r->tree.reached < c->chain.data[c->chain.len - 1].node->depth + MARGIN))
			return false;
	}
	return has_answers(r);
}

static struct err *answer_all(struct rewind *r)
{
	struct err *err = NULL;

	for (size_t i = 0; i < r->o.nquestions && !err; i++) {
		struct answer a;

		err = ask(r, &r->o.questions[i], &a);
		vec_push(&r->answers, a);
	}
	return err;
}

/* gcore and the like: no signal ended it, or one that only stops. */
static bool is_live(const struct dump *d)
{
	return !d->signal || d->signal == SIGSTOP || d->signal == SIGTSTP || d->signal == SIGTTIN ||
	       d->signal == SIGTTOU;
}

/* Branch records fix the way back. Those that do not lead to the dump, or contradict it, are of another moment or of
 * another run. */
static void grow(struct rewind *r, const struct suffix_options *o)
{
	const struct crumbs *c = r->o.crumbs;

	tree_init(&r->tree, &r->h, r->start);
	if (c && c->branches.len) {
		if (route_init(&r->route, r->code, c->branches.data, c->branches.len, r->start->pc,
			       r->at_call))
			tree_follow(&r->tree, &r->route);
		else
			r->route_problem = "they do not lead to the instruction that failed";
	}
	tree_grow(&r->tree, o);
	if (r->tree.route && !tree_best(&r->tree)) {
		r->route_problem = "they contradict the dump";
		tree_deinit(&r->tree);
		tree_init(&r->tree, &r->h, r->start);
		tree_grow(&r->tree, o);
	}
	if (r->route_problem)
		r->route.n = 0;
}

/* The chain ends with a place in memory that nobody in the suffix wrote: where the chain came to it, and what is there. */
static const struct link *unwritten_place(struct rewind *r, uint64_t *value)
{
	const struct cause *c = &r->cause;
	const struct link *last = c->chain.len ? vec_last(&c->chain) : NULL, *read;

	if (c->complete || c->chain.len < 2 || last->kind != LINK_BEFORE || !last->has_address)
		return NULL;
	read = last - 1;
	*value = read->value;
	return read->has_address && read->has_value && read->address == last->address &&
			       read->w == last->w && read->w <= 64
		       ? read
		       : NULL;
}

/* The last moment in the best suffix from which on it is known where the link's instruction read. */
static struct node *node_with_address(struct rewind *r, const struct link *l)
{
	struct node *found = NULL;

	for (struct node *n = r->best; n && n->parent; n = n->parent) {
		uint64_t at;

		for (uint32_t i = 0; n->past && i < l->node->step.naccesses; i++) {
			const struct access *a = &l->node->step.accesses[i];

			if (a->insn == l->insn && !a->is_write && a->w == l->w &&
			    past_value(&r->h, n->past, a->address, &at) && at == l->address)
				found = n;
		}
		if (n == l->node)
			return found || !l->searched ? found : n;
	}
	return l->node->parent ? found : r->tree.nodes.data[0];
}

/* The chain's read of a block that is free. */
static const struct link *freed_read(struct rewind *r, uint64_t *start)
{
	const struct cause *c = &r->cause;
	struct heap_chunk chunk;

	for (size_t i = 0; i < c->chain.len; i++)
		if (c->chain.data[i].kind == LINK_READ &&
		    heap_chunk_at(&r->dump, c->chain.data[i].address, &chunk) &&
		    chunk.state == HEAP_FREE) {
			*start = chunk.start;
			return &c->chain.data[i];
		}
	return NULL;
}

/* Is it known which call freed it? */
static bool has_free(void *arg)
{
	struct rewind *r = arg;
	const struct link *l;
	uint64_t start;

	r->best = tree_best(&r->tree);
	if (!r->best)
		return false;
	cause_trace(r);
	l = freed_read(r, &start);
	return l && object_freed_at(r, start, l);
}

/* A freed block was read, and the exact walk has not come to the call that freed it: look for that alone. */
static bool skim_free(struct rewind *r, struct suffix_options *o)
{
	const struct link *l;
	uint64_t start;
	struct node *n;
	bool (*enough)(void *) = o->enough;

	r->best = tree_best(&r->tree);
	l = r->best ? freed_read(r, &start) : NULL;
	n = l ? node_with_address(r, l) : NULL;
	if (!n)
		return false;
	o->blocks = n->depth + (uint32_t)r->o.blocks;
	r->h.deadline = o->deadline = work_seconds() + r->o.seconds * (1 - EXACT_SHARE);
	tree_skim(&r->tree, n, start, 64, 0);
	r->h.skim.block = start;
	o->enough = has_free;
	tree_grow(&r->tree, o);
	o->enough = enough;
	return has_free(r);
}

/* The exact walk has not come to the write: look for that alone, from where the value was read on. False: not found. */
static bool skim(struct rewind *r, struct suffix_options *o)
{
	double end = o->deadline + r->o.seconds - EXACT_SHARE * r->o.seconds;

	for (int i = 0; i < MOST_PLACES && !interrupted(); i++) {
		const struct link *l;
		uint64_t value;
		struct node *n;

		r->best = tree_best(&r->tree);
		if (!r->best)
			return false;
		cause_trace(r);
		if (i && r->cause.complete)
			return true;
		l = unwritten_place(r, &value);
		n = l ? node_with_address(r, l) : NULL;
		if (!n)
			return false;
		o->blocks = n->depth + (uint32_t)r->o.blocks;
		o->deadline = work_seconds() + (end - work_seconds()) / (MOST_PLACES - i);
		r->h.deadline = o->deadline;
		tree_skim(&r->tree, n, l->address, l->w, value & mask_of(l->w));
		tree_grow(&r->tree, o);
	}
	r->best = tree_best(&r->tree);
	if (r->best)
		cause_trace(r);
	return r->best && r->cause.complete;
}

static struct err *confirm_best(struct rewind *r)
{
	r->confirmed = (struct confirmation){ 0 };
	r->tried = 0;
	r->h.deadline = work_seconds() + MAX(r->o.seconds / 4, 1);
	return r->may_run && r->best && (!r->live || r->at_call) ? confirm(r) : NULL;
}

/* Only an answer that holds when it is run natively is one; else what the exact walk has found stays. */
static struct err *try_skim(struct rewind *r, struct suffix_options *o)
{
	struct tree_state before;
	struct err *err = NULL;
	uint64_t start;
	bool found, freed = freed_read(r, &start) != NULL;

	tree_save(&r->tree, &before);
	found = freed ? skim_free(r, o) : skim(r, o);
	if (found) {
		err = confirm_best(r);
		cause_trace(r);
		found = (freed ? has_free(r) : r->cause.complete) && is_confirmed(&r->confirmed);
	}
	if (!found)
		tree_restore(&r->tree, &before);
	tree_state_deinit(&before);
	r->best = tree_best(&r->tree);
	r->confirmed = (struct confirmation){ 0 };
	return err;
}

struct err *rewind_work(struct rewind *r)
{
	double start = clock_seconds(), cpu = work_seconds(), share;
	struct suffix_options o = { .blocks = (uint32_t)r->o.blocks,
				    .width = WIDTH,
				    .deadline = cpu + r->o.seconds };
	bool can_skim;
	struct err *err = NULL;

	r->h.deadline = o.deadline;
	threads_prepare(r, cpu + r->o.seconds / 2);
	r->live = is_live(&r->dump);
	r->start = start_of(&r->h, &r->names, r->thread, r->live, &r->at_call);
	threads_limit(r, &o);
	if (!r->walk_all && !r->threads.mates.len) {
		o.enough = has_all;
		o.arg = r;
	}
	can_skim = o.enough && !r->live && !r->o.nquestions && r->may_run;
	if (can_skim)
		r->h.deadline = o.deadline = cpu + r->o.seconds * EXACT_SHARE;
	grow(r, &o);
	r->best = tree_best(&r->tree);
	if (can_skim && r->best) {
		cause_trace(r);
		if (!r->cause.complete && !has_free(r))
			err = try_skim(r, &o);
	}
	r->walk_seconds = clock_seconds() - start;
	r->step_seconds = tree_step_seconds(&r->tree);
	share = MAX(r->o.seconds / 4, 1);
	if (!err)
		err = confirm_best(r);
	if (!err && !r->live && r->confirmed.verdict != DIFFERS) { /* else it did not happen so */
		cause_find(r);
		cause_find_others(r);
	}
	r->h.deadline = work_seconds() + share;
	if (!err)
		err = threads_work(r, r->h.deadline);
	if (r->threads.mates.len &&
	    !r->threads.complete) /* an order that was not looked at may say more */
		r->cause.certain = false;
	if (!err)
		exploit_find(r, &r->exploit);
	return err ? err : answer_all(r);
}
