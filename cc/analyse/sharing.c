/* cc/analyse/sharing.c - threads, escape, and which accesses may be shared.
 *
 * An access may be shared when the memory can be reached by more than the thread that made it, two
 * threads touch it, and somebody writes it after the first thread was created. In steps:
 *
 *	1. thread entries: start routines, and functions handed to code we do not see; which
 *	   functions each entry reaches (a bit per entry; an entry created twice counts as many);
 *	2. what can run after the first creation: everything but the code of main (and of what main
 *	   calls) from which no creation leads there;
 *	3. every access after that marks bytes of its node with its function's threads; marks flow
 *	   against the points-to edges, to the objects themselves;
 *	4. escape: from globals, thread arguments and the outside along links;
 *	5. bytes of escaping objects that two threads touch and one writes are hot; heat flows along
 *	   the edges to every pointer that may see those objects. */
#include "cc/analyse/sharing.h"

#include "cc/analyse/calls.h"
#include "cc/analyse/cxx.h"
#include "cc/analyse/intervals.h"
#include "cc/program.h"
#include "cc/analyse/summaries.h"

#include <pthread.h>
#include <semaphore.h>
#include <string.h>
#include <threads.h>

#define MANY (1ull << 63)

/* ---- 1. threads ---- */

static uint64_t *index_of(struct sharing *s, LLVMValueRef f)
{
	return map_find(&s->p->fn_index, (uint64_t)(uintptr_t)f);
}

/* Call `visit` for each of our functions that this instruction may call. */
typedef void visit_fn(struct sharing *s, size_t fn, uint64_t arg);

static void each_callee(struct sharing *s, LLVMValueRef call, visit_fn *visit, uint64_t arg)
{
	struct cell c = pointsto_callee(s->pt, call);
	LLVMValueRef f;
	size_t at = 0;

	while (pointsto_next_function(s->pt, c, &at, &f)) {
		uint64_t *k = index_of(s, f);

		if (k)
			visit(s, *k, arg);
	}
}

/* Whom each of our functions may call, once each: threads are many, and each walks over all it reaches. */
static void list_callees(struct sharing *s)
{
	struct fn_indexes listed_for = {
		0
	}; /* per function: whose list has it already, plus one */

	for (size_t k = 0; k < s->p->fns.len; k++)
		vec_push(&listed_for, 0);
	for (size_t k = 0; k < s->p->fns.len; k++)
		for_each_block(b, s->p->fns.data[k].f) for_each_instruction(i, b)
		{
			struct cell callee;
			LLVMValueRef g;
			size_t at = 0;

			if (!is_call(i))
				continue;
			callee = pointsto_callee(s->pt, i);
			while (pointsto_next_function(s->pt, callee, &at, &g)) {
				uint64_t *c = index_of(s, g);

				if (!c || listed_for.data[*c] == k + 1)
					continue;
				listed_for.data[*c] = k + 1;
				vec_push(&s->callees.data[k], *c);
			}
		}
	vec_deinit(&listed_for);
}

static void reach(struct sharing *s, LLVMValueRef f, uint64_t bit)
{
	struct fn_indexes todo = { 0 };
	uint64_t *first = index_of(s, f);

	if (first)
		vec_push(&todo, *first);
	while (todo.len) {
		size_t k = vec_pop(&todo);
		const struct fn_indexes *callees = &s->callees.data[k];

		if ((s->threads.data[k] & bit) == bit)
			continue;
		s->threads.data[k] |= bit;
		for (size_t i = 0; i < callees->len; i++)
			if ((s->threads.data[callees->data[i]] & bit) != bit)
				vec_push(&todo, callees->data[i]);
	}
	vec_deinit(&todo);
}

/* Is this block on a cycle of its function's control flow? */
static bool in_loop(LLVMBasicBlockRef start)
{
	VEC(LLVMBasicBlockRef) todo = { 0 };
	struct map seen = { 0 };
	bool found = false;

	vec_push(&todo, start);
	while (todo.len && !found) {
		LLVMBasicBlockRef last = *vec_last(&todo);
		LLVMValueRef t = LLVMGetBasicBlockTerminator(last);
		unsigned n = t ? LLVMGetNumSuccessors(t) : 0;

		todo.len--;
		for (unsigned i = 0; i < n; i++) {
			LLVMBasicBlockRef b = LLVMGetSuccessor(t, i);

			found |= b == start;
			if (!map_find(&seen, (uint64_t)(uintptr_t)b)) {
				map_put(&seen, (uint64_t)(uintptr_t)b, 1);
				vec_push(&todo, b);
			}
		}
	}
	vec_deinit(&todo);
	map_deinit(&seen);
	return found;
}

