/* test/unit/test-rewind-lift.c - lifted instructions against the processor.
 *
 * Instructions are taken from libc and run natively, one at a time, in a child that we trace, with
 * random registers and memory. What the lifted operations compute must be what the processor did, in
 * every register and flag that they claim to know, and in memory. */
#include "base/err.h"
#include "base/mem.h"
#include "rewind/code.h"
#include "rewind/lifter.h"
#include "sym/value/expr.h"

#include <criterion/criterion.h>
#include <link.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

enum { DATA = 0x20000000, DATA_SIZE = 1 << 13, CODE = 0x30000000, INSTRUCTIONS = 6000 };

static uint64_t seed = 777;
static uint64_t rnd(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed;
}

/* ---- evaluation of lifted operations on known values ---- */

struct known {
	uint64_t v;
	bool ok; /* false: some value */
};

struct state {
	struct known reg[LIFT_REGISTERS];
	uint8_t data[DATA_SIZE];
	bool touched_outside, stored_unknown;
	uint64_t next;
	bool next_known;
};

/* Widths of temporaries are needed for signs and concatenation. */
static struct known compute(const struct lift_op *op, const struct known *t, const uint8_t *w)
{
	static const uint8_t same[LIFT_KINDS] = {
#define X(NAME) [LIFT_##NAME] = EX_##NAME,
#include "lift/lifted.def"
#undef X
	};
	struct known a = t[op->a], b = t[op->b];

	switch (op->kind) {
	case LIFT_ITE:
		if (!a.ok)
			return (struct known){ 0 };
		return a.v ? b : t[op->c];
	case LIFT_ZEXT:
		return a;
	case LIFT_SEXT:
		return (struct known){ (uint64_t)sext_of(a.v, w[op->a]) & mask_of(op->w), a.ok };
	case LIFT_EXTRACT:
		return (struct known){ a.v >> op->imm & mask_of(op->w), a.ok };
	default:
		break;
	}
	if (!a.ok || !b.ok) /* x & 0 and the like would be known, but need not be */
		return (struct known){ 0 };
	if (op->kind == LIFT_CONCAT)
		return (struct known){ a.v << w[op->b] | b.v, true };
	return (struct known){ expr_fold((enum expr_op)same[op->kind], w[op->a], a.v, b.v), true };
}

static struct known load(struct state *s, struct known at, unsigned bytes)
{
	struct known r = { .ok = true };

	if (!at.ok || at.v < DATA || at.v - DATA > DATA_SIZE - bytes) {
		s->touched_outside = true;
		return (struct known){ 0 };
	}
	memcpy(&r.v, s->data + (at.v - DATA), bytes);
	return r;
}

static void store(struct state *s, struct known at, unsigned bytes, struct known v)
{
	if (!at.ok || at.v < DATA || at.v - DATA > DATA_SIZE - bytes)
		s->touched_outside = true;
	else if (!v.ok)
		s->stored_unknown = true;
	else
		memcpy(s->data + (at.v - DATA), &v.v, bytes);
}

/* False: refused. */
static bool evaluate(const struct function *f, const struct insn *in, struct state *s)
{
	const struct lift_op *ops = insn_ops(f, in);
	static struct known t[LIFT_MAX_OPS + 1];
	static uint8_t w[LIFT_MAX_OPS + 1];

	for (unsigned i = 0; i < in->nops; i++) {
		const struct lift_op *op = &ops[i];

		w[op->dst] = op->w;
		switch (op->kind) {
		case LIFT_REFUSE:
			return false;
		case LIFT_CONST:
			t[op->dst] = (struct known){ op->imm, true };
			break;
		case LIFT_GET:
			t[op->dst] = s->reg[op->imm];
			break;
		case LIFT_PUT:
			s->reg[op->imm] = t[op->a];
			break;
		case LIFT_LOAD:
			t[op->dst] = load(s, t[op->a], op->w / 8u);
			break;
		case LIFT_STORE:
			store(s, t[op->a], op->w / 8u, t[op->b]);
			break;
		case LIFT_OPAQUE:
			t[op->dst] = (struct known){ 0 };
			break;
		case LIFT_EXIT:
			if (!t[op->a].ok)
				return true;
			if (t[op->a].v) {
				s->next = op->imm;
				s->next_known = true;
				return true;
			}
			break;
		case LIFT_NEXT:
			s->next = op->a ? t[op->a].v : op->imm;
			s->next_known = !op->a || t[op->a].ok;
			return op->w != LIFT_SYSCALL && op->w != LIFT_TRAP;
		default:
			t[op->dst] = compute(op, t, w);
		}
	}
	return true;
}

