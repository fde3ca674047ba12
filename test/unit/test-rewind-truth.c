/* test/unit/test-rewind-truth.c - steps back against what really happened.
 *
 * A child of ours runs a function that fails in the end. We single-step it, write down every state, and
 * make a core dump of the failure. Then we walk back from the dump along the instructions that really
 * ran: no step may be refuted, and every register that a step claims to know must be what it was. A second walk takes
 * every loop as a whole: a step over all of its turns must have run the very instructions that ran. */
#include "rewind-truth.h"

#include "base/mem.h"
#include "rewind/loops.h"
#include "rewind/route.h"
#include "rewind/step.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

/* ---- what fails ---- */

struct tree_node {
	struct tree_node *left, *right;
	int key, count;
};

static struct tree_node nodes[64];
static int numbers[64], copies[64];
static unsigned char text[128];
static volatile int *nowhere;
static int used;

static __attribute__((noinline)) void sort(int *a, int n)
{
	for (int i = 1; i < n; i++) {
		int v = a[i], k = i;

		for (; k > 0 && a[k - 1] > v; k--)
			a[k] = a[k - 1];
		a[k] = v;
	}
}

static __attribute__((noinline)) struct tree_node *insert(struct tree_node *t, int key)
{
	if (!t) {
		t = &nodes[used++];
		t->key = key;
		t->count = 1;
		return t;
	}
	if (key < t->key)
		t->left = insert(t->left, key);
	else if (key > t->key)
		t->right = insert(t->right, key);
	else
		t->count++;
	return t;
}

static __attribute__((noinline)) unsigned hash(const unsigned char *s, int n)
{
	unsigned h = 5381;

	for (int i = 0; i < n; i++)
		h = (h << 5) + h + s[i] * 31u / 7 % 13;
	return h;
}

static __attribute__((noinline)) long digits(unsigned long v, unsigned char *out)
{
	long n = 0;

	do {
		out[n++] = (unsigned char)('0' + v % 10);
		v /= 10;
	} while (v);
	return n;
}

static __attribute__((noinline)) int choose(int kind, int x)
{
	switch (kind) {
	case 0:
		return x + 1;
	case 1:
		return x * 3;
	case 2:
		return x ^ 0x55;
	case 3:
		return x >> 2;
	case 4:
		return -x;
	case 5:
		return x & 15;
	default:
		return 0;
	}
}

static void victim(unsigned seed)
{
	struct tree_node *root = NULL;
	unsigned h;

	for (int i = 0; i < 24; i++) {
		seed = seed * 1103515245u + 12345u;
		numbers[i] = (int)(seed >> 16) % 100;
	}
	sort(numbers, 24);
	for (int i = 0; i < 10; i++)
		root = insert(root, numbers[(i * 7) % 24]);
	for (int i = 0; i < 12; i++)
		copies[i] = choose((numbers[i] & 7), copies[i] + i) + root->key;
	h = hash(text, (int)digits(seed, text));
	copies[h % 16] += (int)h;
	*nowhere = (int)h;
}

/* Loops one behind the other and inside each other, with branches and calls in them. */
static __attribute__((noinline)) int weigh(int v)
{
	int n = 0;

	for (; v; v >>= 1)
		n += v & 1;
	return n;
}

static int grid[8][8];

static void looping(unsigned seed)
{
	unsigned odd = 0, sum = 0;

	for (int i = 0; i < 20; i++)
		numbers[i] = (int)((unsigned)i * seed % 23);
	for (int i = 0; i < 19; i++)
		nodes[i].left = &nodes[i + 1];
	for (int i = 0; i < 20; i++)
		if (numbers[i] & 1)
			odd += (unsigned)weigh(numbers[i]);
	for (int i = 0; i < 8; i++)
		for (int k = 0; k < i; k++)
			grid[i][k] = numbers[i + k] - (int)odd;
	for (const struct tree_node *n = nodes; n; n = n->left)
		sum++;
	used = (int)sum;
	*nowhere = (int)odd;
}

/* ---- back along it ---- */

/* The piece that ends with instruction number `end` - 1 of the record; how many instructions. */
static uint32_t piece_before(struct code *c, const struct truth_record *r, size_t end,
			     struct piece *ret)
{
	uint32_t n = 1;

