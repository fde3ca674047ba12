/* test/unit/test-rewind-lift.c - lifted instructions against the processor.
 *
 * Instructions are taken from libc, libstdc++ and this program and run natively, one at a time, in a
 * child that we trace, with random registers, vectors and memory. What the lifted operations compute
 * must be what the processor did, in every register and flag that they claim to know, and in memory.
 * Each form of instruction (lift-forms.h) is tried several times.
 *
 *	LIFT_ALL=1		all functions, not a part
 *	LIFT_FILES=a:b		further programs and libraries
 *	LIFT_SEED=N		other registers and memory
 *	LIFT_LIST=FILE		a line for each form: how it went and an example */
#include "base/err.h"
#include "base/mem.h"
#include "base/vec.h"
#include "rewind/code.h"
#include "rewind/lifter.h"
#include "lift-forms.h"
#include "sym/value/expr.h"

#include <criterion/criterion.h>
#include <elf.h>
#include <link.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

enum { DATA = 0x20000000, DATA_SIZE = 1 << 13, CODE = 0x30000000 };

enum {
	PER_FORM = 3,	/* instructions of each form that are tried */
	ATTEMPTS = 60,	/* random states for one, until it does not leave the data */
	SAMPLE = 60000, /* instructions looked at in each file */
};

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
	bool unknown[DATA_SIZE]; /* some value was stored there */
	bool touched_outside, some_value;
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
	for (unsigned i = 0; i < bytes; i++)
		r.ok &= !s->unknown[at.v - DATA + i];
	memcpy(&r.v, s->data + (at.v - DATA), bytes);
	return r;
}

static void store(struct state *s, struct known at, unsigned bytes, struct known v)
{
	if (!at.ok || at.v < DATA || at.v - DATA > DATA_SIZE - bytes) {
		s->touched_outside = true;
		return;
	}
	s->some_value |= !v.ok;
	memset(s->unknown + (at.v - DATA), !v.ok, bytes);
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
			s->some_value |= !t[op->a].ok;
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

/* The vector registers as the kernel hands them over: XSAVE's standard format. */
enum { XMM = 160, FEATURES = 512, YMM_HIGH = 576, XSTATE_MAX = 16384 };

struct vectors {
	uint8_t xsave[XSTATE_MAX];
	size_t len;
};

static struct vectors at_start;

static uint8_t *vector_part(struct vectors *v, unsigned i)
{
	return v->xsave + (i % 4 < 2 ? XMM : YMM_HIGH) + i / 4 * 16 + i % 2 * 8;
}

static bool get_vectors(struct vectors *v)
{
	struct iovec io = { v->xsave, sizeof(v->xsave) };
	bool ok = ptrace(PTRACE_GETREGSET, child, NT_X86_XSTATE, &io) == 0;

	v->len = io.iov_len;
	return ok && v->len >= YMM_HIGH + 256;
}

static bool set_vectors(struct vectors *v)
{
	struct iovec io = { v->xsave, v->len };

	v->xsave[FEATURES] |= 7; /* x87, SSE, AVX */
	return ptrace(PTRACE_SETREGSET, child, NT_X86_XSTATE, &io) == 0;
}

/* Numbers, small numbers and pointers into the data, half of them aligned. */
static uint64_t random_value(void)
{
	switch (rnd() % 4) {
	case 0:
		return rnd();
	case 1:
		return rnd() % 300;
	case 2:
		return DATA + DATA_SIZE / 2 + (rnd() % 1024 & ~31ull);
	default:
		return DATA + DATA_SIZE / 2 + rnd() % 1024;
	}
}

static void randomize(struct state *s, struct user_regs_struct *g, struct vectors *v)
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
	g->fs_base = g->gs_base = DATA + DATA_SIZE / 2;
	s->reg[LIFT_FS] = s->reg[LIFT_GS] = (struct known){ g->fs_base, true };
	for (unsigned i = 0; i < 64; i++) {
		/* bytes that are often equal in two vectors */
		uint64_t part = rnd() % 2 ? random_value() : rnd() & 0x0101018080ff00ffull;

		s->reg[LIFT_YMM + i] = (struct known){ part, true };
		memcpy(vector_part(v, i), &part, 8);
	}
	memset(s->unknown, 0, sizeof(s->unknown));
	s->touched_outside = s->some_value = s->next_known = false;
}

/* ---- the comparison ---- */

static unsigned checked, failures;

