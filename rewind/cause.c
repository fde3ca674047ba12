/* rewind/cause.c - see cause.h.
 *
 * The failing instruction computed an address (or jumped to one) from registers. We take the register
 * that holds the bad pointer and follow it back (trail.h). The oldest write on that chain, or one outside its
 * object, is what broke the program; what is known about the memory makes it a kind of cause. */
#include "rewind/cause.h"

#include "base/mem.h"
#include "base/strbuf.h"
#include "debug/heap.h"
#include "rewind/again.h"
#include "rewind/known.h"
#include "rewind/library.h"
#include "rewind/objects.h"
#include "rewind/trail.h"

#include <elf.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NEAR = 1 << 16, NULL_PAGES = 1 << 16, OTHER_SUFFIXES = 24, OTHER_CAUSES = 4 };

const char *cause_kind_name(enum cause_kind kind)
{
	static const char *const names[] = {
#define X(id, name) name,
		CAUSE_KINDS(X)
#undef X
	};

	return names[kind];
}

void cause_deinit(struct cause *c)
{
	free(c->text);
	vec_deinit(&c->chain);
}

/* ---- kinds ---- */

void cause_say(struct cause *c, struct strbuf *text)
{
	free(c->text);
	c->text = strbuf_detach(text);
}

static bool chain_is_certain(const struct cause *c, size_t upto)
{
	for (size_t i = 0; i <= upto && i < c->chain.len; i++)
		if (!c->chain.data[i].certain)
			return false;
	return true;
}

/* A write outside the object that its instruction means: another write of the same instruction, just
 * beside it, hits another variable. */
static bool runs_over(struct rewind *r, const struct link *l, uint64_t *object)
{
	uint64_t base, size, at, own_base, own_size;
	bool own = dump_names_global(&r->names, l->address, &own_base, &own_size);

	for (const struct node *n = r->best; n && n->parent; n = n->parent)
		for (uint32_t i = 0; i < n->step.naccesses; i++) {
			const struct access *a = &n->step.accesses[i];

			if (!a->is_write || a->insn != l->insn ||
			    !past_value(&r->h, r->best->past, a->address, &at) ||
			    !dump_names_global(&r->names, at, &base, &size))
				continue;
			if ((own && base != own_base) || (!own && l->address >= base + size)) {
				*object = at;
				return true;
			}
		}
	return false;
}

/* Does the byte's name begin with these letters, and with a member of that? */
static bool is_part(struct rewind *r, uint64_t address, const char *whole)
{
	struct strbuf name = { 0 };
	size_t n = strlen(whole);
	bool part;

	dump_names_add_object(&r->names, address, &name);
	part = strncmp(strbuf_str(&name), whole, n) == 0 && name.data[n] == '.';
	strbuf_deinit(&name);
	return part;
}

/* A call that fills exactly a record begins at its first member, too: memset(&records[4], ...) and
 * memset(records[4].name, ...) are the same. */
static bool may_mean_record(struct rewind *r, const struct link *l, const char *first_member)
{
	char *whole = xstrdup(first_member), *dot;
	bool may = false;

	while (!may && (dot = strrchr(whole, '.'))) {
		*dot = '\0';
		may = !is_part(r, l->from - 1, whole) && is_part(r, l->from + l->length - 1, whole);
	}
	free(whole);
	return may;
}

/* A call that began to write in one member or element and came to another. */
static bool call_runs_over(struct rewind *r, const struct link *l)
{
	struct strbuf from = { 0 }, to = { 0 };
	char *bracket;
	bool over;

	if (!l->from)
		return false;
	dump_names_add_object(&r->names, l->from, &from);
	dump_names_add_object(&r->names, l->address, &to);
	over = !may_mean_record(r, l, from.data);
	bracket = strrchr(from.data, '[');
	if (bracket && from.data[from.len - 1] == ']')
		*bracket = '\0';
	over &= strncmp(from.data, "0x", 2) != 0 && strncmp(from.data, "stack", 5) != 0 &&
		strncmp(strbuf_str(&from), strbuf_str(&to), strlen(from.data)) != 0;
	strbuf_deinit(&from);
	strbuf_deinit(&to);
	return over;
}

/* Did this write leave its object? *object: an address in that. */
static bool leaves_object(struct rewind *r, const struct link *l, uint64_t *object)
{
	*object = l->from;
	return call_runs_over(r, l) || runs_over(r, l, object) || object_left(r, l, object);
}

