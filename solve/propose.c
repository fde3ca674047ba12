/* solve/propose.c - let the symbolic machine search a hunt's target (sym/explore/schedules.c) and
 * run natively what it finds. The two engines know nothing of each other; this is where they meet.
 */
#include "solve/propose.h"

#include "base/err.h"
#include "base/file.h"
#include "base/log.h"
#include "base/process.h"
#include "sym/sym.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#define MAX_STATES 12000000ull /* what fits into half a gigabyte */

void propose_schedule(const struct sym_end *e, struct carry_schedule *ret)
{
	*ret = (struct carry_schedule){ .ops = xcalloc(e->turns.len + 1, sizeof(*ret->ops)),
					.n = e->turns.len,
					.skips_alone = true,
					.stops_at_release = true };
	for (size_t i = 0; i < e->turns.len; i++) {
		const struct sym_turn *t = &e->turns.data[i];

		ret->ops[i] = (struct carry_op){ .thread = t->thread,
						 .site = t->site ? t->site : PLAIT_ANY,
						 .kind = t->site ? PLAIT_EV_NONE : t->kind,
						 .expires = t->timed_out,
						 .gives_up = t->gives_up,
						 .choice = t->choice,
						 .nchoices = t->nchoices };
	}
}

struct err *propose_carry_out(struct session *session, const struct carry_schedule *schedule,
			      struct run_result *ret, bool *followed)
{
	static const struct carry_end freely = { PLAIT_ANY, PLAIT_STRATEGY_FOLLOW, 0 };
	struct carried c;
	struct err *err = carry_out(session, schedule, &freely, &c);

	*ret = c.run;
	*followed = c.followed && !c.run.diverged;
	free(c.clock);
	return err;
}

#ifndef NO_SYM

static struct err *open_program(struct sym_proposer *p)
{
	struct err *err = NULL;

	if (p->target->input)
		err = file_read(p->target->input, &p->input);
	else if (p->target->input_data)
		strbuf_add(&p->input, p->target->input_data, p->target->input_len);
	return err ? err : sym_open(p->target->argv[0], NULL, &p->program);
}

static bool is_failure(const struct sym_proposer *p, const struct sym_outcome *o)
{
	return sym_kind_is_error(o->kind) || (p->fail_on_exit && o->kind == SYM_EXIT && o->code);
}

static void add_proposal(const struct sym_end *e, struct proposals *ret)
{
	struct carry_schedule schedule;

	propose_schedule(e, &schedule);
	vec_push(&ret->failing, ((struct proposal){ schedule.ops, schedule.n }));
}

/* How a hunt runs what was proposed. */
static struct err *run_proposal(struct session *session, const struct proposal *p,
				struct run_result *ret)
{
	struct carry_schedule schedule = {
		.ops = p->ops, .n = p->n, .skips_alone = true, .stops_at_release = true
	};
	bool followed;

	return propose_carry_out(session, &schedule, ret, &followed);
}

/* Why the search is not complete: what it could not carry out comes before what it left out. */
static void say_why(const struct sym_schedules *r, struct proposals *ret)
{
	struct strbuf why = { 0 };

	for (size_t i = 0; i < r->ends.len && !why.len; i++) {
		const struct sym_outcome *o = &r->ends.data[i].outcome;

		if (o->kind == SYM_UNSUPPORTED || o->kind == SYM_BUDGET)
			strbuf_addf(&why, "%s (%s)", o->message, o->where);
	}
	for (size_t i = 0; i < r->notes.len; i++)
		strbuf_addf(&why, "%s%s", why.len ? "; " : "", r->notes.text[i]);
	snprintf(ret->why, sizeof(ret->why), "%s", strbuf_str(&why));
	strbuf_deinit(&why);
}

static struct err *search(struct sym_proposer *p, uint64_t work, double seconds, bool all,
			  struct proposals *ret)
{
	extern char **environ;
	struct sym_config c = { .args = (const char *const *)p->target->argv,
				.env = (const char *const *)environ,
				.max_work = work,
				.max_states = MAX_STATES,
				.max_seconds = seconds,
				.host_files = true,
				.exit_is_error = p->fail_on_exit,
				.all_errors = all };
	struct sym_schedules r = { 0 };
	struct err *err = open_program(p);

