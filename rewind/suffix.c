/* rewind/suffix.c - see suffix.h.
 *
 * The tree grows level by level: every live node gets its children, one per way in which control can
 * have come to it. A level keeps at most `width` nodes, those that explain the dump best; what
 * is left out stays in the tree as a leaf, so that nothing is called certain because of it.
 *
 * Where can control have come from?
 *   - inside a function: its jumps (rewind/code.c);
 *   - at its first instruction: the caller. The return address is on the stack, so there is one;
 *   - behind a call: the callee's returns. A call that rewind/summaries.def describes is skipped.
 * Dead frames need no code of their own: a return reads its address below the stack pointer, where
 * the dump still has it, so a callee that did not run there contradicts the dump. */
#include "rewind/suffix.h"

#include "base/interrupt.h"
#include "base/log.h"
#include "base/mem.h"
#include "debug/dump.h"
#include "rewind/fixed.h"

#include <stdlib.h>
#include <string.h>

enum { LONGEST_OPEN = 128, MOST_WAYS = 64, CHOICE_BITS = 4 };

static const struct effect summaries[] = {
#define S(name, effect, at, len, times, bytes)                                                     \
	{ .kind = EFFECT_##effect,                                                                 \
	  .where = at,                                                                             \
	  .length = len,                                                                           \
	  .scale = times,                                                                          \
	  .fixed = bytes,                                                                          \
	  .function = name },
#include "rewind/summaries.def"
#undef S
};

void tree_init(struct tree *t, struct history *h, const struct past *start)
{
	struct node *root = arena_new(&h->arena, struct node);

	*t = (struct tree){ .h = h };
	root->past = start;
	root->pc = start->pc;
	vec_push(&t->nodes, root);
}

void tree_deinit(struct tree *t)
{
	vec_deinit(&t->nodes);
}

/* ---- where control can have come from ---- */

struct candidates {
	struct piece data[MOST_WAYS];
	unsigned n;
	bool complete;	 /* there are no others */
	const char *why; /* when there are none */
};

static void add_piece(struct candidates *c, struct piece p)
{
	if (c->n < MOST_WAYS)
		c->data[c->n++] = p;
	else
		c->complete = false;
}

static void add_way(struct candidates *c, const struct way *w, uint64_t to)
{
	const struct block *b = &w->function->blocks.data[w->block];

	add_piece(c, (struct piece){ .function = w->function,
				     .first = b->first,
				     .n = b->n,
				     .way = w->kind,
				     .exit = w->exit,
				     .to = to });
}

static const struct effect *effect_of(struct tree *t, const char *name, uint64_t address)
{
	for (size_t i = 0; i < ARRAY_SIZE(summaries); i++)
		if (strcmp(summaries[i].function, name) == 0) {
			struct effect *e =
				arena_memdup(&t->h->arena, &summaries[i], sizeof(summaries[i]));

			e->address = address;
			return e;
		}
	return NULL;
}

/* The block that ends with the call `i`, as a piece. */
static struct piece calling_piece(const struct function *f, const struct insn *i, uint64_t to)
{
	const struct block *b = function_block(f, i->address);

	return (struct piece){
		.function = f, .first = b->first, .n = b->n, .way = WAY_CALL, .exit = -1, .to = to
	};
}

/* The callee's last deed may be to jump to an imported function, which then returns in its place. */
static void from_tail_calls(struct tree *t, const struct function *callee, uint64_t at,
			    struct candidates *c)
{
	struct code *code = t->h->code;

	for (size_t i = 0; i < callee->blocks.len; i++) {
		const struct block *b = &callee->blocks.data[i];
		const struct insn *last = &callee->insns.data[b->first + b->n - 1];
		const struct lift_op *end = block_end(callee, b);
		struct piece p = { .function = callee,
				   .first = b->first,
				   .n = b->n,
				   .way = WAY_SKIPPED,
				   .exit = -1,
				   .to = at };
		const char *name;

		if (end->kind != LIFT_NEXT || end->w != LIFT_JUMP || end->a ||
		    (end->imm >= callee->low && end->imm < callee->high))
			continue;
		name = code_import(code, callee, last);
		p.effect = name ? effect_of(t, name, code_behind_stub(code, end->imm)) : NULL;
		if (p.effect)
			add_piece(c, p);
		else if (name)
			c->complete = false;
	}
}