/* memset() and calloc() make memory zero; nobody has written it since. */
static bool is_still_zero(const struct cause *c, const struct link *l, size_t i)
{
	if (!l->function)
		return false;
	if (strcmp(l->function, "calloc") == 0)
		return true;
	return i && c->chain.data[i - 1].has_value && !c->chain.data[i - 1].value &&
	       (strcmp(l->function, "memset") == 0 || strcmp(l->function, "__memset_chk") == 0 ||
		strcmp(l->function, "bzero") == 0);
}

static void name_write(struct rewind *r, const struct link *l, size_t i)
{
	struct cause *c = &r->cause;
	const struct past *when = link_moment(r, l);
	struct strbuf sb = { 0 };
	struct heap_chunk chunk;
	uint64_t object;

	c->insn = l->insn;
	c->address = l->address;
	c->certain = chain_is_certain(c, i);
	c->kind = CAUSE_BAD_WRITE;
	object_add_name(r, when, l->address, &sb);
	if (heap_chunk_at(&r->dump, l->address, &chunk) && chunk.state == HEAP_FREE)
		c->kind = CAUSE_FREED;
	if (leaves_object(r, l, &object)) {
		c->kind = CAUSE_PAST_END;
		strbuf_adds(&sb, " was overwritten past the end of ");
		object_add_name(r, when, object, &sb);
		strbuf_addf(&sb, l->function ? " by %s" : "%s", l->function ? l->function : "");
	} else if (is_still_zero(c, l, i)) {
		c->kind = CAUSE_NOT_WRITTEN;
		strbuf_addf(&sb, " is still 0, as %s made it", l->function);
	} else if (l->function) {
		strbuf_addf(&sb, " was written by %s", l->function);
	} else if (l->has_value) {
		strbuf_addf(&sb, " was set to 0x%" PRIx64, l->value);
	} else {
		strbuf_adds(&sb, " was written");
	}
	strbuf_adds(&sb, " at ");
	dump_names_add_place(&r->names, l->insn, &sb);
	cause_say(c, &sb);
}

/* Results by which calls say that they failed. */
static bool says_failed(const struct link *l)
{
	return l->has_value && (l->value == 0 || l->value == UINT64_MAX || l->value == UINT32_MAX);
}

static void name_result(struct rewind *r, const struct link *l, size_t i)
{
	struct strbuf sb = { 0 };

	r->cause.kind = CAUSE_RESULT;
	r->cause.insn = l->insn;
	r->cause.certain = chain_is_certain(&r->cause, i);
	strbuf_addf(&sb, "the result of %s", l->function);
	if (l->has_value)
		strbuf_addf(&sb, ", 0x%" PRIx64 ",", l->value);
	strbuf_adds(&sb, " was used without a check; called at ");
	dump_names_add_place(&r->names, l->insn, &sb);
	cause_say(&r->cause, &sb);
}

/* The suffix has no write on the chain. What does the memory itself tell? */
static void name_memory(struct rewind *r)
{
	struct cause *c = &r->cause;
	struct heap_chunk chunk;

	for (size_t i = 0; i < c->chain.len; i++) {
		const struct link *l = &c->chain.data[i];
		struct strbuf sb = { 0 };

		if (l->kind != LINK_READ || !heap_chunk_at(&r->dump, l->address, &chunk) ||
		    chunk.state == HEAP_USED)
			continue;
		c->kind = chunk.state == HEAP_FREE ? CAUSE_FREED : CAUSE_NOT_WRITTEN;
		c->insn = l->insn;
		c->address = l->address;
		c->certain = chain_is_certain(c, i);
		dump_names_add_object(&r->names, l->address, &sb);
		strbuf_adds(&sb, chunk.state == HEAP_FREE ? " was read after it was freed, at "
							  : " was read and never allocated, at ");
		dump_names_add_place(&r->names, l->insn, &sb);
		if (chunk.state == HEAP_FREE)
			c->freed_at = object_freed_at(r, chunk.start, l);
		cause_say(c, &sb);
		return;
	}
}

/* The stack of the thread that failed. */
static bool is_on_stack(struct rewind *r, uint64_t address)
{
	uint64_t sp = r->dump.threads.data[r->thread].registers.rsp;

	for (size_t i = 0; i < r->dump.segments.len; i++)
		if (sp - r->dump.segments.data[i].address < r->dump.segments.data[i].size)
			return address - r->dump.segments.data[i].address <
			       r->dump.segments.data[i].size;
	return false;
}