/* ---- the processor ---- */

static pid_t child;

static void start_child(void)
{
	int status;

	child = fork();
	if (child == 0) {
		mmap((void *)DATA, DATA_SIZE, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
		mmap((void *)CODE, 8192, PROT_READ | PROT_WRITE | PROT_EXEC,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
		ptrace(PTRACE_TRACEME, 0, 0, 0);
		raise(SIGSTOP);
		_exit(0);
	}
	waitpid(child, &status, 0);
	ptrace(PTRACE_SETOPTIONS, child, 0, PTRACE_O_EXITKILL);
}

static bool poke(uint64_t at, const void *p, size_t n)
{
	char path[64];
	FILE *f;
	bool ok;

	snprintf(path, sizeof(path), "/proc/%d/mem", (int)child);
	f = fopen(path, "r+");
	if (!f)
		return false;
	setvbuf(f, NULL, _IONBF, 0);
	fseek(f, (long)at, SEEK_SET);
	ok = fwrite(p, 1, n, f) == n;
	fclose(f);
	return ok;
}

static bool peek(uint64_t at, void *p, size_t n)
{
	char path[64];
	FILE *f;
	bool ok;

	snprintf(path, sizeof(path), "/proc/%d/mem", (int)child);
	f = fopen(path, "r");
	if (!f)
		return false;
	fseek(f, (long)at, SEEK_SET);
	ok = fread(p, 1, n, f) == n;
	fclose(f);
	return ok;
}

static const uint8_t flag_at[] = { 0, 2, 4, 6, 7, 11, 10 };

static unsigned long long *slot(struct user_regs_struct *g, unsigned i)
{
	unsigned long long *all[16] = { &g->rax, &g->rcx, &g->rdx, &g->rbx, &g->rsp, &g->rbp,
					&g->rsi, &g->rdi, &g->r8,  &g->r9,  &g->r10, &g->r11,
					&g->r12, &g->r13, &g->r14, &g->r15 };

	return all[i];
}

/* Numbers, small numbers and pointers into the data. */
static uint64_t random_value(void)
{
	switch (rnd() % 4) {
	case 0:
		return rnd();
	case 1:
		return rnd() % 300;
	default:
		return DATA + DATA_SIZE / 2 + rnd() % 1024;
	}
}

static void randomize(struct state *s, struct user_regs_struct *g)
{
	for (size_t i = 0; i < DATA_SIZE; i += 8) {
		uint64_t v = random_value();

		memcpy(s->data + i, &v, 8);
	}
	for (unsigned i = 0; i < 16; i++) {
		s->reg[i] = (struct known){ i == LIFT_RSP ? DATA + DATA_SIZE / 2 + 1024
							  : random_value(),
					    true };
		*slot(g, i) = s->reg[i].v;
	}
	g->eflags = 0x202;
	for (unsigned i = 0; i < 7; i++) {
		s->reg[LIFT_CF + i] = (struct known){ i < 6 ? rnd() & 1 : 0, true };
		g->eflags |= s->reg[LIFT_CF + i].v << flag_at[i];
	}
	for (unsigned i = LIFT_FS; i < LIFT_REGISTERS; i++)
		s->reg[i] = (struct known){ 0 }; /* vectors: some value */
	s->touched_outside = s->stored_unknown = s->next_known = false;
}

/* ---- the comparison ---- */

static unsigned checked, failures;

static void compare(const struct insn *in, const uint8_t *bytes, const struct state *s,
		    struct user_regs_struct *g)
{
	static uint8_t data[DATA_SIZE];
	char what[64] = "";

	for (unsigned i = 0; i < 16 && !*what; i++)
		if (s->reg[i].ok && s->reg[i].v != *slot(g, i))
			snprintf(what, sizeof(what), "register %u: %llx, not %llx", i, *slot(g, i),
				 (unsigned long long)s->reg[i].v);
	for (unsigned i = 0; i < 7 && !*what; i++)
		if (s->reg[LIFT_CF + i].ok &&
		    s->reg[LIFT_CF + i].v != (g->eflags >> flag_at[i] & 1))
			snprintf(what, sizeof(what), "flag %u", i);
	if (!*what && s->next_known && s->next != g->rip)
		snprintf(what, sizeof(what), "goes to %llx, not %llx", g->rip,
			 (unsigned long long)s->next);
	if (!*what && !s->stored_unknown && peek(DATA, data, DATA_SIZE) &&
	    memcmp(data, s->data, DATA_SIZE) != 0)
		snprintf(what, sizeof(what), "memory");
	checked++;
	if (!*what)
		return;
	failures++;
	if (failures < 20) {
		fprintf(stderr, "# seed %llu:", (unsigned long long)seed);
		for (unsigned i = 0; i < in->length; i++)
			fprintf(stderr, " %02x", bytes[i]);
		fprintf(stderr, ": %s\n", what);
	}
}

static void try_insn(struct lifter *lifter, const uint8_t *bytes, unsigned length)
{
	static struct state s;
	static uint8_t before[DATA_SIZE];
	struct function f = { 0 };
	struct user_regs_struct g;
	int status;

	err_free(lifter_lift(lifter, CODE, bytes, length, &f));
	ptrace(PTRACE_GETREGS, child, 0, &g);
	randomize(&s, &g);
	memcpy(before, s.data, DATA_SIZE);
	g.rip = CODE;
	g.orig_rax = (unsigned long long)-1;
	if (f.insns.len && evaluate(&f, &f.insns.data[0], &s) && !s.touched_outside &&
	    poke(DATA, before, DATA_SIZE) && poke(CODE, bytes, length) &&
	    ptrace(PTRACE_SETREGS, child, 0, &g) == 0 &&
	    ptrace(PTRACE_SINGLESTEP, child, 0, 0) == 0 && waitpid(child, &status, 0) == child &&
	    WIFSTOPPED(status) && WSTOPSIG(status) == SIGTRAP) {
		ptrace(PTRACE_GETREGS, child, 0, &g);
		compare(&f.insns.data[0], bytes, &s, &g);
	}
	vec_deinit(&f.insns);
	vec_deinit(&f.ops);
}

/* The path of libc, from the list of loaded objects. */
static int find_libc(struct dl_phdr_info *info, size_t size, void *ret)
{
	(void)size;
	if (!strstr(info->dlpi_name, "/libc.so"))
		return 0;
	*(const char **)ret = info->dlpi_name;
	return 1;
}

Test(rewind, lifted_instructions_do_what_the_processor_does)
{
	const char *libc = NULL;
	struct lifter *lifter;
	struct text text;
	struct err *err = lifter_new(&lifter);

	if (err) {
		err_free(err);
		cr_skip_test("unplait-lift is not built");
	}
	dl_iterate_phdr(find_libc, &libc);
	cr_assert(libc && !text_open(libc, &text) && text.functions.len > 100);
	start_child();
	for (unsigned tried = 0; tried < INSTRUCTIONS;) {
		const struct text_range *r = &text.functions.data[rnd() % text.functions.len];
		struct function f = { 0 };
		size_t len;
		const uint8_t *p = text_bytes(&text, r->low, &len);

		if (!p || r->high - r->low > MIN(len, (size_t)LIFT_MAX_RANGE))
			continue;
		err_free(lifter_lift(lifter, r->low, p, r->high - r->low, &f));
		for (unsigned i = 0; i < 50 && i < f.insns.len; i++, tried++) {
			const struct insn *in = &f.insns.data[rnd() % f.insns.len];

			try_insn(lifter, p + (in->address - r->low), in->length);
		}
		vec_deinit(&f.insns);
		vec_deinit(&f.ops);
	}
	kill(child, SIGKILL);
	text_close(&text);
	lifter_free(lifter);
	fprintf(stderr, "# %u instructions compared\n", checked);
	cr_assert(checked > INSTRUCTIONS / 4);
	cr_assert_eq(failures, 0, "%u of %u instructions differ", failures, checked);
}