static void compare(const struct insn *in, const uint8_t *bytes, const struct state *s,
		    struct user_regs_struct *g, struct vectors *v)
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
	for (unsigned i = 0; i < 64 && !*what; i++) {
		const struct known *k = &s->reg[LIFT_YMM + i];

		if (k->ok && memcmp(vector_part(v, i), &k->v, 8) != 0)
			snprintf(what, sizeof(what), "part %u of vector %u, not %llx", i % 4, i / 4,
				 (unsigned long long)k->v);
	}
	if (!*what && peek(DATA, data, DATA_SIZE))
		for (unsigned i = 0; i < DATA_SIZE && !*what; i++)
			if (!s->unknown[i] && data[i] != s->data[i])
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

/* How a form fared; the best of its instructions counts. */
enum fate { NEVER_RUN, REFUSED, PARTLY, WHOLE };

/* Run it here and there. NEVER_RUN: it left the data or failed. */
static enum fate try_once(const struct function *f, const uint8_t *bytes, unsigned length)
{
	static struct state s;
	static struct vectors v;
	static uint8_t before[DATA_SIZE];
	struct user_regs_struct g;
	int status;

	if (ptrace(PTRACE_GETREGS, child, 0, &g) < 0)
		return NEVER_RUN;
	v = at_start; /* also no rounding mode or unmasked exception of an earlier instruction */
	randomize(&s, &g, &v);
	memcpy(before, s.data, DATA_SIZE);
	g.rip = CODE;
	g.orig_rax = (unsigned long long)-1;
	if (!evaluate(f, &f->insns.data[0], &s))
		return REFUSED;
	if (s.touched_outside || !poke(DATA, before, DATA_SIZE) || !poke(CODE, bytes, length) ||
	    ptrace(PTRACE_SETREGS, child, 0, &g) < 0 || !set_vectors(&v) ||
	    ptrace(PTRACE_SINGLESTEP, child, 0, 0) < 0 || waitpid(child, &status, 0) != child ||
	    !WIFSTOPPED(status) || WSTOPSIG(status) != SIGTRAP)
		return NEVER_RUN;
	ptrace(PTRACE_GETREGS, child, 0, &g);
	get_vectors(&v);
	compare(&f->insns.data[0], bytes, &s, &g, &v);
	return s.some_value ? PARTLY : WHOLE;
}

/* A member far behind a register, in a large frame: the distance does not matter, and our data is small. */
static void come_near(uint8_t *code, const struct form *form, unsigned length)
{
	unsigned modrm = form->modrm, at = modrm + 1;
	int32_t distance;

	if (!modrm || at >= length || code[modrm] >> 6 != 2)
		return;
	at += (code[modrm] & 7) == 4; /* the byte that scales */
	if (at + 4 > length)
		return;
	memcpy(&distance, code + at, 4);
	distance %= DATA_SIZE / 4;
	memcpy(code + at, &distance, 4);
}

static enum fate try_insn(struct lifter *lifter, const struct form *form, const uint8_t *bytes,
			  unsigned length)
{
	uint8_t code[16];
	struct function f = { 0 };
	enum fate fate = REFUSED;

	memcpy(code, bytes, length);
	if (form->relative) { /* to our data */
		int32_t distance = DATA + DATA_SIZE / 2 - (CODE + (int)length);

		memcpy(code + form->modrm + 1, &distance, 4);
	}
	come_near(code, form, length);
	err_free(lifter_lift(lifter, CODE, code, length, &f));
	if (f.insns.len && f.insns.data[0].length == length)
		for (unsigned i = 0; i < ATTEMPTS; i++) {
			fate = try_once(&f, code, length);
			if (fate != NEVER_RUN)
				break;
		}
	vec_deinit(&f.insns);
	vec_deinit(&f.ops);
	return fate;
}

/* ---- forms ---- */

struct tried_form {
	uint64_t key;
	unsigned tries;
	enum fate fate;
	uint8_t example[16];
	unsigned length;
};

static VEC(struct tried_form) forms;

/* Instructions that compilers do not write, and that were lifted wrongly once. */
static const struct {
	uint8_t bytes[4];
	unsigned length;
} rare[] = {
	{ { 0x8c, 0x17 }, 2 }, /* mov %ss,(%rdi) */
};

static struct tried_form *find_form(uint64_t key)
{
	for (size_t i = 0; i < forms.len; i++)
		if (forms.data[i].key == key)
			return &forms.data[i];
	vec_push(&forms, ((struct tried_form){ .key = key }));
	return &forms.data[forms.len - 1];
}

static void meet(struct lifter *lifter, const uint8_t *bytes, unsigned length)
{
	struct form form = form_of(bytes, length);
	struct tried_form *t = find_form(form.key);
	enum fate fate;

	/* what never ran gets more chances: another instruction may have a better address */
	if (length > 15 || t->tries >= (t->fate == NEVER_RUN ? 10 * PER_FORM : PER_FORM))
		return;
	fate = try_insn(lifter, &form, bytes, length);
	t->tries++;
	if (fate >= t->fate || !t->length) {
		t->fate = fate;
		t->length = length;
		memcpy(t->example, bytes, length);
	}
}