/* Which link broke it? A write outside its object, if there is one; else the oldest write, because the
 * later ones only copied the value, but a compiler's own copy on the stack is not what a reader knows if
 * there is another; else the call that returned it. If the value is older than the
 * suffix, every write in it only copied: then nobody here broke it. */
static size_t culprit(struct rewind *r)
{
	const struct cause *c = &r->cause;
	size_t found = c->chain.len;
	bool elsewhere = false; /* a write that is not on the stack */
	uint64_t object;

	for (size_t i = 0; i < c->chain.len; i++) {
		const struct link *l = &c->chain.data[i];
		bool on_stack = l->kind == LINK_WRITTEN && is_on_stack(r, l->address);

		if (l->kind == LINK_WRITTEN && leaves_object(r, l, &object))
			return i;
		if (l->kind == LINK_RESULT || (l->kind == LINK_WRITTEN && !(on_stack && elsewhere)))
			found = i;
		elsewhere |= l->kind == LINK_WRITTEN && !on_stack;
		if (l->kind == LINK_BEFORE)
			found = c->chain.len;
	}
	return found;
}

/* The value stayed in a register, but the code that made it also stored it: that write is what a reader
 * of the source knows. Only the step in which it was made counts. */
static bool also_stored(struct rewind *r, struct link *l)
{
	uint64_t bad, v;

	if (!r->cause.chain.len || !r->cause.chain.data[0].has_value)
		return false;
	bad = r->cause.chain.data[0].value;
	for (const struct node *n = r->best; n && n->parent; n = n->parent) {
		bool made_here = false;

		for (uint32_t i = 0; i < n->step.npieces; i++) {
			const struct piece *p = &n->step.pieces[i];

			for (uint32_t k = 0; k < p->n; k++)
				made_here |=
					p->function->insns.data[p->first + k].address == l->insn;
		}
		for (uint32_t i = 0; made_here && i < n->step.naccesses; i++) {
			const struct access *a = &n->step.accesses[i];

			if (!a->is_write || a->w != 64 ||
			    !past_value(&r->h, r->best->past, a->value, &v) || v != bad ||
			    !past_value(&r->h, r->best->past, a->address, &l->address))
				continue;
			l->kind = LINK_WRITTEN;
			l->insn = a->insn;
			l->value = v;
			l->w = a->w;
			l->has_value = l->has_address = true;
			return true;
		}
	}
	return false;
}

/* The value is what the block's new owner wrote, and was read by somebody who knew the block before. */
static bool name_again(struct rewind *r, size_t at)
{
	struct cause *c = &r->cause;
	const struct link *written = &c->chain.data[at], *read = at ? written - 1 : NULL;
	struct strbuf sb = { 0 };
	struct again again;

	if (!read || read->kind != LINK_READ || !read->has_address ||
	    !again_find(r, read, written, &again))
		return false;
	read = &c->chain.data[at - 1];
	c->kind = CAUSE_FREED;
	c->insn = read->insn;
	c->address = read->address;
	c->freed_at = again.freed;
	c->certain = chain_is_certain(c, at);
	dump_names_add_object(&r->names, read->address, &sb);
	strbuf_adds(
		&sb,
		" was read through a pointer from before it was freed and handed out again, at ");
	dump_names_add_place(&r->names, read->insn, &sb);
	strbuf_adds(&sb, "; handed out again at ");
	dump_names_add_place(&r->names, again.given, &sb);
	cause_say(c, &sb);
	return true;
}

static void judge(struct rewind *r)
{
	struct cause *c = &r->cause;
	size_t at;

	name_memory(r);
	if (c->kind == CAUSE_FREED)
		return;
	at = culprit(r);
	if (at < c->chain.len && c->chain.data[at].kind == LINK_WRITTEN && name_again(r, at))
		return;
	if (at < c->chain.len && c->chain.data[at].kind == LINK_WRITTEN)
		name_write(r, &c->chain.data[at], at);
	else if (at < c->chain.len && says_failed(&c->chain.data[at]))
		name_result(r, &c->chain.data[at], at);
	for (size_t i = 0; i < c->chain.len && !c->kind; i++) {
		const struct link *l = &c->chain.data[i];
		struct strbuf sb = { 0 };

		struct link stored = *l;

		if (l->kind != LINK_CONSTANT && (l->kind != LINK_COMPUTED || !c->complete))
			continue;
		if (also_stored(r, &stored)) {
			name_write(r, &stored, i);
			return;
		}
		c->kind = CAUSE_BAD_VALUE;
		c->insn = l->insn;
		c->certain = chain_is_certain(c, i);
		strbuf_adds(&sb, "the bad value was made at ");
		dump_names_add_place(&r->names, l->insn, &sb);
		cause_say(c, &sb);
	}
}