/* May this call be executed more than once? Only what main itself does outside loops is not. */
static bool may_repeat(LLVMValueRef call)
{
	LLVMBasicBlockRef b = LLVMGetInstructionParent(call);

	return strcmp(value_name(LLVMGetBasicBlockParent(b)), "main") != 0 || in_loop(b);
}

static uint64_t add_entry(struct sharing *s, LLVMValueRef f, bool many)
{
	uint64_t bit = 0;

	for (size_t i = 0; i < s->entries.len; i++)
		if (s->entries.data[i] == f)
			bit = 1ull << MIN(i + 1, 62);
	if (bit) {
		many = true; /* a second creation */
	} else {
		vec_push(&s->entries, f);
		bit = 1ull << MIN(s->entries.len, 62);
		many |= s->entries.len >= 62;
	}
	if (many)
		s->multi |= bit;
	return bit;
}

static void find_threads(struct sharing *s)
{
	LLVMValueRef main_fn = LLVMGetNamedFunction(s->p->module, "main"), f;
	struct cell outside = { s->pt->outside, 0 };
	struct map entries = { 0 };
	size_t at = 0;

	list_callees(s);
	for (size_t i = 0; i < s->pt->creations.len; i++) {
		struct creation *c = &s->pt->creations.data[i];

		at = 0;
		while (pointsto_next_function(s->pt, c->entry, &at, &f))
			add_entry(s, f, may_repeat(c->call));
	}
	at = 0;
	while (pointsto_next_function(s->pt, outside, &at, &f))
		if (!LLVMIsDeclaration(f) && f != main_fn)
			add_entry(s, f, true);
	s->threaded = s->entries.len > 0 || program_is_open(s->p);
	for (size_t i = 0; i < s->entries.len; i++) {
		uint64_t bit = 1ull << MIN(i + 1, 62);

		reach(s, s->entries.data[i], bit | (s->multi & bit ? MANY : 0));
	}
	/* what nobody reaches otherwise runs in main: main, constructors, call-backs of libc */
	if (main_fn)
		reach(s, main_fn, 1);
	for (size_t i = 0; i < s->entries.len; i++)
		map_put(&entries, (uint64_t)(uintptr_t)s->entries.data[i], 1);
	for (size_t i = 0; i < s->p->fns.len; i++) {
		struct fn *fn = &s->p->fns.data[i];

		/* the address of a thread's entry is taken for that purpose */
		if (s->threads.data[i] == 0 ||
		    (fn->needs_stub &&
		     (program_is_open(s->p) || !map_find(&entries, (uint64_t)(uintptr_t)fn->f))))
			reach(s, fn->f, 1);
	}
	map_deinit(&entries);
	for (size_t i = 0; i < s->pt->callbacks.len; i++) {
		at = 0;
		while (pointsto_next_function(s->pt, s->pt->callbacks.data[i].fn, &at, &f))
			reach(s, f, s->threaded ? 1 | MANY : 1);
	}
}

/* ---- 2. before and after the first creation ---- */

/* May a function that this points to create a thread? One of libc does if `libc` says so. */
static bool creates_through(struct sharing *s, struct cell c, LLVMValueRef call,
			    bool (*libc)(struct sharing *s, LLVMValueRef f, LLVMValueRef call))
{
	LLVMValueRef f;
	size_t at = 0;

	if (pointsto_calls_unknown(s->pt, c))
		return true;
	while (pointsto_next_function(s->pt, c, &at, &f)) {
		uint64_t *k = index_of(s, f);

		if (k ? s->may_create.data[*k] : libc(s, f, call))
			return true;
	}
	return false;
}

static bool library_creates(struct sharing *s, LLVMValueRef f, LLVMValueRef call)
{
	(void)s, (void)call;
	return strncmp(value_name(f), "llvm.", 5) != 0 && !summary_find(value_name(f));
}

/* pthread_once, qsort and bsearch call back before they return. */
static bool summarised_creates(struct sharing *s, LLVMValueRef f, LLVMValueRef call)
{
	const struct summary *sum = summary_find(value_name(f));
	unsigned n = LLVMGetNumArgOperands(call), fn;

	if (!sum)
		return library_creates(s, f, call);
	switch (sum->special) {
	case SPECIAL_CREATE:
	case SPECIAL_THRD:
	case SPECIAL_START:
		return true;
	case SPECIAL_ONCE:
		fn = 1;
		break;
	case SPECIAL_SORT:
	case SPECIAL_SEARCH:
		fn = n - 1;
		break;
	default:
		return false;
	}
	return fn >= n || creates_through(s, pointsto_cell(s->pt, LLVMGetOperand(call, fn)), call,
					  library_creates);
}