/* Where the next instruction begins nobody knows then. */
static bool is_undecodable(const struct function *f, const struct insn *in)
{
	return in->length == 1 && insn_ops(f, in)->kind == LIFT_REFUSE;
}

static void meet_function(struct lifter *lifter, const struct text *text,
			  const struct text_range *r, size_t *seen)
{
	struct function f = { 0 };
	size_t len;
	const uint8_t *p = text_bytes(text, r->low, &len);

	if (!p || r->high - r->low > MIN(len, (size_t)LIFT_MAX_RANGE))
		return;
	err_free(lifter_lift(lifter, r->low, p, r->high - r->low, &f));
	for (size_t i = 0; i < f.insns.len && !is_undecodable(&f, &f.insns.data[i]); i++)
		meet(lifter, p + (f.insns.data[i].address - r->low), f.insns.data[i].length);
	*seen += f.insns.len;
	vec_deinit(&f.insns);
	vec_deinit(&f.ops);
}

static void meet_file(struct lifter *lifter, const char *path)
{
	struct text text;
	size_t seen = 0;

	if (text_open(path, &text)) {
		fprintf(stderr, "# %s has no code\n", path);
		return;
	}
	if (getenv("LIFT_ALL"))
		for (size_t i = 0; i < text.functions.len; i++)
			meet_function(lifter, &text, &text.functions.data[i], &seen);
	for (size_t i = 0; text.functions.len && seen < SAMPLE && i < SAMPLE; i++)
		meet_function(lifter, &text, &text.functions.data[rnd() % text.functions.len],
			      &seen);
	text_close(&text);
}

static void list_forms(const char *path)
{
	static const char *const names[] = { "never run", "refused", "partly", "whole" };
	FILE *out = fopen(path, "w");

	for (size_t i = 0; out && i < forms.len; i++) {
		fprintf(out, "%s:", names[forms.data[i].fate]);
		for (unsigned k = 0; k < forms.data[i].length; k++)
			fprintf(out, " %02x", forms.data[i].example[k]);
		fprintf(out, "\n");
	}
	if (out)
		fclose(out);
}

static size_t count(enum fate fate)
{
	size_t n = 0;

	for (size_t i = 0; i < forms.len; i++)
		n += forms.data[i].fate == fate;
	return n;
}

/* The paths of libc and libstdc++, from the list of loaded objects. */
static int meet_library(struct dl_phdr_info *info, size_t size, void *lifter)
{
	(void)size;
	if (strstr(info->dlpi_name, "/libc.so") || strstr(info->dlpi_name, "/libstdc++.so"))
		meet_file(lifter, info->dlpi_name);
	return 0;
}

Test(rewind, lifted_instructions_do_what_the_processor_does, .timeout = 600)
{
	char *further = getenv("LIFT_FILES") ? xstrdup(getenv("LIFT_FILES")) : NULL, *rest;
	struct lifter *lifter;
	struct err *err = lifter_new(&lifter);

	if (err) {
		err_free(err);
		cr_skip_test("unplait-lift is not built");
	}
	if (getenv("LIFT_SEED"))
		seed = strtoull(getenv("LIFT_SEED"), NULL, 0) | 1;
	start_child();
	cr_assert(get_vectors(&at_start));
	for (size_t i = 0; i < sizeof(rare) / sizeof(*rare); i++)
		meet(lifter, rare[i].bytes, rare[i].length);
	dl_iterate_phdr(meet_library, lifter);
	meet_file(lifter, "/proc/self/exe");
	for (char *p = further ? strtok_r(further, ":", &rest) : NULL; p;
	     p = strtok_r(NULL, ":", &rest))
		meet_file(lifter, p);
	kill(child, SIGKILL);
	lifter_free(lifter);
	free(further);
	if (getenv("LIFT_LIST"))
		list_forms(getenv("LIFT_LIST"));
	fprintf(stderr,
		"# %u instructions compared; %zu forms: %zu compared in all they do, %zu in a "
		"part, %zu refused, %zu never ran\n",
		checked, forms.len, count(WHOLE), count(PARTLY), count(REFUSED), count(NEVER_RUN));
	cr_assert(checked > 500 && count(WHOLE) > 200);
	/* transactions do not run on every processor */
	cr_assert_leq(count(NEVER_RUN), 2, "%zu forms never ran", count(NEVER_RUN));
	cr_assert_eq(failures, 0, "%u of %u instructions differ", failures, checked);
}
