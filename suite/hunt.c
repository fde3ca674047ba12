/* suite/hunt.c - all tests of a suite, several at a time, each with a fair share of the time.
 *
 * A test goes through up to three commands, which write JSON: a short `unplait hunt` that tells
 * whether it starts threads at all; a long one if it does; and `unplait explain` if one of them found
 * a failure. First all tests have their short hunt. The time that is left then belongs to those with
 * threads: the share of a test is decided when its long hunt begins, and what one does not use goes
 * to those after it. */
#define LOG_DOMAIN "suite"
#include "suite/suite.h"

#include "base/environment.h"
#include "base/err.h"
#include "base/file.h"
#include "base/interrupt.h"
#include "base/log.h"
#include "base/map.h"
#include "base/process.h"
#include "suite/result.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

enum {
	LOOK_RUNS = 4,	      /* of the short hunt */
	GRACE = 60,	      /* seconds beyond its share until a hunt is given up */
	EXPLAIN_SECONDS = 30, /* for explain ... */
	EXPLAIN_LIMIT = 40,   /* ... until it is given up */
	ADVICE_SECONDS = 15,  /* for schedules that test the advice ... */
	ADVICE_FEW = 10,      /* ... at least so many ... */
	ADVICE_MANY = 200,    /* ... and at most */
};

enum stage { LOOK, HUNT, EXPLAIN };

struct slot {
	size_t test; /* SIZE_MAX = free */
	enum stage stage;
	char *json, *complaints; /* files */
};

struct hunt {
	const struct suite_options *o;
	const char *self; /* this program */
	char *dir;
	char output[PATH_MAX]; /* of the options, absolute: for tests that run elsewhere */
	struct suite_results *results;
	bool *done; /* per test: its verdict is final */
	struct names baseline;
	size_t looked; /* the next test to be looked at */
	size_t told;
	VEC(size_t) waiting; /* tests with threads, to be hunted ... */
	size_t hunted;	     /* ... from here on */
	double start;
	unsigned nslots;
	struct slot *slots;
	struct process *processes; /* one per slot; `ended` when the slot is free */
};

static struct suite_result *result_of(struct hunt *h, const struct slot *slot)
{
	return &h->results->data[slot->test];
}

/* ---- commands ---- */

static struct err *start(struct hunt *h, struct slot *slot, struct words *command, double timeout)
{
	const struct suite_test *t = result_of(h, slot)->test;
	struct environment env = { 0 };
	struct process_options o = { .argv = command->data,
				     .folder = t->folder,
				     .in = "/dev/null",
				     .out = "/dev/null",
				     .err = slot->complaints,
				     .timeout = timeout,
				     .own_group = true,
				     .cleans_up = true };
	struct err *err;

	environment_copy(&env);
	for (size_t i = 0; i < t->environment.len; i++)
		environment_put(&env, t->environment.data[i]);
	o.env = env.data;
	remove(slot->json);
	err = process_start(&o, &h->processes[slot - h->slots]);
	environment_deinit(&env);
	words_deinit(command);
	return err;
}

/* A file name that looks like the name of the test. A plain program's name is its path; the file must
 * not begin with a dot, which would hide it. */
static char *plait_path(const struct hunt *h, const struct suite_test *t)
{
	const char *folder = t->folder ? h->output : h->o->output;
	size_t hidden = strspn(t->name, "./");
	char *path = xasprintf("%s/%s.plait", folder, t->name[hidden] ? t->name + hidden : "test");

	for (char *c = path + strlen(folder) + 1; *c; c++)
		if (!isalnum((unsigned char)*c) && !strchr("._-+=", *c))
			*c = '_';
	return path;
}

/* A part of the time that is left, when so many tests wait for theirs. */
static double share(const struct hunt *h, size_t waiting)
{
	double left = h->o->seconds - (clock_seconds() - h->start);

	return MAX(left, 0.01) * (double)MIN(h->nslots, waiting) / (double)waiting;
}

static struct err *start_hunt(struct hunt *h, struct slot *slot, uint64_t runs, double seconds)
{
	const struct suite_options *o = h->o;
	struct suite_result *r = result_of(h, slot);
	struct words c = { 0 };