static bool creates(struct sharing *s, LLVMValueRef call)
{
	return creates_through(s, pointsto_callee(s->pt, call), call, summarised_creates);
}

static void find_creators(struct sharing *s)
{
	bool changed = true;

	while (changed) {
		changed = false;
		for (size_t k = 0; k < s->p->fns.len; k++) {
			bool found = s->may_create.data[k];

			if (found)
				continue;
			for_each_block(b, s->p->fns.data[k].f)
				for_each_instruction(i, b) if (!found && is_call(i)) found =
					creates(s, i);
			s->may_create.data[k] = found;
			changed |= found;
		}
	}
}

/* Blocks that control can reach after a creation in the same function. */
static void after_blocks(struct sharing *s, LLVMValueRef f, struct map *ret)
{
	VEC(LLVMBasicBlockRef) todo = { 0 };

	for_each_block(b, f) for_each_instruction(i, b) if (is_call(i) && creates(s, i))
	{
		vec_push(&todo, b);
		break;
	}
	while (todo.len) {
		LLVMBasicBlockRef last = *vec_last(&todo);
		LLVMValueRef t = LLVMGetBasicBlockTerminator(last);
		unsigned n = t ? LLVMGetNumSuccessors(t) : 0;

		todo.len--;
		for (unsigned i = 0; i < n; i++) {
			LLVMBasicBlockRef b = LLVMGetSuccessor(t, i);

			if (!map_find(ret, (uint64_t)(uintptr_t)b)) {
				map_put(ret, (uint64_t)(uintptr_t)b, 1);
				vec_push(&todo, b);
			}
		}
	}
	vec_deinit(&todo);
}

#define BEFORE 1 /* may run before the first creation */
#define AFTER  2 /* may run after it */

static void mark(struct sharing *s, size_t fn, uint64_t what);

static void walk_marks(struct sharing *s, size_t fn, uint8_t what)
{
	LLVMValueRef f = s->p->fns.data[fn].f;
	struct map after = { 0 };

	if (what == BEFORE)
		after_blocks(s, f, &after);
	for_each_block(b, f)
	{
		bool now_after = what == AFTER || map_find(&after, (uint64_t)(uintptr_t)b);

		for_each_instruction(i, b)
		{
			if (!is_call(i))
				continue;
			each_callee(s, i, mark, now_after ? AFTER : BEFORE);
			now_after |= creates(s, i);
		}
	}
	map_deinit(&after);
}

static void mark(struct sharing *s, size_t fn, uint64_t what)
{
	if (s->after.data[fn] & what)
		return;
	s->after.data[fn] |= (uint8_t)what;
	walk_marks(s, fn, (uint8_t)what);
}

/* A thread that a constructor creates is there before main. */
static bool constructors_create(struct sharing *s)
{
	LLVMValueRef list = LLVMGetNamedGlobal(s->p->module, "llvm.global_ctors"), all;
	uint64_t *k;

	all = list ? LLVMGetInitializer(list) : NULL;
	for (int i = 0; all && LLVMIsAConstantArray(all) && i < LLVMGetNumOperands(all); i++) {
		LLVMValueRef one = LLVMGetOperand(all, (unsigned)i);

		k = LLVMIsAConstantStruct(one) ? index_of(s, LLVMGetOperand(one, 1)) : NULL;
		if (!k || s->may_create.data[*k])
			return true;
	}
	return false;
}

static void find_after(struct sharing *s)
{
	bool early;

	find_creators(s);
	early = constructors_create(s);
	for (size_t k = 0; k < s->p->fns.len; k++) {
		const char *name = s->p->fns.data[k].name;

		if (s->threads.data[k] & ~1ull || program_is_open(s->p))
			mark(s, k, AFTER);
		else if (strcmp(name, "main") == 0)
			mark(s, k, early ? AFTER : BEFORE);
	}
	/* constructors come before main; other functions only live through their callers */
	for (size_t k = 0; k < s->p->fns.len; k++)
		if (!s->after.data[k])
			mark(s, k, s->p->fns.data[k].needs_stub ? AFTER : BEFORE);
}

/* ---- 3. who touches what ---- */