/* `at` lies behind a call: what was called? */
static void from_callee(struct tree *t, const struct function *f, const struct insn *call,
			uint64_t at, struct candidates *c)
{
	struct code *code = t->h->code;
	const char *why, *name = code_import(code, f, call);
	uint64_t target = code_target(code, f, call);
	const struct function *callee;
	struct ways ways = { 0 };
	struct piece p;

	if (target)
		target = code_behind_stub(code, target);
	if (name) {
		p = calling_piece(f, call, at);
		p.way = WAY_SKIPPED;
		p.effect = effect_of(t, name, target);
		if (p.effect) {
			add_piece(c, p);
			return;
		}
	}
	callee = target ? code_function(code, target, &why) : NULL;
	if (!callee) {
		c->complete = false;
		c->why = target ? "a call of code that cannot be read"
				: "a call through a pointer that is not known";
		return;
	}
	from_tail_calls(t, callee, at, c);
	code_returns(callee, &ways);
	for (size_t i = 0; i < callee->partners.len; i++) {
		const struct function *g = code_function(code, callee->partners.data[i], &why);

		if (g && g != callee)
			code_returns(g, &ways);
		else if (!g)
			c->complete = false;
	}
	for (size_t i = 0; i < ways.len; i++)
		add_way(c, &ways.data[i], at);
	if (!c->n)
		c->why = "a call that never returns";
	vec_deinit(&ways);
}

/* By a return, or by a jump to a function that returned in its place. */
static bool leaves_function(const struct piece *p)
{
	const struct insn *last = &p->function->insns.data[p->first + p->n - 1];
	const struct lift_op *end = insn_ops(p->function, last) + last->nops - 1;

	return p->way == WAY_RETURN || (p->way == WAY_SKIPPED && end->w == LIFT_JUMP);
}

/* The return address of the function in which a moment lies, or of the one `callers` above it, by the places of their frames
 * (rewind/fixed.h). */
static bool return_address_of_frame(struct tree *t, const struct past *p, unsigned callers,
				    uint64_t *ret)
{
	uint64_t sp;
	const char *why;

	*ret = p->pc;
	if (!past_value(t->h, p, p->registers[LIFT_RSP], &sp))
		return false;
	for (unsigned i = 0; i <= callers; i++) {
		const struct function *f = code_function(t->h->code, *ret, &why);
		const struct block *b = f ? function_block(f, *ret) : NULL;
		const struct fixed *frame =
			b ? &f->fixed[b - f->blocks.data].before[LIFT_RSP] : NULL;

		if (!b || b->start != *ret || frame->kind != FIXED_FRAME)
			return false;
		sp -= frame->number; /* the frame's address: the stack pointer behind the return */
		if (!past_value(t->h, p, past_load(t->h, p, sp - 8, 64), ret))
			return false;
	}
	return true;
}

/* Where the function at the node's address will return to. An open step has no state of its own yet,
 * but if its pieces contain the return, that says it; else the function's frame is still there behind them. */
static bool return_address(struct tree *t, const struct node *n, uint64_t *ret)
{
	const struct past *p = n->past;
	unsigned inner = 0;
	uint64_t sp;

	if (p)
		return past_value(t->h, p, p->registers[LIFT_RSP], &sp) &&
		       past_value(t->h, p, past_load(t->h, p, sp, 64), ret);
	for (uint32_t i = 0; i < n->nopen; i++) {
		if (n->open[i].way == WAY_CALL)
			inner++;
		if (leaves_function(&n->open[i]) && inner-- == 0) {
			*ret = n->open[i].to;
			return true;
		}
	}
	return return_address_of_frame(t, n->open_after, inner, ret);
}