	while (p->target->argv[c.nargs])
		c.nargs++;
	c.input = strbuf_str(&p->input);
	c.input_len = p->input.len;
	if (!err)
		err = sym_schedules(p->program, &c, &r);
	for (size_t i = 0; !err && i < r.ends.len; i++)
		if (is_failure(p, &r.ends.data[i].outcome))
			add_proposal(&r.ends.data[i], ret);
	ret->complete = r.complete && !r.notes.len; /* a note says what was left out */
	if (!err && !ret->complete)
		say_why(&r, ret);
	ret->reads_clock = r.reads_clock;
	ret->states = r.states;
	sym_schedules_deinit(&r);
	return err;
}

/* ---- in a process of its own: a hunt goes on whatever happens there ---- */

struct answer {
	uint64_t states, nfailing;
	bool complete, reads_clock;
	bool failed; /* failed: there was an error, and `why` is its message */
	char why[256];
};

static void put(int fd, const void *data, size_t len)
{
	for (ssize_t n; len > 0; data = (const char *)data + n, len -= (size_t)n) {
		n = write(fd, data, len);
		if (n <= 0)
			_exit(3);
	}
}

static bool get(int fd, void *data, size_t len)
{
	for (ssize_t n; len > 0; data = (char *)data + n, len -= (size_t)n) {
		n = read(fd, data, len);
		if (n <= 0) /* also when Ctrl-C interrupts it */
			return false;
	}
	return true;
}

static int answer(int fd, struct err *err, const struct proposals *p)
{
	struct answer a = { .states = p->states,
			    .nfailing = p->failing.len,
			    .complete = p->complete,
			    .reads_clock = p->reads_clock,
			    .failed = err != NULL };

	snprintf(a.why, sizeof(a.why), "%s", err ? err_message(err) : p->why);
	put(fd, &a, sizeof(a));
	for (size_t i = 0; i < p->failing.len; i++) {
		const struct proposal *f = &p->failing.data[i];

		put(fd, &f->n, sizeof(f->n));
		put(fd, f->ops, f->n * sizeof(*f->ops));
	}
	return 0;
}

static bool listen_to(int fd, struct proposals *ret)
{
	struct answer a;

	if (!get(fd, &a, sizeof(a)))
		return false;
	memcpy(ret->why, a.why, sizeof(ret->why));
	if (a.failed)
		return false;
	for (uint64_t i = 0; i < a.nfailing; i++) {
		struct proposal f = { 0 };

		if (!get(fd, &f.n, sizeof(f.n)))
			return false;
		f.ops = xcalloc(f.n + 1, sizeof(*f.ops));
		vec_push(&ret->failing, f);
		if (!get(fd, f.ops, f.n * sizeof(*f.ops)))
			return false;
	}
	ret->states = a.states;
	ret->complete = a.complete;
	ret->reads_clock = a.reads_clock;
	return true;
}

struct task {
	struct sym_proposer *proposer;
	uint64_t work;
	double seconds;
	bool all;
	int fds[2]; /* a pipe: the answer goes through it */
};

static int work(void *arg)
{
	struct task *t = arg;
	struct proposals found = { 0 };

	close(t->fds[0]);
	return answer(t->fds[1], search(t->proposer, t->work, t->seconds, t->all, &found), &found);
}

static struct err *propose(void *arg, const struct target *target, uint64_t most, double seconds,
			   bool all, struct proposals *ret)
{
	struct sym_proposer *p = arg;
	struct task t = { .proposer = arg, .work = most, .seconds = seconds, .all = all };
	struct process process;
	struct err *err;
	bool heard;

	p->fail_on_exit = target->fail_on_exit;
	if (pipe2(t.fds, O_CLOEXEC))
		return err_errno(errno, "pipe");
	err = process_fork(work, &t, &process);
	close(t.fds[1]);
	heard = !err && listen_to(t.fds[0], ret);
	close(t.fds[0]);
	if (!heard)
		process_kill(&process);
	process_wait_end(&process);
	if (heard)
		return NULL;
	if (!err)
		err = err_new(ERR_ENV, "the program's states cannot be searched: %s",
			      ret->why[0] ? ret->why : "the search ended without an answer");
	proposals_deinit(ret);
	return err;
}

void proposer_init(struct sym_proposer *p, const struct target *target)
{
	*p = (struct sym_proposer){ .proposer = { propose, run_proposal, p },
				    .available = true,
				    .target = target };
}

void proposer_deinit(struct sym_proposer *p)
{
	sym_close(p->program);
	strbuf_deinit(&p->input);
}

#else

void proposer_init(struct sym_proposer *p, const struct target *target)
{
	*p = (struct sym_proposer){ .target = target };
}

void proposer_deinit(struct sym_proposer *p)
{
	(void)p;
}

#endif
