/* test/unit/test-rewind-values.c - values that the tool's own walk knows, against what a single-stepped run had, over
 * small programs of different kinds: without branch records, with the last 32, with all. None may be wrong. The table in
 * doc/results/rewind.md (the row of REPT) is what this prints with VALUES_SECONDS=20, which each walk may take. */
#include "rewind-truth.h"

#include "base/mem.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static volatile int *nowhere;

/* ---- a parser of `name = number;` into records ---- */

struct setting {
	char name[8];
	long value;
	int line;
};

static struct setting settings[16];
static const char source[] = "width = 640;\nheight=48;\n depth = 0x2f;\nname = 7;\nlast = 99x;\n";

static __attribute__((noinline)) const char *skip(const char *s, int *line)
{
	for (; *s == ' ' || *s == '\n' || *s == ';'; s++)
		*line += *s == '\n';
	return s;
}

static __attribute__((noinline)) long number(const char **s)
{
	long v = 0;
	int base = 10, digit;

	if ((*s)[0] == '0' && (*s)[1] == 'x') {
		base = 16;
		*s += 2;
	}
	for (;; ++*s) {
		if (**s >= '0' && **s <= '9')
			digit = **s - '0';
		else if (base == 16 && **s >= 'a' && **s <= 'f')
			digit = **s - 'a' + 10;
		else
			return v;
		v = v * base + digit;
	}
}

static void parsing(unsigned seed)
{
	const char *s = source;
	int n = 0, line = (int)seed;

	for (s = skip(s, &line); *s; s = skip(s, &line)) {
		struct setting *t = &settings[n++];
		int i = 0;

		while (*s >= 'a' && *s <= 'z' && i < 7)
			t->name[i++] = *s++;
		while (*s == ' ' || *s == '=')
			s++;
		t->value = number(&s);
		t->line = line;
		if (*s != ';')
			break;
	}
	*nowhere = n;
}

/* ---- a ring of messages with a sum ---- */

struct message {
	unsigned short length, sum;
	unsigned char data[12];
};

static struct {
	struct message slot[8];
	unsigned head, tail;
	unsigned long moved;
} ring;

static __attribute__((noinline)) unsigned short sum_of(const unsigned char *p, unsigned n)
{
	unsigned sum = 0xffff;

	for (unsigned i = 0; i < n; i++)
		sum = ((sum << 3 | sum >> 13) & 0xffff) ^ p[i];
	return (unsigned short)sum;
}

static __attribute__((noinline)) void transmit(unsigned seed)
{
	struct message *m = &ring.slot[ring.head++ % 8];

	m->length = (unsigned short)(seed % 12);
	for (unsigned i = 0; i < m->length; i++)
		m->data[i] = (unsigned char)(seed >> i);
	m->sum = sum_of(m->data, m->length);
}

static __attribute__((noinline)) int receive(void)
{
	const struct message *m = &ring.slot[ring.tail++ % 8];

	ring.moved += m->length;
	return sum_of(m->data, m->length) == m->sum ? m->data[0] : -1;
}

static void ringing(unsigned seed)
{
	int last = 0;

	for (unsigned i = 0; i < 14; i++) {
		transmit(seed * 2654435761u + i * 40503u);
		if (i % 3 != 1)
			last = receive();
	}
	*nowhere = last;
}

/* ---- quicksort, recursive ---- */

static int keys[32];

static __attribute__((noinline)) void quick(int *a, int n)
{
	int pivot, low = 0, high = n - 1;

	if (n < 2)
		return;
	pivot = a[n / 2];
	while (low <= high) {
		while (a[low] < pivot)
			low++;
		while (a[high] > pivot)
			high--;
		if (low <= high) {
			int t = a[low];

			a[low++] = a[high];
			a[high--] = t;
		}
	}
	quick(a, high + 1);
	quick(a + low, n - low);
}

static void quicksorting(unsigned seed)
{
	for (int i = 0; i < 18; i++)
		keys[i] = (int)((seed + (unsigned)i) * 2654435761u >> 24);
	quick(keys, 18);
	*nowhere = keys[3];
}