/* `at` is the first instruction of a function: the return address says who called it. */
static void from_caller(struct tree *t, const struct node *node, uint64_t at, struct candidates *c)
{
	struct code *code = t->h->code;
	const struct function *f = NULL;
	const struct insn *call;
	struct ways ways = { 0 };
	uint64_t back, target;
	uint32_t first, n;
	const char *why;
	bool complete;

	c->why = "the return address is not known";
	complete = c->complete;
	c->complete = false;
	if (!return_address(t, node, &back))
		return;
	call = code_call_before(code, back, &f);
	c->why = "no call lies before the return address";
	if (!call)
		return;
	target = code_target(code, f, call);
	c->complete = complete;
	if (!target || target == at) {
		add_piece(c, calling_piece(f, call, at));
		return;
	}
	/* through a stub of the linkage table, or by a jump of the function that was called */
	f = code_function(code, target, &why);
	c->why = "how the caller came here is not known";
	if (!f)
		return;
	if (code_behind_stub(code, target) == at && code_stub(code, target, &f, &first, &n)) {
		add_piece(c, (struct piece){ .function = f,
					     .first = first,
					     .n = n,
					     .way = WAY_JUMP,
					     .exit = -1,
					     .to = at });
		return;
	}
	if (!code_jumps_to(code, f, at, &ways))
		c->complete = false;
	for (size_t i = 0; i < ways.len; i++)
		add_way(c, &ways.data[i], at);
	vec_deinit(&ways);
}

/* Control is where no function lies. The return address names the call; either that went astray, or a jump through a
 * pointer with which the function that it called ended. */
static void from_wild_jump(struct tree *t, const struct node *n, uint64_t at, struct candidates *c)
{
	struct code *code = t->h->code;
	const char *why = c->why;
	const struct function *f = NULL;
	const struct insn *call;
	uint64_t back, target;

	c->complete = false;
	if (!return_address(t, n, &back) || !(call = code_call_before(code, back, &f)))
		return;
	target = code_target(code, f, call);
	if (!target || target == at) {
		add_piece(c, calling_piece(f, call, at));
		c->complete = true;
		return;
	}
	f = code_function(code, code_behind_stub(code, target), &why);
	for (uint32_t i = 0; f && i < f->blocks.len; i++) {
		const struct lift_op *end = block_end(f, &f->blocks.data[i]);

		if (end->kind == LIFT_NEXT && end->w == LIFT_JUMP && end->a)
			add_way(c, &(struct way){ .function = f, .block = i, .exit = -1 }, at);
	}
}

/* Every way to the node's address. */
static void find_candidates(struct tree *t, const struct node *n, struct candidates *c)
{
	uint64_t at = n->pc;
	const struct function *f, *before = NULL;
	const struct block *b;
	const struct insn *call;
	struct ways ways = { 0 };

	*c = (struct candidates){ .complete = true };
	f = code_function(t->h->code, at, &c->why);
	if (!f &&
	    !n->parent) { /* a jump to where no code is: it was a call, or came from what was called */
		from_wild_jump(t, n, at, c);
		return;
	}
	if (!f) {
		c->complete = false;
		return;
	}
	b = function_block(f, at);
	if (b && b->start < at && function_insn(f, at)) { /* in the middle: the dump's own block */
		uint32_t before = (uint32_t)(function_insn(f, at) - f->insns.data) - b->first;

		add_piece(c, (struct piece){ .function = f,
					     .first = b->first,
					     .n = before,
					     .way = WAY_JUMP,
					     .exit = -1,
					     .to = at });
		return;
	}
	if (!code_jumps_to(t->h->code, f, at, &ways))
		c->complete = false;
	for (size_t i = 0; i < ways.len; i++)
		add_way(c, &ways.data[i], at);
	vec_deinit(&ways);
	call = code_call_before(t->h->code, at, &before);
	if (call && before == f)
		from_callee(t, f, call, at, c);
	if (at == f->low || !c->n)
		if (!c->why || at == f->low)
			from_caller(t, n, at, c);
}