/* Does the interval list change? */
static bool touch(struct node *n, int32_t off, int32_t size, uint64_t readers, uint64_t writers)
{
	interval_widen(n, n->touched.len, &off, &size);
	for (size_t i = 0; i < n->touched.len; i++) {
		struct interval *t = &n->touched.data[i];

		if (t->off == off && t->size == size) {
			bool changed = (readers & ~t->readers) || (writers & ~t->writers);

			t->readers |= readers;
			t->writers |= writers;
			return changed;
		}
	}
	vec_push(&n->touched, (struct interval){ off, size, readers, writers, false });
	return true;
}

static void touch_cell(struct sharing *s, struct cell c, uint64_t size, uint64_t readers,
		       uint64_t writers)
{
	if (!c.node)
		return;
	c = pointsto_find(s->pt, c);
	touch(pointsto_node(s->pt, c.node), size ? c.off : -EVERYTHING,
	      size && size < EVERYTHING ? (int32_t)size : 2 * EVERYTHING, readers, writers);
}

static void touch_pointer(struct sharing *s, LLVMValueRef ptr, uint64_t size, uint64_t readers,
			  uint64_t writers)
{
	if (size)
		size += pointsto_spread(s->pt, ptr);
	touch_cell(s, pointsto_cell(s->pt, ptr), size, readers, writers);
}

/* How many bytes behind argument i do the functions of this name look at? 0 = anything. */
static uint64_t object_size(const char *name, const struct summary *sum, unsigned i)
{
	static const struct {
		const char *prefix;
		unsigned arg;
		uint64_t size;
	} sizes[] = {
		{ "pthread_mutex_", 0, sizeof(pthread_mutex_t) },
		{ "pthread_cond_", 0, sizeof(pthread_cond_t) },
		{ "pthread_cond_", 1, sizeof(pthread_mutex_t) },
		{ "pthread_rwlock_", 0, sizeof(pthread_rwlock_t) },
		{ "pthread_spin_", 0, sizeof(pthread_spinlock_t) },
		{ "pthread_barrier_", 0, sizeof(pthread_barrier_t) },
		{ "pthread_once", 0, sizeof(pthread_once_t) },
		{ "pthread_create", 0, sizeof(pthread_t) },
		{ "sem_", 0, sizeof(sem_t) },
		{ "mtx_", 0, sizeof(mtx_t) },
		{ "cnd_", 0, sizeof(cnd_t) },
		{ "cnd_", 1, sizeof(mtx_t) },
		{ "_ZNSt18condition_variable", 0, sizeof(pthread_cond_t) },
		{ "_ZNSt6thread", 0, sizeof(pthread_t) },
		{ "_ZNSt6thread", 1, sizeof(void *) },
	};

	if (sum && sum->special == SPECIAL_STRING && i == 0)
		return CXX_STRING_SIZE; /* other arguments may be characters */
	for (size_t k = 0; k < ARRAY_SIZE(sizes); k++)
		if (sizes[k].arg == i &&
		    strncmp(name, sizes[k].prefix, strlen(sizes[k].prefix)) == 0)
			return sizes[k].size;
	return 0;
}

/* To free an object is to write all of it: a read that comes later is wrong. */
static void touch_external(struct sharing *s, LLVMValueRef call, LLVMValueRef f, uint64_t who)
{
	const struct summary *sum = summary_find(value_name(f));
	bool frees = call_classify_function(f) == CALL_FREE;

	for (unsigned i = 0; i < LLVMGetNumArgOperands(call); i++) {
		LLVMValueRef arg = LLVMGetOperand(call, i);
		bool writes = !sum || frees || sum->writes & (1u << MIN(i, 7));
		uint64_t writers = writes ? who : 0, size = 0;

		if (LLVMGetTypeKind(LLVMTypeOf(arg)) != LLVMPointerTypeKind)
			continue;
		touch_pointer(s, arg, object_size(value_name(f), sum, i), who, writers);
		if (sum) {
			struct cell c = cxx_beyond(s->pt, sum, arg, &size);

			touch_cell(s, c, size, who, writers);
		}
	}
}