	free(r->plait);
	r->plait = plait_path(h, r->test);
	words_push(&c, h->self);
	words_push(&c, "hunt");
	words_push(&c, "--fail-on");
	words_push(&c, "exit");
	words_take(&c, xasprintf("--json=%s", slot->json));
	words_take(&c, xasprintf("--seed=%llu", (unsigned long long)o->seed));
	if (runs)
		words_take(&c, xasprintf("--runs=%llu", (unsigned long long)runs));
	if (seconds > 0)
		words_take(&c, xasprintf("--time=%.3f", seconds));
	if (o->timeout > 0)
		words_take(&c, xasprintf("--timeout=%g", o->timeout));
	if (o->timeouts)
		words_take(&c, xasprintf("--timeouts=%s", o->timeouts));
	words_take(&c, xasprintf("--output=%s", r->plait));
	words_push(&c, "--");
	words_copy(&c, &r->test->command);
	return start(h, slot, &c, seconds > 0 ? seconds + GRACE : 0);
}

static struct err *start_look(struct hunt *h, struct slot *slot)
{
	uint64_t runs = h->o->runs ? MIN(h->o->runs, LOOK_RUNS) : LOOK_RUNS;

	slot->stage = LOOK;
	return start_hunt(h, slot, runs,
			  h->o->seconds > 0 ? share(h, h->results->len - h->looked) : 0);
}

static struct err *start_long_hunt(struct hunt *h, struct slot *slot)
{
	slot->stage = HUNT;
	return start_hunt(h, slot, h->o->runs,
			  h->o->seconds > 0 ? share(h, h->waiting.len - h->hunted) : 0);
}

/* Schedules with and without the advice, as many as there is time for. */
static uint64_t advice_runs(const struct suite_result *r)
{
	double each = r->runs ? r->seconds / (double)r->runs : 1;
	double n = ADVICE_SECONDS / 2 / MAX(each, 0.001);

	return n < ADVICE_FEW ? ADVICE_FEW : n > ADVICE_MANY ? ADVICE_MANY : (uint64_t)n;
}

static struct err *start_explain(struct hunt *h, struct slot *slot)
{
	struct words c = { 0 };

	slot->stage = EXPLAIN;
	words_push(&c, h->self);
	words_push(&c, "explain");
	words_take(&c, xasprintf("--json=%s", slot->json));
	words_take(&c, xasprintf("--time=%d", EXPLAIN_SECONDS));
	words_take(&c,
		   xasprintf("--runs=%llu", (unsigned long long)advice_runs(result_of(h, slot))));
	words_push(&c, result_of(h, slot)->plait);
	return start(h, slot, &c, EXPLAIN_LIMIT);
}

/* ---- the loop ---- */

/* Results are told in the order of the suite. */
static void tell(struct hunt *h)
{
	for (; h->told < h->results->len && h->done[h->told]; h->told++) {
		struct suite_result *r = &h->results->data[h->told];

		r->known = baseline_knows(&h->baseline, r);
		if (h->o->tell)
			h->o->tell(h->o->arg, r);
	}
}

static void finish(struct hunt *h, struct slot *slot)
{
	h->done[slot->test] = true;
	slot->test = SIZE_MAX;
}

static struct err *end_of_command(struct hunt *h, struct slot *slot)
{
	const struct process *p = &h->processes[slot - h->slots];
	struct suite_result *r = result_of(h, slot);

	if (slot->stage == EXPLAIN)
		result_take_explanation(r, p, slot->json);
	else
		result_take_hunt(r, p, slot->json, slot->complaints);
	if (slot->stage != EXPLAIN && r->verdict == VERDICT_FAILS && !h->o->no_explain)
		return start_explain(h, slot);
	if (slot->stage == LOOK && h->o->runs != r->runs &&
	    (r->verdict == VERDICT_PASSED || r->verdict == VERDICT_UNFINISHED)) {
		vec_push(&h->waiting, slot->test);
		slot->test = SIZE_MAX;
		return NULL;
	}
	finish(h, slot);
	return NULL;
}

