/* rewind/suffix.c - see suffix.h.
 *
 * The tree grows level by level: every live node gets its children, one per way in which control can
 * have come to it. A level keeps at most `width` nodes, those that explain the dump best; what
 * is left out stays in the tree as a leaf, so that nothing is called certain because of it. */
#include "rewind/suffix.h"

#include "base/interrupt.h"
#include "base/log.h"
#include "base/mem.h"
#include "rewind/origins.h"
#include "debug/dump.h"
#include "rewind/fixed.h"
#include "rewind/reach.h"
#include "rewind/route.h"
#include "rewind/targets.h"

#include <stdlib.h>
#include <string.h>

enum {
	LONGEST_OPEN = 128,
	LONGEST_BEFORE_LOOP = 12,
	CHOICE_BITS = 4,
	SEARCH_AT = 4,
	MOST_FOUND = 8
};

void tree_init(struct tree *t, struct history *h, const struct past *start)
{
	struct node *root = arena_new(&h->arena, struct node);

	*t = (struct tree){ .h = h };
	root->past = start;
	root->pc = start->pc;
	vec_push(&t->nodes, root);
}

void tree_follow(struct tree *t, const struct route *route)
{
	t->route = route;
	t->nodes.data[0]->passed = route->first;
}

void tree_deinit(struct tree *t)
{
	vec_deinit(&t->nodes);
	vec_deinit(&t->seconds);
	reaches_free(t->reaches);
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
	n->via = *p;
	n->depth = parent->depth + 1;
	n->insns = parent->insns + p->n;
	n->pc = p->function->insns.data[p->first].address;
	route_allows(t->route, parent->passed, parent->pc, p, &n->passed);
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

/* ---- loops ----
 *
 * Where control comes out of a loop, or is in one, the walk turn by turn gets company: a step over all turns at once
 * (unroll.c), made longer by the code before the loop until it is decided. As soon as every way into the loop has got
 * its answer that way, the walk turn by turn is dropped: it could only find the same again, and ways that differ in
 * what nobody knows. A shortcut that does not get anywhere vanishes. */

struct shortcut {
	struct node *at; /* where the loop was left */
	const struct loop *loop;
	uint32_t open, done; /* its nodes; how many got an answer */
	bool unsure;	     /* there may be other answers */
};

static void shortcut_done(struct shortcut *s, bool guessed)
{
	s->done++;
	s->unsure |= guessed;
}

/* The child of `at` on the way to n; NULL when n lies elsewhere. */
static struct node *child_towards(const struct node *at, struct node *n)
{
	while (n && n->depth > at->depth + 1)
		n = n->parent;
	return n && n->parent == at ? n : NULL;
}

/* Drop what goes through the loop turn by turn. */
static void drop_turns(struct tree *t, const struct shortcut *s)
{
	for (size_t i = t->nodes.len; i-- > 0;) {
		struct node *n = t->nodes.data[i], *c = child_towards(s->at, n);
		bool is_shortcut = c && c->via.way == WAY_LOOP && c->via.loop == s->loop;

		if (!c || is_shortcut || n->state == NODE_DEAD ||
		    !piece_is_in_loop(t, s->loop, &c->via))
			continue;
		if (n == c)
			s->at->dead++;
		n->state = NODE_DEAD;
	}
}

/* A node of a shortcut was expanded, or is given up. */
static void shortcut_leave(struct tree *t, struct node *n)
{
	struct shortcut *s = n->shortcut;

	n->shortcut = NULL;
	s->open--;
	if (n->children > n->dead)
		n->state = NODE_INNER;
	else
		bury(n);
	if (!s->open && s->done && !s->unsure)
		drop_turns(t, s);
	if (s->at->state == NODE_INNER && s->at->children == s->at->dead) {
		if (s->at->incomplete)
			end(s->at, "no way to get here is known", s->at->pc);
		else
			bury(s->at);
	}
}

/* Was this loop tried already, since its function was entered? */
static bool was_tried(const struct node *n, const struct function *f, size_t loop)
{
	for (; n && n->pc != f->low; n = n->parent)
		if (n->tried_in == f && n->tried >> loop & 1)
			return true;
	return false;
}

/* Can control have come here from inside the loop? */
static bool comes_from(struct tree *t, const struct loop *l, const struct origins *c)
{
	for (unsigned i = 0; i < c->n; i++)
		if (piece_is_in_loop(t, l, &c->data[i]))
			return true;
	return false;
}

/* The failure's own moment comes only once, unless it is a call: that may have been made before, and did not fail. */
static bool may_come_again(const struct node *n, const struct function *f)
{
	const struct insn *in = function_insn(f, n->pc);
	const struct lift_op *end = in ? insn_ops(f, in) + in->nops - 1 : NULL;

	return n->parent || (end && end->kind == LIFT_NEXT && end->w == LIFT_CALL);
}

static void try_loops(struct tree *t, struct node *n, const struct origins *c)
{
	const char *why;
	const struct function *f = code_function(t->h->code, n->pc, &why);

	for (size_t i = 0; f && i < MIN(f->loops.len, 64u); i++) {
		const struct loop *l = &f->loops.data[i];
		struct piece p = piece_of_loop(l, n->pc);
		struct node *child;

		if (!comes_from(t, l, c) || was_tried(n, f, i))
			continue;
		n->tried_in = f;
		n->tried |= 1ull << i;
		child = new_child(t, n, &p);
		child->open = arena_memdup(&t->h->arena, &p, sizeof(p));
		child->nopen = 1;
		child->open_after = n->past;
		child->shortcut = arena_new(&t->h->arena, struct shortcut);
		*child->shortcut = (struct shortcut){ .at = n, .loop = l, .open = 1 };
		child->shortcut->unsure = loop_has(l, f, n->pc) && may_come_again(n, f);
	}
}

/* Shortcuts that have no answer yet vanish if there is anything else. */
static void drop_shortcuts(struct tree *t)
{
	for (size_t i = 0; i < t->nodes.len; i++) {
		struct node *n = t->nodes.data[i];

		if (n->shortcut && n->state == NODE_LIVE) {
			n->shortcut->unsure = true;
			shortcut_leave(t, n);
		}
	}
}

/* Instructions of the node and behind it; its step may contain all turns of a loop. */
static void count_insns(struct node *n)
{
	const struct node *after = n->parent;

	while (!after->past)
		after = after->parent;
	n->insns = after->insns + n->step.ninsns;
}

/* Where can an open step have written? That is asked for long ones, now and then, and where a function was called: there its
 * arguments become known. */
static bool is_to_search(enum step_result result, const struct step *s, const struct piece *pieces,
			 uint32_t npieces)
{
	if (result == STEP_STUCK)
		return s->unstable;
	return result == STEP_OPEN && npieces >= SEARCH_AT &&
	       (pieces[0].way == WAY_CALL || !(npieces & (npieces - 1)));
}

/* True: its children are known. */
static bool search_places(struct tree *t, struct node *n, const struct piece *pieces,
			  uint32_t npieces, const struct past *after)
{
	struct step found[MOST_FOUND];
	size_t len;

	if (n->shortcut)
		return false;
	len = step_search(t->h, after, pieces, npieces, found, MOST_FOUND);
	for (size_t i = 0; i < len; i++) {
		struct node *child = new_child(t, n, &pieces[0]);

		child->step = found[i];
		child->past = found[i].before;
		count_insns(child);
		n->guessed = true;
	}
	return len > 0;
}

static void try_candidate(struct tree *t, struct node *n, const struct piece *p)
{
	const struct past *after = n->open ? n->open_after : n->past;
	uint32_t longest = n->shortcut ? LONGEST_BEFORE_LOOP : LONGEST_OPEN;
	struct piece pieces[LONGEST_OPEN + 2];
	uint32_t npieces = 1 + n->nopen;
	enum step_result result;
	struct node *child;
	struct step s;
	double start;

	pieces[0] = *p;
	if (n->nopen)
		memcpy(pieces + 1, n->open, n->nopen * sizeof(*pieces));
	t->tried++;
	s = (struct step){ 0 };
	start = work_seconds();
	result = p->way == WAY_LOOP ? STEP_OPEN : step_back(t->h, after, pieces, npieces, &s);
	vec_push(&t->seconds, work_seconds() - start);
	if (result == STEP_REFUTED) {
		t->refuted++;
		n->children++;
		n->dead++;
		return;
	}
	if (is_to_search(result, &s, pieces, npieces) &&
	    search_places(t, n, pieces, npieces, after))
		return;
	if (n->shortcut && (result == STEP_STUCK || (result == STEP_OPEN && npieces > longest))) {
		n->shortcut->unsure = true;
		n->children++;
		n->dead++;
		return;
	}
	child = new_child(t, n, p);
	if (result == STEP_DONE) {
		child->step = s;
		child->past = s.before;
		count_insns(child);
		n->guessed |= s.guessed;
		if (n->shortcut)
			shortcut_done(n->shortcut, s.guessed);
	} else if (result == STEP_STUCK) {
		end(child, s.why, s.where);
	} else if (npieces > longest) {
		end(child, "a write to an address that is not known", s.where);
	} else {
		child->open = arena_memdup(&t->h->arena, pieces, npieces * sizeof(*pieces));
		child->nopen = npieces;
		child->open_after = after;
		child->where = s.where;
		child->shortcut = n->shortcut;
		if (n->shortcut)
			n->shortcut->open++;
	}
}

/* ---- passing over ---- */

/* A part of the program that the step need not go through; false: there is none here. */
static bool find_part(struct tree *t, const struct node *n, struct piece *ret)
{
	const char *why;
	const struct function *f = code_function(t->h->code, n->pc, &why), *g;
	const struct block *b = f ? function_block(f, n->pc) : NULL;
	const char *name;
	const struct insn *call = f ? code_call_before(t->h->code, n->pc, &g) : NULL;
	struct effect *e = arena_new(&t->h->arena, struct effect);
	uint64_t target, here, there;
	struct ways ways = { 0 };
	uint32_t before, to;
	bool is_behind = call && g == f, jumped_to;

	if (!b || b->start != n->pc || f->incomplete)
		return false;
	*e = (struct effect){ .kind = EFFECT_PART, .also = -1 };
	*ret = (struct piece){
		.function = f, .way = WAY_SKIPPED, .exit = -1, .to = n->pc, .effect = e
	};
	code_jumps_to(t->h->code, f, n->pc, &ways);
	jumped_to = ways.len > !is_behind;
	vec_deinit(&ways);
	if (is_behind && !jumped_to) {
		name = code_import(t->h->code, f, call);
		target = code_target(t->h->code, f, call);
		if (!target) {
			target = target_guess(t, n, f, call, n->pc);
			name = target ? code_imported(t->h->code, target) : NULL;
		}
		if (target)
			target = code_behind_stub(t->h->code, target);
		if ((name && effect_of(&t->h->arena, name, 0)) || !target)
			return false;
		b = function_block(f, call->address);
		e->address = target;
		e->reach = name && !strstr(name, "_Z") ? reach_of_library(t->reaches)
						       : reach_of_function(t->reaches, target);
		e->stack = 8;
		e->function = "a function";
	} else {
		to = (uint32_t)(b - f->blocks.data);
		if (!jumped_to || !reach_block_before(t->reaches, f, to, &before))
			return false;
		b = &f->blocks.data[before];
		call = &f->insns.data[b->first + b->n - 1];
		e->address = call->address;
		e->reach = reach_between(t->reaches, f, before, to);
		e->function = "what lies between";
		ret->exit = e->reach->exit;
		if (!fixed_stack(f, n->pc, &here) || !fixed_stack(f, call->address, &there))
			return false;
		e->stack = here - there + (block_end(f, b)->w == LIFT_CALL ? 8 : 0);
	}
	ret->first = b->first;
	ret->n = b->n;
	return !e->reach->opaque;
}

/* True: its only child is known. */
static bool pass_over(struct tree *t, struct node *n)
{
	struct node *child;
	struct piece p;
	struct step s = { 0 };

	if (!t->reaches || n->open || !n->past)
		return false;
	if (!find_part(t, n, &p))
		return false;
	t->tried++;
	if (step_back(t->h, n->past, &p, 1, &s) != STEP_DONE)
		return false;
	t->passed_over++;
	child = new_child(t, n, &p);
	child->step = s;
	child->past = s.before;
	count_insns(child);
	n->state = NODE_INNER;
	n->incomplete = true;
	return true;
}

void tree_skim(struct tree *t, struct node *n, uint64_t address, unsigned w, uint64_t value)
{
	struct skim *s = &t->h->skim;
	uint64_t sp = 0;

	if (!t->reaches)
		t->reaches = reaches_new(t->h);
	for (size_t i = 0; i < t->nodes.len; i++) {
		struct node *k = t->nodes.data[i];
		const struct node *up = k;

		while (up && up->depth > n->depth)
			up = up->parent;
		if (k == n || (up != n && k->depth < n->depth && k->state == NODE_INNER))
			continue;
		k->state = NODE_DEAD;
	}
	for (struct node *k = n->parent; k; k = k->parent) {
		k->state = NODE_INNER;
		k->incomplete = true;
		k->children = 1;
		k->dead = 0;
	}
	n->state = NODE_LIVE;
	n->children = n->dead = 0;
	n->incomplete = n->guessed = false;
	*s = (struct skim){ .on = true, .address = address, .w = w, .value = value };
	past_value(t->h, t->nodes.data[0]->past, t->nodes.data[0]->past->registers[LIFT_RSP], &sp);
	for (size_t i = 0; i < t->h->dump->segments.len; i++) {
		const struct dump_segment *d = &t->h->dump->segments.data[i];

		if (sp - d->address < d->size) {
			s->stack_low = d->address;
			s->stack_high = d->address + d->size;
		}
	}
}

void tree_save(const struct tree *t, struct tree_state *ret)
{
	*ret = (struct tree_state){ .cut = t->cut,
				    .out_of_time = t->out_of_time,
				    .reached = t->reached };
	for (size_t i = 0; i < t->nodes.len; i++)
		vec_push(&ret->nodes, *t->nodes.data[i]);
}

void tree_restore(struct tree *t, const struct tree_state *s)
{
	t->nodes.len = s->nodes.len;
	for (size_t i = 0; i < s->nodes.len; i++)
		*t->nodes.data[i] = s->nodes.data[i];
	t->cut = s->cut;
	t->out_of_time = s->out_of_time;
	t->reached = s->reached;
	t->h->skim = (struct skim){ 0 };
	reaches_free(t->reaches);
	t->reaches = NULL;
	t->passed_over = 0;
}

void tree_state_deinit(struct tree_state *s)
{
	vec_deinit(&s->nodes);
}

static void expand(struct tree *t, struct node *n)
{
	struct origins *c;

	if (pass_over(t, n))
		return;
	c = xmalloc(sizeof(*c));
	origins_find(t, n, c);
	route_filter(t->route, n->passed, n->pc, c);
	for (unsigned i = 0; i < c->n; i++)
		try_candidate(t, n, &c->data[i]);
	if (!t->reaches && !n->nopen && !history_over(t->h) && !route_goes_on(t->route, n->passed))
		try_loops(t, n, c);
	if (n->shortcut) {
		n->shortcut->unsure |= !c->complete;
		shortcut_leave(t, n);
	} else if (n->children > n->dead) {
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
		for (size_t i = o->width; i < all.len; i++) {
			struct node *k = all.data[i].node;

			if (k->shortcut) {
				k->shortcut->unsure = true;
				shortcut_leave(t, k);
			} else if (k->state == NODE_LIVE) {
				end(k, "left out: too many ways", k->pc);
			}
		}
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
			if (level[i].node->state != NODE_LIVE)
				continue;
			if (is_first(t, level[i].node, o))
				end(level[i].node, "the thread began", level[i].node->pc);
			else
				expand(t, level[i].node);
			t->reached = MAX(t->reached, level[i].node->depth);
		}
		if (o->enough && o->enough(o->arg))
			break;
	}
out:
	t->interrupted |= interrupted() != 0;
	t->out_of_time |= o->deadline && work_seconds() > o->deadline;
	drop_shortcuts(t);
	free(level);
}

/* ---- questions about the tree ---- */

static int by_seconds(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

double tree_step_seconds(struct tree *t)
{
	if (!t->seconds.len)
		return 0;
	vec_sort(&t->seconds, by_seconds);
	return t->seconds.data[t->seconds.len / 2];
}

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