/* ---- growing ---- */

/* How well a way explains the dump, in bits: what agreed, less what had to be chosen. */
static int64_t score(const struct node *n)
{
	const struct past *p = n->past ? n->past : n->open_after;
	int64_t bits = p ? p->evidence : 0;

	for (const struct node *k = n->parent; k; k = k->parent)
		if (k->children - k->dead > 1)
			bits -= CHOICE_BITS;
	return bits;
}

static struct node *new_child(struct tree *t, struct node *parent, const struct piece *p)
{
	struct node *n = arena_new(&t->h->arena, struct node);

	n->parent = parent;
	n->depth = parent->depth + 1;
	n->insns = parent->insns + p->n;
	n->pc = p->function->insns.data[p->first].address;
	parent->children++;
	vec_push(&t->nodes, n);
	return n;
}

static void end(struct node *n, const char *why, uint64_t where)
{
	n->state = NODE_ENDED;
	n->why = why;
	n->where = where;
}

/* A node dies when all of its children have, if there can be no others; so may its parents then. */
static void bury(struct node *n)
{
	while (n) {
		n->state = NODE_DEAD;
		n = n->parent;
		if (!n || ++n->dead < n->children)
			return;
		if (n->incomplete) {
			end(n, "no way to get here is known", n->pc);
			return;
		}
	}
}

static void try_candidate(struct tree *t, struct node *n, const struct piece *p)
{
	const struct past *after = n->open ? n->open_after : n->past;
	struct piece pieces[LONGEST_OPEN + 2];
	uint32_t npieces = 1 + n->nopen;
	struct node *child;
	struct step s;

	pieces[0] = *p;
	if (n->nopen)
		memcpy(pieces + 1, n->open, n->nopen * sizeof(*pieces));
	t->tried++;
	switch (step_back(t->h, after, pieces, npieces, &s)) {
	case STEP_REFUTED:
		t->refuted++;
		n->children++;
		n->dead++;
		break;
	case STEP_DONE:
		child = new_child(t, n, p);
		child->step = s;
		child->past = s.before;
		n->guessed |= s.guessed;
		break;
	case STEP_STUCK:
		child = new_child(t, n, p);
		end(child, s.why, s.where);
		break;
	case STEP_OPEN:
		child = new_child(t, n, p);
		if (npieces > LONGEST_OPEN) {
			end(child, "a write to an address that is not known", s.where);
			break;
		}
		child->open = arena_memdup(&t->h->arena, pieces, npieces * sizeof(*pieces));
		child->nopen = npieces;
		child->open_after = after;
		child->where = s.where;
		break;
	}
}

static void expand(struct tree *t, struct node *n)
{
	struct candidates *c = xmalloc(sizeof(*c));

	find_candidates(t, n, c);
	for (unsigned i = 0; i < c->n; i++)
		try_candidate(t, n, &c->data[i]);
	if (n->children > n->dead) {
		n->state = NODE_INNER;
		n->incomplete = !c->complete || n->guessed;
	} else if (n->open) {
		end(n, "a write to an address that is not known", n->where);
	} else if (!c->complete || !c->n) {
		end(n, c->why ? c->why : "no way to get here is known", n->pc);
	} else {
		bury(n);
	}
	free(c);
}

/* Is this the moment when the thread began? */
static bool is_first(const struct tree *t, const struct node *n, const struct suffix_options *o)
{
	uint64_t sp;

	return o->first_pc && n->pc == o->first_pc && n->past &&
	       past_value(t->h, n->past, n->past->registers[LIFT_RSP], &sp) && sp == o->first_sp;
}

struct ranked {
	struct node *node;
	int64_t score;
	uint32_t order;
};

static int by_rank(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;

	if (x->score != y->score)
		return x->score > y->score ? -1 : 1;
	return (x->order > y->order) - (x->order < y->order);
}