static void touch_call(struct sharing *s, LLVMValueRef call, uint64_t who)
{
	struct cell callee = pointsto_callee(s->pt, call);
	enum call_kind kind = call_classify(call);
	LLVMValueRef f;
	size_t at = 0;

	if (kind == CALL_MEMCPY || kind == CALL_MEMSET) {
		LLVMValueRef n = LLVMGetOperand(call, 2);
		uint64_t size = LLVMIsAConstantInt(n) ? LLVMConstIntGetZExtValue(n) : 0;

		touch_pointer(s, LLVMGetOperand(call, 0), size, 0, who);
		if (kind == CALL_MEMCPY)
			touch_pointer(s, LLVMGetOperand(call, 1), size, who, 0);
		return;
	}
	while (pointsto_next_function(s->pt, callee, &at, &f))
		if (LLVMIsDeclaration(f) && strncmp(value_name(f), "llvm.", 5) != 0)
			touch_external(s, call, f, who);
}

static void touch_instruction(struct sharing *s, LLVMValueRef i, uint64_t who)
{
	LLVMTargetDataRef layout = s->p->layout;

	switch (LLVMGetInstructionOpcode(i)) {
	case LLVMLoad:
		touch_pointer(s, LLVMGetOperand(i, 0), LLVMStoreSizeOfType(layout, LLVMTypeOf(i)),
			      who, 0);
		break;
	case LLVMStore:
		touch_pointer(s, LLVMGetOperand(i, 1),
			      LLVMStoreSizeOfType(layout, LLVMTypeOf(LLVMGetOperand(i, 0))), 0,
			      who);
		break;
	case LLVMAtomicRMW:
	case LLVMAtomicCmpXchg:
		touch_pointer(s, LLVMGetOperand(i, 0),
			      LLVMStoreSizeOfType(layout, LLVMTypeOf(LLVMGetOperand(i, 1))), who,
			      who);
		break;
	case LLVMCall:
	case LLVMInvoke:
		touch_call(s, i, who);
		break;
	default:
		break;
	}
}

static void touch_all(struct sharing *s)
{
	for (size_t k = 0; k < s->p->fns.len; k++) {
		LLVMValueRef f = s->p->fns.data[k].f;
		bool always_after = s->after.data[k] & AFTER;
		struct map after = { 0 };

		if (!always_after)
			after_blocks(s, f, &after);
		for_each_block(b, f)
		{
			bool now = always_after || map_find(&after, (uint64_t)(uintptr_t)b);

			for_each_instruction(i, b)
			{
				/* before: nobody else is there; the bytes exist all the same */
				touch_instruction(s, i, now ? s->threads.data[k] : 0);
				now |= is_call(i) && creates(s, i);
			}
		}
		map_deinit(&after);
	}
}

/* What code outside does, nobody knows. */
static void touch_outside(struct pointsto *pt)
{
	for (size_t i = 1; i < pt->nodes.len; i++)
		if (!pt->nodes.data[i].up && pt->nodes.data[i].flags & NODE_OUTSIDE)
			touch(&pt->nodes.data[i], 0, EVERYTHING, ~0ull, ~0ull);
}

/* What is done through the pointer that sees more is done to what it was made from. */
static bool flow_touches(struct pointsto *pt, struct cell a, struct cell b, void *context)
{
	struct node *na = pointsto_node(pt, a.node), *nb = pointsto_node(pt, b.node);
	bool changed = false;

	(void)context;
	for (size_t k = 0; k < nb->touched.len; k++) {
		struct interval t = nb->touched.data[k];

		interval_shift(nb, na, a.off - b.off, &t.off, &t.size);
		changed |= touch(na, t.off, t.size, t.readers, t.writers);
	}
	return changed;
}

/* ---- 4. escape ---- */

static void escape_roots(struct sharing *s)
{
	struct pointsto *pt = s->pt;

	for (size_t i = 0; i < pt->creations.len; i++) {
		struct cell c = pt->creations.data[i].arg;

		if (c.node)
			pointsto_node(pt, pointsto_find(pt, c).node)->flags |= NODE_ESCAPES;
	}
	for_each_global(g, s->p->module) if (!LLVMIsThreadLocal(g))
		pointsto_node(pt, pointsto_find(pt, pointsto_cell(pt, g)).node)
			->flags |= NODE_ESCAPES;
}

static void escape(struct sharing *s)
{
	struct pointsto *pt = s->pt;
	bool changed = true;

	escape_roots(s);
	while (changed) {
		changed = false;
		for (size_t i = 1; i < pt->nodes.len; i++) {
			struct node *n = pointsto_node(pt, (uint32_t)i);

			for (size_t k = 0; !n->up && n->flags & NODE_ESCAPES && k < n->links.len;
			     k++) {
				struct cell c = pointsto_find(pt, n->links.data[k].to);
				struct node *to = pointsto_node(pt, c.node);

				changed |= c.node && !(to->flags & NODE_ESCAPES);
				to->flags |= NODE_ESCAPES;
			}
		}
		for (size_t i = pt->edges.len; i-- > 0;) {
			struct cell a = pointsto_find(pt, pt->edges.data[i].from);
			struct cell b = pointsto_find(pt, pt->edges.data[i].to);
			struct node *na = pointsto_node(pt, a.node);

			if (pointsto_node(pt, b.node)->flags & NODE_ESCAPES &&
			    !(na->flags & NODE_ESCAPES)) {
				na->flags |= NODE_ESCAPES;
				changed = true;
			}
		}
	}
}