static bool is_stack_overflow(struct rewind *r, uint64_t fault)
{
	uint64_t sp = r->dump.threads.data[r->thread].registers.rsp;

	return fault + NEAR > sp && fault < sp + NEAR && !is_mapped(&r->dump, sp - 256, 4) &&
	       is_mapped(&r->dump, sp + NEAR, 4);
}

/* ---- where the chain begins ---- */

/* The program ended itself: the last branch before that decided it. What did it look at? */
static void trace_check(struct trail *t)
{
	const struct function *f;

	while (trail_back(t)) {
		const struct insn *in = trail_insn(t, &f);
		const struct lift_op *ops = insn_ops(f, in);
		bool branch = false;

		for (unsigned i = 0; i < in->nops; i++)
			branch |= ops[i].kind == LIFT_EXIT;
		if (!branch)
			continue;
		trail_add(t, (struct link){ .kind = LINK_CHECKED, .insn = in->address });
		if (trail_to_compared(t))
			t->r->cause.complete = trail_walk(t);
		return;
	}
}

/* The failing instruction could not use an address: where did that come from? */
static void trace_use(struct trail *t, const struct bad_use *use)
{
	struct rewind *r = t->r;
	struct link used = { .kind = LINK_USED,
			     .insn = r->start->pc,
			     .address = use->address,
			     .has_address = !use->is_divisor };

	used.has_value = use->has_reg &&
			 past_value(&r->h, r->start, r->start->registers[use->reg], &used.value);
	used.value &= mask_of(use->w);
	trail_add(t, used);
	if (use->from) {
		trail_add(t, (struct link){ .kind = LINK_READ,
					    .insn = r->start->pc,
					    .address = use->from,
					    .has_address = true,
					    .w = use->w,
					    .value = use->address, /* of a divisor: 0 */
					    .has_value = true });
		t->place = (struct place){ .in_memory = true, .address = use->from, .w = use->w };
	} else if (use->has_reg) {
		t->place = (struct place){ .reg = use->reg };
	} else {
		r->cause.complete = use->address < NULL_PAGES && known_trace(t);
		return;
	}
	r->cause.complete = trail_walk(t);
}

/* What the failing instruction could not use; not found when that is somewhere in libc. */
static struct bad_use find_use(struct trail *t)
{
	uint64_t pc = t->r->start->pc;
	const char *why;
	const struct function *f = code_function(t->r->code, pc, &why);
	const struct insn *in = f ? function_insn(f, pc) : NULL;

	return in && !t->r->at_call ? trail_find_use(t, f, in) : (struct bad_use){ 0 };
}

/* The processor could not fetch the next instruction, and control is where no code is. A dump that does not say what
 * was mapped has no code anywhere. */
static bool is_wild(const struct rewind *r)
{
	const struct dump *d = &r->dump;
	const char *why;

	if ((d->signal != SIGSEGV && d->signal != SIGBUS) || (d->fault && d->fault != r->start->pc))
		return false;
	return !r->at_call && !is_mapped(&r->dump, r->start->pc, PF_X) &&
	       !code_function(r->code, r->start->pc, &why);
}

static void trace_wild(struct trail *t, struct bad_use *use)
{
	struct rewind *r = t->r;

	*use = (struct bad_use){ .found = true, .is_jump = true, .address = r->start->pc };
	trail_add(t, (struct link){ .kind = LINK_USED,
				    .insn = r->start->pc,
				    .address = r->start->pc,
				    .has_address = true,
				    .value = r->start->pc,
				    .has_value = true });
	r->cause.complete = trail_walk_from_jump(t);
}

static struct bad_use trace(struct rewind *r)
{
	struct trail t = { .r = r, .h = &r->h };
	struct bad_use use = { 0 };

	vec_clear(&r->cause.chain);
	r->cause.complete = false;
	if (!r->best)
		return use;
	t.best = r->best->past;
	t.at.node = r->tree.nodes.data[0];
	use = find_use(&t);
	if (is_wild(r))
		trace_wild(&t, &use);
	else if (use.found && !use.is_divisor && is_stack_overflow(r, use.address))
		r->cause.complete = true;
	else if (use.found)
		trace_use(&t, &use);
	else if (r->at_call && !library_trace(&t) && r->dump.signal != SIGSEGV &&
		 r->dump.signal != SIGBUS)
		trace_check(&t);
	return use;
}