	if (!piece_between(c, r->at[end - 1].rip, r->at[end].rip, ret))
		return 0;
	while (n < end && r->at[end - n].rip != ret->function->insns.data[ret->first].address)
		n++;
	cr_assert_eq(n, ret->n);
	return n;
}

static void walk(struct history *h, const struct truth_record *r, unsigned most,
		 struct truth_tally *t)
{
	struct piece open[24];
	const struct past *p = past_of_dump(h, 0);
	uint32_t nopen = 0;
	size_t end = r->n;

	while (end > 1 && t->steps < most && nopen < ARRAY_SIZE(open)) {
		enum step_result result;
		struct step s;
		uint32_t n;

		memmove(open + 1, open, nopen * sizeof(*open));
		n = piece_before(h->code, r, end, &open[0]);
		if (!n)
			break;
		result = step_back(h, p, open, ++nopen, &s);
		end -= n;
		t->steps++;
		if (result == STEP_REFUTED) {
			t->refuted++;
			fprintf(stderr, "# refuted: step %u back, %u blocks at %llx\n", t->steps,
				nopen, r->at[end].rip);
			break;
		}
		if (result == STEP_STUCK)
			break;
		if (result == STEP_OPEN)
			continue;
		nopen = 0;
		p = s.before;
		truth_check_registers(h, p, &r->at[end], t);
	}
}

/* ---- loops as a whole ---- */

struct loop_tally {
	unsigned loops, turns, given_up, wrong;
};

/* The outermost loop that instruction number `end` - 1 of the record is in, and that `end` is not in. */
static const struct loop *loop_before(struct code *c, const struct truth_record *r, size_t end)
{
	const char *why;
	const struct function *f = code_function(c, r->at[end].rip, &why);

	for (size_t i = 0; f && i < f->loops.len; i++)
		if (loop_has(&f->loops.data[i], f, r->at[end - 1].rip) &&
		    !loop_has(&f->loops.data[i], f, r->at[end].rip))
			return &f->loops.data[i];
	return NULL;
}

/* The number of the first instruction of the loop that ends at `end`: calls from it have a lower stack pointer. */
static size_t loop_began(struct code *c, const struct truth_record *r, const struct loop *l,
			 size_t end)
{
	unsigned long long sp = r->at[end - 1].rsp;
	const char *why;
	size_t i = end;

	while (i > 1 && (r->at[i - 1].rsp < sp ||
			 loop_has(l, code_function(c, r->at[i - 1].rip, &why), r->at[i - 1].rip)))
		i--;
	return i;
}

/* Are the step's instructions those from number `from` on? */
static bool ran_as_recorded(const struct step *s, const struct truth_record *r, size_t from,
			    size_t end)
{
	for (uint32_t i = 0; i < s->npieces; i++)
		for (uint32_t k = 0; k < s->pieces[i].n; k++, from++) {
			const struct piece *p = &s->pieces[i];

			if (from >= end ||
			    p->function->insns.data[p->first + k].address != r->at[from].rip)
				return false;
		}
	return from == end;
}

/* All turns of the loop, made longer by what ran before it. The state before; NULL: they stay undecided. */
static const struct past *over_loop(struct history *h, const struct truth_record *r,
				    const struct loop *l, const struct past *after, size_t *end,
				    struct loop_tally *t)
{
	struct piece pieces[12];
	uint32_t n = 1;
	size_t from = loop_began(h->code, r, l, *end);

	pieces[0] = (struct piece){ .function = l->function,
				    .first = l->function->blocks.data[l->header].first,
				    .way = WAY_LOOP,
				    .exit = -1,
				    .to = r->at[*end].rip,
				    .loop = l };
	while (n < ARRAY_SIZE(pieces) && from > 1) {
		enum step_result result;
		struct step s;
		uint32_t insns;

		memmove(pieces + 1, pieces, n++ * sizeof(*pieces));
		insns = piece_before(h->code, r, from, &pieces[0]);
		if (!insns)
			break;
		from -= insns;
		result = step_back(h, after, pieces, n, &s);
		if (result == STEP_OPEN)
			continue;
		if (result != STEP_DONE)
			break;
		t->loops++;
		t->turns += s.npieces;
		t->wrong += !ran_as_recorded(&s, r, from, *end);
		*end = from;
		return s.before;
	}
	t->given_up++;
	return NULL;
}

