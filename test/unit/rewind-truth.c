/* test/unit/rewind-truth.c - see rewind-truth.h. */
#include "rewind-truth.h"

#include "base/err.h"
#include "base/log.h"
#include "base/mem.h"
#include "crumbs/crumbs.h"
#include "rewind/code.h"
#include "rewind/route.h"
#include "rewind/suffix.h"
#include "run/corefile.h"

#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- what happened ---- */

static void record(void (*fails)(unsigned), unsigned seed, struct truth_record *r, const char *core)
{
	int status;

	r->at = xcalloc(TRUTH_STEPS, sizeof(*r->at));
	r->child = fork();
	if (r->child == 0) {
		ptrace(PTRACE_TRACEME, 0, 0, 0);
		raise(SIGSTOP);
		fails(seed);
		_exit(0);
	}
	waitpid(r->child, &status, 0);
	ptrace(PTRACE_SETOPTIONS, r->child, 0, PTRACE_O_EXITKILL);
	for (;;) {
		cr_assert_lt(r->n, TRUTH_STEPS);
		ptrace(PTRACE_GETREGS, r->child, 0, &r->at[r->n]);
		ptrace(PTRACE_SINGLESTEP, r->child, 0, 0);
		waitpid(r->child, &status, 0);
		if (!WIFSTOPPED(status) || WSTOPSIG(status) != SIGTRAP)
			break;
		r->n++;
	}
	cr_assert(WIFSTOPPED(status) && WSTOPSIG(status) == SIGSEGV);
	cr_assert_null(corefile_write(r->child, &r->child, 1, SIGSEGV, core));
	kill(r->child, SIGKILL);
	waitpid(r->child, &status, 0);
}

void truth_init(struct truth *x, void (*fails)(unsigned), unsigned seed)
{
	char path[] = "/tmp/unplait-truth-XXXXXX";

	*x = (struct truth){ 0 };
	close(mkstemp(path));
	record(fails, seed, &x->r, path);
	cr_assert_null(dump_open(path, &x->d));
	unlink(path);
	x->code = code_new(&x->d, NULL);
	if (code_problem(x->code))
		cr_skip_test("unplait-lift is not built");
	history_init(&x->h, &x->d, x->code);
}

void truth_deinit(struct truth *x)
{
	history_deinit(&x->h);
	code_free(x->code);
	dump_close(&x->d);
	free(x->r.at);
}

/* ---- what is said about it ---- */

void truth_check_registers(struct history *h, const struct past *p,
			   const struct user_regs_struct *g, struct truth_tally *t)
{
	const uint64_t general[16] = { g->rax, g->rcx, g->rdx, g->rbx, g->rsp, g->rbp,
				       g->rsi, g->rdi, g->r8,  g->r9,  g->r10, g->r11,
				       g->r12, g->r13, g->r14, g->r15 };
	uint64_t v;

	for (unsigned i = 0; i < 16; i++) {
		if (!past_value(h, p, p->registers[i], &v))
			t->unknown++;
		else if (v == general[i])
			t->known++;
		else
			t->wrong++;
	}
}

struct branches VEC_FIELDS(struct crumb_branch);

/* The taken branches, the newest first, at most `most`. */
static void branches_of(struct code *c, const struct truth_record *r, size_t most,
			struct branches *ret)
{
	const char *why;

	for (size_t i = r->n; i-- > 0 && ret->len < most;) {
		const struct function *f = code_function(c, r->at[i].rip, &why);
		const struct insn *in = f ? function_insn(f, r->at[i].rip) : NULL;
		uint64_t from = r->at[i].rip, to = r->at[i + 1].rip;

		if (!in || (to != from && to != from + in->length))
			vec_push(ret, ((struct crumb_branch){ from, to }));
	}
}

/* The walk may go on to before the record begins. */
static bool is_recorded(const struct truth *x, const struct node *n)
{
	return n->past && n->insns <= x->r.n;
}

/* The earliest moment up to which the way is the one that was taken. */
static const struct node *where_it_strays(const struct truth *x, const struct node *best)
{
	const struct node *ret = best;

	for (const struct node *n = best; n->parent; n = n->parent)
		if (is_recorded(x, n) && x->r.at[x->r.n - n->insns].rip != n->pc)
			ret = n->parent;
	return ret;
}

static void compare_way(struct truth *x, const struct tree *t, struct truth_walked *ret)
{
	const struct node *best = tree_best(t), *same, *n;

	cr_assert(best, "every way contradicts the dump");
	ret->blocks = best->depth;
	same = where_it_strays(x, best);
	for (n = best; n != same; n = n->parent) {
		ret->strayed += is_recorded(x, n);
		cr_assert(!is_recorded(x, n) || !tree_is_certain(t, n), "certain, and another way");
	}
	for (; n->parent; n = n->parent) {
		struct truth_tally k = { 0 };
		struct past now;

		if (!is_recorded(x, n) || !same->past)
			continue;
		ret->moments++;
		ret->certain += tree_is_certain(t, n);
		now = *n->past;
		now.bindings = same->past->bindings;
		truth_check_registers(&x->h, &now, &x->r.at[x->r.n - n->insns], &k);
		ret->right += k.known;
		ret->unknown += k.unknown;
		ret->wrong += k.wrong;
	}
}

void truth_print(const struct truth_walked *w)
{
	fprintf(stderr,
		"%zu records: %u blocks, %u moments (%u certain, %u on another way); registers %u "
		"right, %u unknown, %u wrong\n",
		w->records, w->blocks, w->moments, w->certain, w->strayed, w->right, w->unknown,
		w->wrong);
}

void truth_walk(struct truth *x, uint32_t blocks, size_t records, double seconds,
		struct truth_walked *ret)
{
	const struct suffix_options o = { .blocks = blocks,
					  .width = 32,
					  .deadline = seconds ? work_seconds() + seconds : 0 };
	struct branches b = { 0 };
	struct route route;
	struct tree t;

	x->h.deadline = o.deadline;
	tree_init(&t, &x->h, past_of_dump(&x->h, 0));
	branches_of(x->code, &x->r, records, &b);
	if (records) {
		cr_assert(route_init(&route, x->code, b.data, b.len, t.nodes.data[0]->pc, false));
		tree_follow(&t, &route);
	}
	tree_grow(&t, &o);
	x->h.deadline = 0;
	compare_way(x, &t, ret);
	ret->records = records;
	tree_deinit(&t);
	vec_deinit(&b);
}