void cause_trace(struct rewind *r)
{
	trace(r);
}

/* The chain ends with what a call returned, which is no memory: a number. */
static void name_returned(struct rewind *r)
{
	struct cause *c = &r->cause;
	const struct link *l = c->complete && c->chain.len ? vec_last(&c->chain) : NULL;
	const struct effect *e =
		l && l->kind == LINK_RESULT ? effect_of(&r->h.arena, l->function, 0) : NULL;
	struct strbuf sb = { 0 };

	if (!e || (e->kind != EFFECT_NONE && e->kind != EFFECT_LENGTH) ||
	    (l->has_value && is_mapped(&r->dump, l->value, PF_R)))
		return;
	c->kind = CAUSE_BAD_VALUE;
	c->insn = l->insn;
	c->certain = chain_is_certain(c, c->chain.len - 1);
	strbuf_addf(&sb, "the bad value was returned by %s at ", l->function);
	dump_names_add_place(&r->names, l->insn, &sb);
	cause_say(c, &sb);
}

/* The failing instruction tells all by itself. */
static void name_failure(struct rewind *r, enum cause_kind kind, const char *what)
{
	struct strbuf sb = { 0 };

	r->cause.kind = (uint8_t)kind;
	r->cause.insn = r->start->pc;
	r->cause.certain = true;
	strbuf_adds(&sb, what);
	dump_names_add_place(&r->names, r->start->pc, &sb);
	cause_say(&r->cause, &sb);
}

/* Who freed the block belongs to the text. */
static void add_free(struct rewind *r)
{
	struct strbuf sb = { 0 };

	strbuf_adds(&sb, r->cause.text);
	strbuf_adds(&sb, "; it was freed at ");
	dump_names_add_place(&r->names, r->cause.freed_at, &sb);
	cause_say(&r->cause, &sb);
}

void cause_find(struct rewind *r)
{
	struct bad_use use = trace(r);
	struct cause *c = &r->cause;
	char what[64];

	c->passed_over = r->tree.passed_over || r->h.skim.block;
	for (size_t i = 0; i < c->chain.len; i++) {
		c->inferred |= c->chain.data[i].kind == LINK_KNOWN;
		c->chain.data[i].certain =
			!c->chain.data[i].searched && c->chain.data[i].kind != LINK_KNOWN &&
			(!c->chain.data[i].node->parent ||
			 (tree_is_certain(&r->tree, c->chain.data[i].node) && !c->passed_over));
	}
	if (use.found && !use.is_divisor && is_stack_overflow(r, use.address)) {
		name_failure(r, CAUSE_STACK, "the stack is exhausted at ");
		return;
	}
	if (!library_judge(r, false))
		judge(r);
	if (!c->kind)
		library_judge(r, true);
	if (!c->kind)
		name_returned(r);
	if (use.is_jump && !c->kind) {
		snprintf(what, sizeof(what), "a jump to 0x%" PRIx64 ", where no code is, at ",
			 use.address);
		name_failure(r, CAUSE_WILD_JUMP, what);
		c->address = use.from;
	}
	if (c->freed_at)
		add_free(r);
}

static bool is_same(const struct cause *a, const struct cause *b)
{
	return a->insn == b->insn && a->kind == b->kind;
}

void cause_find_others(struct rewind *r)
{
	struct node *leaves[OTHER_SUFFIXES], *best = r->best;
	struct cause own = r->cause;
	size_t n = own.text && !own.certain ? tree_leaves(&r->tree, leaves, OTHER_SUFFIXES) : 0;

	for (size_t i = 0; i < n && r->other_causes.len < OTHER_CAUSES && !history_over(&r->h);
	     i++) {
		bool seen;

		r->best = leaves[i];
		r->cause = (struct cause){ 0 };
		cause_find(r);
		seen = !r->cause.text || is_same(&r->cause, &own);
		for (size_t k = 0; k < r->other_causes.len; k++)
			seen |= is_same(&r->cause, &r->other_causes.data[k]);
		if (seen)
			cause_deinit(&r->cause);
		else
			vec_push(&r->other_causes, r->cause);
	}
	r->best = best;
	r->cause = own;
}