/* Back with every loop as a whole where that is decided, else turn by turn. */
static void walk_loops(struct history *h, const struct truth_record *r, struct truth_tally *t,
		       struct loop_tally *l)
{
	struct piece open[24];
	const struct past *p = past_of_dump(h, 0);
	uint32_t nopen = 0;
	size_t end = r->n;

	while (end > 1 && t->steps < 400 && nopen < ARRAY_SIZE(open)) {
		const struct loop *loop = nopen ? NULL : loop_before(h->code, r, end);
		const struct past *before = loop ? over_loop(h, r, loop, p, &end, l) : NULL;
		enum step_result result;
		struct step s;
		uint32_t n;

		t->steps++;
		if (before) {
			p = before;
			truth_check_registers(h, p, &r->at[end], t);
			continue;
		}
		memmove(open + 1, open, nopen * sizeof(*open));
		n = piece_before(h->code, r, end, &open[0]);
		if (!n)
			break;
		result = step_back(h, p, open, ++nopen, &s);
		end -= n;
		t->refuted += result == STEP_REFUTED;
		if (result == STEP_REFUTED || result == STEP_STUCK)
			break;
		if (result == STEP_OPEN)
			continue;
		nopen = 0;
		p = s.before;
		truth_check_registers(h, p, &r->at[end], t);
	}
}

static void one(unsigned seed, struct truth_tally *t, struct loop_tally *l)
{
	struct truth x;

	truth_init(&x, l ? looping : victim, seed);
	if (l)
		walk_loops(&x.h, &x.r, t, l);
	else
		walk(&x.h, &x.r, 120, t);
	truth_deinit(&x);
}

Test(rewind, steps_back_are_what_happened)
{
	struct truth_tally t = { 0 };

	for (unsigned seed = 1; seed <= 2; seed++) {
		struct truth_tally s = { 0 };

		one(seed, &s, NULL);
		fprintf(stderr, "# seed %u: %u steps, registers %u known, %u unknown, %u wrong\n",
			seed, s.steps, s.known, s.unknown, s.wrong);
		t.steps += s.steps;
		t.known += s.known;
		t.wrong += s.wrong;
		t.refuted += s.refuted;
	}
	cr_assert_eq(t.refuted, 0);
	cr_assert_eq(t.wrong, 0);
	cr_assert_gt(t.steps, 150);
	cr_assert_gt(t.known, t.steps * 4);
}

Test(rewind, loops_as_a_whole_are_what_happened)
{
	for (unsigned seed = 1; seed <= 3; seed++) {
		struct loop_tally l = { 0 };
		struct truth_tally t = { 0 };

		one(seed, &t, &l);
		fprintf(stderr,
			"# seed %u: %u loops of %u blocks, %u given up; registers %u known, %u "
			"wrong\n",
			seed, l.loops, l.turns, l.given_up, t.known, t.wrong);
		cr_assert_eq(l.wrong, 0);
		cr_assert_eq(t.wrong, 0);
		cr_assert_eq(t.refuted, 0);
		cr_assert_gt(l.loops, 1);
	}
}

/* ---- with branch records ---- */

Test(rewind, branch_records_tell_the_way)
{
	struct truth_walked all = { 0 }, last = { 0 };
	struct truth x;

	truth_init(&x, looping, 1);
	truth_walk(&x, 60, TRUTH_STEPS, 0, &all);
	truth_print(&all);
	cr_assert_eq(all.wrong, 0);
	cr_assert_eq(all.strayed, 0, "the records say where control came from");
	cr_assert_eq(all.certain, all.moments, "there is one way");
	cr_assert_geq(all.blocks, 60);
	truth_walk(&x, 16, 12, 0, &last);
	truth_print(&last);
	cr_assert_eq(last.wrong, 0);
	cr_assert_geq(last.certain, 8);
	truth_deinit(&x);
}