/* ---- 5. heat ---- */

static bool overlap(const struct interval *a, int32_t off, int32_t size)
{
	return (int64_t)a->off < (int64_t)off + size && (int64_t)off < (int64_t)a->off + a->size;
}

static bool two_threads(uint64_t mask)
{
	return mask & MANY || (mask & (mask - 1)) != 0;
}

static void heat_node(struct node *n)
{
	for (size_t i = 0; i < n->touched.len; i++) {
		struct interval *t = &n->touched.data[i];
		uint64_t all = 0, writers = 0;

		for (size_t k = 0; k < n->touched.len; k++) {
			const struct interval *u = &n->touched.data[k];

			if (overlap(u, t->off, t->size)) {
				all |= u->readers | u->writers;
				writers |= u->writers;
			}
		}
		t->hot = writers && two_threads(all);
	}
}

static bool heat_up(struct node *n, int32_t off, int32_t size)
{
	bool changed = false;

	for (size_t i = 0; i < n->touched.len; i++) {
		struct interval *t = &n->touched.data[i];

		if (!t->hot && overlap(t, off, size))
			changed = t->hot = true;
	}
	return changed;
}

static bool flow_heat(struct pointsto *pt, struct cell a, struct cell b, void *context)
{
	struct node *na = pointsto_node(pt, a.node), *nb = pointsto_node(pt, b.node);
	bool changed = false;

	(void)context;
	for (size_t k = 0; k < na->touched.len; k++) {
		struct interval t = na->touched.data[k];

		if (!t.hot)
			continue;
		interval_shift(na, nb, b.off - a.off, &t.off, &t.size);
		changed |= heat_up(nb, t.off, t.size);
	}
	return changed;
}

void sharing_run(struct sharing *s, struct program *p, struct pointsto *pt)
{
	memset(s, 0, sizeof(*s));
	s->p = p;
	s->pt = pt;
	for (size_t i = 0; i < p->fns.len; i++) {
		vec_push(&s->threads, 0);
		vec_push(&s->after, 0);
		vec_push(&s->may_create, 0);
		vec_push(&s->callees, (struct fn_indexes){ 0 });
	}
	find_threads(s);
	if (!s->threaded)
		return;
	find_after(s);
	touch_all(s);
	touch_outside(pt);
	pointsto_flow(pt, POINTSTO_AGAINST, flow_touches, NULL);
	escape(s);
	for (size_t i = 1; i < pt->nodes.len; i++)
		if (!pt->nodes.data[i].up && pt->nodes.data[i].flags & NODE_ESCAPES)
			heat_node(&pt->nodes.data[i]);
	pointsto_flow(pt, POINTSTO_ALONG, flow_heat, NULL);
}

bool sharing_is_hot(struct sharing *s, LLVMValueRef ptr, uint64_t size)
{
	struct cell c;
	struct node *n;

	if (!s->threaded || s->pt->unsettled)
		return s->threaded;
	c = pointsto_cell(s->pt, ptr);
	if (!c.node)
		return !LLVMIsAConstantPointerNull(ptr);
	c = pointsto_find(s->pt, c);
	n = pointsto_node(s->pt, c.node);
	if (pointsto_is_vague(s->pt, ptr))
		size = 0;
	if (size)
		size += pointsto_spread(s->pt, ptr);
	for (size_t i = 0; i < n->touched.len; i++)
		if (n->touched.data[i].hot &&
		    (!size || n->collapsed ||
		     overlap(&n->touched.data[i], c.off, (int32_t)MIN(size, EVERYTHING))))
			return true;
	return false;
}

void sharing_deinit(struct sharing *s)
{
	vec_deinit(&s->threads);
	vec_deinit(&s->after);
	vec_deinit(&s->may_create);
	vec_deinit(&s->entries);
	for (size_t k = 0; k < s->callees.len; k++)
		vec_deinit(&s->callees.data[k]);
	vec_deinit(&s->callees);
}
