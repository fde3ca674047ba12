/* rewind/loops.c - see loops.h.
 *
 * A loop is a strongly connected component of the function's blocks (Tarjan 1972). Without its header, what remains of it
 * is searched again: that finds the loops inside. A component that has two ways in is no loop of ours. */
#include "rewind/loops.h"

#include "base/mem.h"
#include "rewind/code.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_BLOCKS = 2000 };

struct edge {
	uint32_t from, to;
};

struct search {
	const struct function *f;
	VEC(struct edge) edges; /* by `from` */
	uint32_t *first;	/* of each block's edges; one more at the end */
	uint32_t *number, *low; /* of the search; 0 = not seen */
	bool *open;		/* on the stack */
	VEC(uint32_t) stack;
	uint32_t next;
	struct loops *ret;
};

static void add_edge(struct search *s, uint32_t from, uint64_t to)
{
	const struct block *b = function_block(s->f, to);

	if (b && b->start == to)
		vec_push(&s->edges, ((struct edge){ from, (uint32_t)(b - s->f->blocks.data) }));
}

static void add_edges(struct search *s, uint32_t from)
{
	const struct function *f = s->f;
	const struct block *b = &f->blocks.data[from];
	const struct insn *last = &f->insns.data[b->first + b->n - 1];
	const struct lift_op *ops = insn_ops(f, last), *end = block_end(f, b);

	for (unsigned i = 0; i < last->nops; i++)
		if (ops[i].kind == LIFT_EXIT)
			add_edge(s, from, ops[i].imm);
	if (end->kind != LIFT_NEXT)
		return;
	if (end->w == LIFT_CALL)
		add_edge(s, from, b->end);
	else if ((end->w == LIFT_JUMP || end->w == LIFT_SYSCALL) && !end->a)
		add_edge(s, from, end->imm);
	for (size_t i = 0; end->w == LIFT_JUMP && end->a && i < f->indirect.len; i++)
		add_edge(s, from, f->indirect.data[i]);
}

static void find_in(struct search *s, const bool *in);

/* A component is known: its blocks are the ones that `has`. */
static void add_component(struct search *s, bool *has, uint32_t n, uint32_t any)
{
	struct loop l = { .function = s->f, .has = has };
	uint32_t entries = has[0]; /* calls come in there */
	bool turns = n > 1;
	bool *rest;

	for (size_t i = 0; i < s->edges.len; i++) {
		const struct edge *e = &s->edges.data[i];

		turns |= e->from == any && e->to == any;
		if (has[e->from] || !has[e->to] || (entries && l.header == e->to))
			continue;
		l.header = e->to;
		entries++;
	}
	if (!turns || !entries) {
		free(has);
		return;
	}
	for (uint32_t i = 0; i < s->f->blocks.len; i++) {
		const struct lift_op *end = block_end(s->f, &s->f->blocks.data[i]);

		l.calls |= has[i] && end->kind == LIFT_NEXT && end->w == LIFT_CALL;
	}
	rest = xcalloc(s->f->blocks.len, sizeof(*rest));
	memcpy(rest, has, s->f->blocks.len * sizeof(*rest));
	rest[l.header] = false;
	if (entries == 1)
		vec_push(s->ret, l);
	else
		free(has);
	find_in(s, rest);
	free(rest);
}

struct components {
	bool **has;
	uint32_t *n, *any;
	size_t len;
};

/* Tarjan's search from one block; components are collected, because a search for the inner ones uses the same arrays. */
static void visit(struct search *s, const bool *in, uint32_t at, struct components *c)
{
	s->number[at] = s->low[at] = ++s->next;
	s->open[at] = true;
	vec_push(&s->stack, at);
	for (uint32_t i = s->first[at]; i < s->first[at + 1]; i++) {
		uint32_t to = s->edges.data[i].to;

		if (!in[to])
			continue;
		if (!s->number[to])
			visit(s, in, to, c);
		if (s->open[to])
			s->low[at] = MIN(s->low[at], s->low[to]);
	}
	if (s->low[at] != s->number[at])
		return;
	c->has[c->len] = xcalloc(s->f->blocks.len, sizeof(bool));
	c->any[c->len] = at;
	for (uint32_t k = UINT32_MAX; k != at;) {
		k = s->stack.data[--s->stack.len];
		s->open[k] = false;
		c->has[c->len][k] = true;
		c->n[c->len]++;
	}
	c->len++;
}

/* The loops among some of the blocks. */
static void find_in(struct search *s, const bool *in)
{
	uint32_t n = (uint32_t)s->f->blocks.len;
	struct components c = { .has = xcalloc(n, sizeof(*c.has)),
				.n = xcalloc(n, sizeof(*c.n)),
				.any = xcalloc(n, sizeof(*c.any)) };

	memset(s->number, 0, n * sizeof(*s->number));
	for (uint32_t i = 0; i < n; i++)
		if (in[i] && !s->number[i])
			visit(s, in, i, &c);
	for (size_t i = 0; i < c.len; i++)
		add_component(s, c.has[i], c.n[i], c.any[i]);
	free(c.has);
	free(c.n);
	free(c.any);
}

void loops_find(const struct function *f, struct loops *ret)
{
	uint32_t n = (uint32_t)f->blocks.len;
	struct search s = { .f = f, .ret = ret };
	bool *all;

	if (!n || n > MOST_BLOCKS)
		return;
	s.first = xcalloc(n + 1u, sizeof(*s.first));
	s.number = xcalloc(n, sizeof(*s.number));
	s.low = xcalloc(n, sizeof(*s.low));
	s.open = xcalloc(n, sizeof(*s.open));
	all = xcalloc(n, sizeof(*all));
	for (uint32_t i = 0; i < n; i++) {
		all[i] = true;
		s.first[i] = (uint32_t)s.edges.len;
		add_edges(&s, i);
	}
	s.first[n] = (uint32_t)s.edges.len;
	find_in(&s, all);
	free(s.first);
	free(s.number);
	free(s.low);
	free(s.open);
	free(all);
	vec_deinit(&s.edges);
	vec_deinit(&s.stack);
}

void loops_deinit(struct loops *l)
{
	for (size_t i = 0; i < l->len; i++)
		free(l->data[i].has);
	free(l->data);
	*l = (struct loops){ 0 };
}

bool loop_has(const struct loop *l, const struct function *f, uint64_t address)
{
	const struct block *b = f == l->function ? function_block(f, address) : NULL;

	return b && l->has[b - f->blocks.data];
}