/* A test that cannot be hunted has its verdict at once. */
static struct err *look_at_next(struct hunt *h, struct slot *slot)
{
	struct suite_result *r = &h->results->data[h->looked];
	struct err *err = NULL;

	slot->test = h->looked;
	if (r->test->unable) {
		r->verdict = VERDICT_UNCONTROLLED;
		r->why = xstrdup(r->test->unable);
		finish(h, slot);
	} else {
		err = start_look(h, slot);
	}
	h->looked++;
	return err;
}

static struct err *hunt_next(struct hunt *h, struct slot *slot)
{
	struct err *err;

	slot->test = h->waiting.data[h->hunted];
	err = start_long_hunt(h, slot);
	h->hunted++;
	return err;
}

static struct err *fill(struct hunt *h)
{
	struct err *err = NULL;

	for (unsigned i = 0; !err && i < h->nslots; i++)
		while (!err && h->slots[i].test == SIZE_MAX) {
			if (h->looked < h->results->len)
				err = look_at_next(h, &h->slots[i]);
			else if (h->hunted < h->waiting.len)
				err = hunt_next(h, &h->slots[i]);
			else
				break;
		}
	return err;
}

static bool busy(const struct hunt *h)
{
	for (unsigned i = 0; i < h->nslots; i++)
		if (h->slots[i].test != SIZE_MAX)
			return true;
	return false;
}

static struct err *loop(struct hunt *h)
{
	struct err *err = fill(h);
	size_t i;

	while (!err && busy(h)) {
		progress("%zu of %zu tests looked at, %zu of %zu hunted", h->looked,
			 h->results->len, h->hunted, h->waiting.len);
		err = process_wait(h->processes, h->nslots, &i);
		if (!err)
			err = end_of_command(h, &h->slots[i]);
		if (!err)
			err = fill(h);
		tell(h);
	}
	tell(h);
	progress_done();
	return err;
}

static struct err *open_slots(struct hunt *h)
{
	struct err *err = file_temp_dir(&h->dir);

	h->nslots = h->o->jobs ? h->o->jobs : 1;
	h->slots = xcalloc(h->nslots, sizeof(*h->slots));
	h->processes = xcalloc(h->nslots, sizeof(*h->processes));
	h->done = xcalloc(h->results->len + 1, sizeof(*h->done));
	for (unsigned i = 0; !err && i < h->nslots; i++) {
		h->processes[i].ended = true;
		h->slots[i].test = SIZE_MAX;
		h->slots[i].json = xasprintf("%s/%u.json", h->dir, i);
		h->slots[i].complaints = xasprintf("%s/%u.txt", h->dir, i);
	}
	return err;
}

static void close_slots(struct hunt *h)
{
	for (unsigned i = 0; i < h->nslots; i++) {
		process_kill(&h->processes[i]);
		free(h->slots[i].json);
		free(h->slots[i].complaints);
	}
	free(h->slots);
	free(h->processes);
	free(h->done);
	vec_deinit(&h->waiting);
	if (h->dir)
		file_remove_tree(h->dir);
	free(h->dir);
}

struct err *suite_hunt(const struct suite *s, const struct suite_options *o,
		       struct suite_results *ret, bool *interrupted_ret)
{
	_cleanup_(xfreep) char *self = file_self();
	struct hunt h = { .o = o, .self = self, .results = ret, .start = clock_seconds() };
	struct err *err = file_make_dirs(o->output);

	interrupt_catch();
	for (size_t i = 0; i < s->tests.len; i++)
		vec_push(ret, (struct suite_result){ .test = &s->tests.data[i],
						     .verdict = VERDICT_NOT_RUN });
	if (!err && !realpath(o->output, h.output))
		err = err_errno(errno, "%s", o->output);
	if (!err && o->baseline)
		err = baseline_load(o->baseline, &h.baseline);
	if (!err)
		err = open_slots(&h);
	if (!err)
		err = loop(&h);
	close_slots(&h);
	names_deinit(&h.baseline);
	*interrupted_ret = interrupted() != 0;
	if (*interrupted_ret) {
		err_free(err);
		err = NULL;
	}
	return err;
}