/* ---- an interpreter ---- */

struct machine {
	long stack[16];
	int top, pc;
	long steps;
};

static struct machine machine;

static __attribute__((noinline)) long execute(struct machine *m, const signed char *code)
{
	for (;; m->steps++) {
		int op = code[m->pc++];

		switch (op) {
		case 0:
			m->stack[m->top++] = code[m->pc++];
			break;
		case 1:
			m->top--;
			m->stack[m->top - 1] += m->stack[m->top];
			break;
		case 2:
			m->top--;
			m->stack[m->top - 1] *= m->stack[m->top];
			break;
		case 3:
			m->stack[m->top] = m->stack[m->top - 1];
			m->top++;
			break;
		case 4:
			m->stack[m->top - 1]--;
			if (m->stack[m->top - 1])
				m->pc += code[m->pc];
			else
				m->pc++;
			break;
		case 5: {
			long t = m->stack[m->top - 1];

			m->stack[m->top - 1] = m->stack[m->top - 2];
			m->stack[m->top - 2] = t;
			break;
		}
		default:
			return m->stack[m->top - 2];
		}
	}
}

static void interpreting(unsigned seed)
{
	/* 3 * 2 * 2 ... as often as the seed says */
	signed char code[] = { 0, 3, 0, 4, 5, 0, 2, 2, 5, 4, -6, 0, 1, 1, 9 };

	code[3] = (signed char)(3 + seed);
	memset(&machine, 0, sizeof(machine));
	*nowhere = (int)execute(&machine, code);
}

/* ---- matrices and a determinant, with division ---- */

static long a[4][4], b[4][4], c[4][4];

static __attribute__((noinline)) void multiply(void)
{
	for (int i = 0; i < 4; i++)
		for (int k = 0; k < 4; k++) {
			c[i][k] = 0;
			for (int m = 0; m < 4; m++)
				c[i][k] += a[i][m] * b[m][k];
		}
}

static __attribute__((noinline)) long determinant(long m[4][4])
{
	long before = 1;

	for (int k = 0; k < 3; k++) {
		if (!m[k][k])
			return 0;
		for (int i = k + 1; i < 4; i++)
			for (int j = k + 1; j < 4; j++)
				m[i][j] = (m[i][j] * m[k][k] - m[i][k] * m[k][j]) / before;
		before = m[k][k];
	}
	return m[3][3];
}

static void calculating(unsigned seed)
{
	for (int i = 0; i < 4; i++)
		for (int k = 0; k < 4; k++) {
			a[i][k] = (long)((seed + 3) * (unsigned)(i + 1)) % (k + 4);
			b[i][k] = i == k ? 2 : (i ^ k);
		}
	multiply();
	*nowhere = (int)determinant(c);
}

/* ---- the table ---- */

enum { BLOCKS = 60 };

static const size_t records[] = { 0, 32, TRUTH_STEPS };

/* Without records, with the last 32, with all. */
static void compare(const char *name, void (*fails)(unsigned))
{
	const char *seconds = getenv("VALUES_SECONDS");

	for (unsigned i = 0; i < ARRAY_SIZE(records); i++) {
		struct truth_walked w = { 0 };
		struct truth x;

		truth_init(&x, fails, 1);
		truth_walk(&x, BLOCKS, records[i], seconds ? atof(seconds) : 1, &w);
		fprintf(stderr, "# %s: ", name);
		truth_print(&w);
		cr_assert_eq(w.wrong, 0, "%s", name);
		if (records[i] == TRUTH_STEPS)
			cr_assert_eq(w.strayed, 0, "the records say where control came from");
		truth_deinit(&x);
	}
}

#define VALUES(name, fails)                                                                        \
	Test(rewind, values_of_##name)                                                             \
	{                                                                                          \
		compare(#name, fails);                                                             \
	}

VALUES(a_parser, parsing)
VALUES(a_ring, ringing)
VALUES(quicksort, quicksorting)
VALUES(an_interpreter, interpreting)
VALUES(matrices, calculating)