/* The nodes to expand next: the best `width` of the live ones. */
static size_t pick(struct tree *t, const struct suffix_options *o, struct ranked *ret)
{
	VEC(struct ranked) all = { 0 };
	size_t n;

	for (size_t i = 0; i < t->nodes.len; i++)
		if (t->nodes.data[i]->state == NODE_LIVE && t->nodes.data[i]->depth < o->blocks)
			vec_push(&all, ((struct ranked){ .node = t->nodes.data[i],
							 .order = (uint32_t)i }));
	if (all.len > o->width) {
		t->cut = true;
		for (size_t i = 0; i < all.len; i++)
			all.data[i].score = score(all.data[i].node);
		vec_sort(&all, by_rank);
		for (size_t i = o->width; i < all.len; i++)
			end(all.data[i].node, "left out: too many ways", all.data[i].node->pc);
	}
	n = MIN(all.len, o->width);
	for (size_t i = 0; i < n; i++)
		ret[i] = all.data[i];
	vec_deinit(&all);
	return n;
}

void tree_grow(struct tree *t, const struct suffix_options *o)
{
	struct ranked *level = xcalloc(o->width, sizeof(*level));
	size_t n;

	while (t->nodes.data[0]->state != NODE_DEAD && (n = pick(t, o, level)) > 0) {
		for (size_t i = 0; i < n; i++) {
			t->interrupted = interrupted();
			t->out_of_time = o->deadline && work_seconds() > o->deadline;
			if (t->interrupted || t->out_of_time)
				goto out;
			if (is_first(t, level[i].node, o))
				end(level[i].node, "the thread began", level[i].node->pc);
			else if (level[i].node->state == NODE_LIVE)
				expand(t, level[i].node);
			t->reached = MAX(t->reached, level[i].node->depth);
		}
		if (o->enough && o->enough(o->arg))
			break;
	}
out:
	free(level);
}

/* ---- questions about the tree ---- */

static bool is_leaf(const struct node *n)
{
	return n->state == NODE_LIVE || n->state == NODE_ENDED;
}

/* A leaf whose step is not done stands for its parent. */
static struct node *known_part(struct node *n)
{
	while (n->parent && !n->past)
		n = n->parent;
	return n;
}

size_t tree_alive(const struct tree *t)
{
	size_t n = 0;

	for (size_t i = 0; i < t->nodes.len; i++)
		n += is_leaf(t->nodes.data[i]);
	return n;
}

size_t tree_leaves(const struct tree *t, struct node **ret, size_t most)
{
	VEC(struct ranked) all = { 0 };
	size_t n = 0;

	for (size_t i = 0; i < t->nodes.len; i++)
		if (is_leaf(t->nodes.data[i])) {
			struct node *k = known_part(t->nodes.data[i]);

			vec_push(&all,
				 ((struct ranked){
					 .node = k, .score = score(k), .order = (uint32_t)i }));
		}
	vec_sort(&all, by_rank);
	for (size_t i = 0; i < all.len && n < most; i++) {
		bool seen = false;

		for (size_t k = 0; k < n; k++)
			seen |= ret[k] == all.data[i].node;
		if (!seen)
			ret[n++] = all.data[i].node;
	}
	vec_deinit(&all);
	return n;
}

struct node *tree_best(const struct tree *t)
{
	struct node *best = NULL;

	for (size_t i = 0; i < t->nodes.len; i++) {
		struct node *n = t->nodes.data[i];

		if (!is_leaf(n))
			continue;
		n = known_part(n);
		if (!best || score(n) > score(best) ||
		    (score(n) == score(best) && n->depth > best->depth))
			best = n;
	}
	return best;
}

bool tree_is_certain(const struct tree *t, const struct node *n)
{
	for (size_t i = 0; i < t->nodes.len; i++) {
		const struct node *leaf = t->nodes.data[i];

		if (!is_leaf(leaf))
			continue;
		while (leaf && leaf->depth > n->depth)
			leaf = leaf->parent;
		if (leaf != n)
			return false;
	}
	return true;
}
