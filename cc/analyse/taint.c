/* cc/analyse/taint.c - two flow-insensitive, interprocedural fixed points over the whole program.
 *
 * Forward: a value is tainted when it was read from possibly shared memory, came from outside, or
 * was computed from such a value. Control dependence is not followed on purpose: once a branch is
 * recorded, a re-execution knows which way it went.
 *
 * Backward: a value is needed when it may become (part of) an address or a called function. A
 * possibly shared load that is needed must be logged with its value, because re-execution cannot
 * look it up.
 *
 * Forward again, with the loads that are logged no longer tainted: a branch that depends on nothing
 * else needs no bit in mode path.
 *
 * Memory is told apart by class and 8-byte field (classes.h). Each step looks at one instruction. An
 * instruction that asks for a fact which may become true later is looked at again then (worklist.h). The
 * users of a value need no entry there: LLVM knows them. */
#include "cc/analyse/taint.h"

#include "cc/analyse/calls.h"
#include "cc/analyse/classes.h"
#include "cc/analyse/cxx.h"
#include "cc/program.h"
#include "cc/analyse/sharing.h"
#include "cc/analyse/summaries.h"
#include "cc/analyse/worklist.h"

#include <string.h>

static uint64_t key_of(LLVMValueRef v)
{
	return (uint64_t)(uintptr_t)v;
}

/* That `key` is in one of our maps. */
static uint64_t fact(const struct map *m, uint64_t key)
{
	return hash_u64(key ^ hash_u64((uint64_t)(uintptr_t)m));
}

/* Where a function's return value is kept, among the values. */
static uint64_t return_key(LLVMValueRef f)
{
	return key_of(f) | 1;
}

/* Whom a value that is tainted, or needed, is news for: its users, or the instruction that made it. */
static void tell_neighbours(struct taint *t, const struct map *m, LLVMValueRef v)
{
	if (m == &t->values)
		for (LLVMUseRef u = LLVMGetFirstUse(v); u; u = LLVMGetNextUse(u))
			worklist_again(t->work, LLVMGetUser(u));
	else
		worklist_again(t->work, v);
}

static void set(struct taint *t, struct map *m, uint64_t key)
{
	size_t before = m->len;

	if (!key)
		return;
	map_put(m, key, 1);
	if (m->len == before)
		return;
	worklist_tell(t->work, fact(m, key));
	if ((m == &t->values || m == &t->needed) && !(key & 1)) /* no function's result */
		tell_neighbours(t, m, (LLVMValueRef)(uintptr_t)key);
}

/* Is it, or will it be? Then we are asked again. */
static bool is_set(struct taint *t, const struct map *m, uint64_t key)
{
	worklist_wait(t->work, fact(m, key));
	return map_find(m, key) != NULL;
}

static uint64_t class_key_of(struct taint *t, struct cell c)
{
	return c.node ? (uint64_t)classes_find(t->seen, c).node + 1 : 0;
}

static uint64_t class_key(struct taint *t, LLVMValueRef ptr)
{
	return class_key_of(t, pointsto_cell(t->seen->pt, ptr));
}

static uint64_t field_key(struct taint *t, LLVMValueRef ptr)
{
	struct cell c = pointsto_cell(t->seen->pt, ptr);

	if (!c.node)
		return 0;
	c = classes_find(t->seen, c);
	return ((uint64_t)c.node + 1) << 32 | (uint32_t)(c.off >> 3);
}

/* The whole class: an unknown number of bytes was written there. */
#define WHOLE 0x80000000u

static void taint_class(struct taint *t, uint64_t c)
{
	if (c) {
		set(t, &t->memory, c << 32 | WHOLE);
		set(t, &t->classes, c);
	}
}

/* May it point to more than one field? */
static bool is_spread(struct taint *t, LLVMValueRef ptr)
{
	return pointsto_spread(t->seen->pt, ptr) || pointsto_is_vague(t->seen->pt, ptr);
}

static bool memory_tainted(struct taint *t, LLVMValueRef ptr)
{
	uint64_t c = class_key(t, ptr);

	return !c || (is_spread(t, ptr) && is_set(t, &t->classes, c)) ||
	       is_set(t, &t->memory, field_key(t, ptr)) || is_set(t, &t->memory, c << 32 | WHOLE);
}

bool taint_is(const struct taint *t, LLVMValueRef v)
{
	return map_find(&t->values, key_of(v)) != NULL;
}

bool taint_is_undecided(const struct taint *t, LLVMValueRef v)
{
	return map_find(&t->undecided, key_of(v)) != NULL;
}

bool taint_feeds_address(const struct taint *t, LLVMValueRef v)
{
	return map_find(&t->needed, key_of(v)) != NULL;
}

static bool any_operand(const struct taint *t, LLVMValueRef i)
{
	for (int k = 0; k < LLVMGetNumOperands(i); k++)
		if (taint_is(t, LLVMGetOperand(i, (unsigned)k)))
			return true;
	return false;
}

bool taint_is_unknown(struct taint *t, LLVMValueRef ptr)
{
	return map_find(&t->unknown, class_key(t, ptr)) != NULL;
}

bool taint_call_looks(struct taint *t, LLVMValueRef call)
{
	for (unsigned i = 0; i < LLVMGetNumArgOperands(call); i++) {
		LLVMValueRef arg = LLVMGetOperand(call, i);

		if (LLVMGetTypeKind(LLVMTypeOf(arg)) == LLVMPointerTypeKind &&
		    (map_find(&t->classes, class_key(t, arg)) ||
		     sharing_is_hot(t->sharing, arg, 0)))
			return true;
	}
	return false;
}

/* May a call write what re-execution does not know? Synchronisation objects are nobody's data,
 * what inputs fill is recorded, and what the C library computes from known values is known. */
static bool writes_unknown(struct taint *t, LLVMValueRef call, LLVMValueRef f)
{
	static const char *const known[] = {
#define FILLED(name, arg, bytes) name,
#include "unplait/inputs.def"
#undef FILLED
	};
	static const char *const sync[] = { "pthread_", "sem_", "mtx_", "cnd_", "thrd_", "__cxa_" };
	const char *name = f ? value_name(f) : "";

	for (size_t i = 0; i < ARRAY_SIZE(known); i++)
		if (strcmp(known[i], name) == 0)
			return false;
	for (size_t i = 0; i < ARRAY_SIZE(sync); i++)
		if (strncmp(sync[i], name, strlen(sync[i])) == 0)
			return false;
	return call_classify(call) != CALL_EXTERNAL || any_operand(t, call) ||
	       taint_call_looks(t, call);
}

static void written(struct taint *t, uint64_t class, bool unknown)
{
	taint_class(t, class);
	if (unknown)
		set(t, &t->unknown, class);
}

static void forward_external(struct taint *t, LLVMValueRef call, LLVMValueRef f)
{
	const struct summary *s = f ? summary_find(value_name(f)) : NULL;
	enum call_kind kind = call_classify(call);
	unsigned n = LLVMGetNumArgOperands(call);
	bool result = kind == CALL_INPUT || kind == CALL_EXTERNAL;
	struct pointsto *pt = t->seen->pt;
	uint64_t size;

	for (unsigned i = 0; i < n; i++) {
		LLVMValueRef arg = LLVMGetOperand(call, i);

		if (LLVMGetTypeKind(LLVMTypeOf(arg)) != LLVMPointerTypeKind)
			continue;
		result |= is_set(t, &t->classes, class_key(t, arg)) && kind == CALL_NOTHING;
		if (kind != CALL_NOTHING && (!s || s->writes & (1u << MIN(i, 7)))) {
			written(t, class_key(t, arg), writes_unknown(t, call, f));
			if (s)
				written(t, class_key_of(t, cxx_beyond(pt, s, arg, &size)), true);
		}
	}
	if (result || (kind == CALL_NOTHING && any_operand(t, call)))
		set(t, &t->values, key_of(call));
}

static void forward_call(struct taint *t, LLVMValueRef call)
{
	struct pointsto *pt = t->seen->pt;
	struct cell c = pointsto_callee(pt, call);
	enum call_kind kind = call_classify(call);
	unsigned nargs = LLVMGetNumArgOperands(call);
	size_t at = 0;
	LLVMValueRef f;

	if (kind == CALL_MEMCPY) {
		LLVMValueRef from = LLVMGetOperand(call, 1);
		bool hot = sharing_is_hot(t->sharing, from, 0);

		if (hot || is_set(t, &t->classes, class_key(t, from)))
			taint_class(t, class_key(t, LLVMGetOperand(call, 0)));
		if (hot || is_set(t, &t->unknown, class_key(t, from)))
			set(t, &t->unknown, class_key(t, LLVMGetOperand(call, 0)));
		return;
	}
	if (LLVMIsAInlineAsm(LLVMGetCalledValue(call)))
		set(t, &t->values, key_of(call));
	while (pointsto_next_function(pt, c, &at, &f)) {
		unsigned nparams = LLVMCountParams(f);

		if (LLVMIsDeclaration(f)) {
			if (strncmp(value_name(f), "llvm.", 5) != 0)
				forward_external(t, call, f);
			else if (any_operand(t, call))
				set(t, &t->values, key_of(call));
			continue;
		}
		for (unsigned i = 0; i < nargs && i < nparams; i++)
			if (taint_is(t, LLVMGetOperand(call, i)))
				set(t, &t->values, key_of(LLVMGetParam(f, i)));
		if (is_set(t, &t->values, return_key(f)))
			set(t, &t->values, key_of(call));
	}
}

static void taint_field(struct taint *t, LLVMValueRef ptr)
{
	if (is_spread(t, ptr))
		taint_class(t, class_key(t, ptr));
	set(t, &t->memory, field_key(t, ptr));
	set(t, &t->classes, class_key(t, ptr));
}

/* Does mode path log what this load reads, says plan.c? */
static bool is_logged(struct taint *t, LLVMValueRef load)
{
	LLVMTypeRef type = LLVMTypeOf(load);
	LLVMValueRef ptr = LLVMGetOperand(load, 0);

	return t->logs && taint_feeds_address(t, load) && scalar_size(type) &&
	       LLVMGetPointerAddressSpace(LLVMTypeOf(ptr)) == 0 &&
	       sharing_is_hot(t->sharing, ptr, LLVMStoreSizeOfType(t->p->layout, type));
}

static void forward(void *context, LLVMValueRef f, LLVMValueRef i)
{
	struct taint *t = context;
	LLVMValueRef ptr;

	switch (LLVMGetInstructionOpcode(i)) {
	case LLVMLoad:
		ptr = LLVMGetOperand(i, 0);
		if (!taint_is(t, i) && !is_logged(t, i) &&
		    (memory_tainted(t, ptr) || taint_is(t, ptr) ||
		     sharing_is_hot(t->sharing, ptr,
				    LLVMStoreSizeOfType(t->p->layout, LLVMTypeOf(i)))))
			set(t, &t->values, key_of(i));
		break;
	case LLVMStore:
		if (taint_is(t, LLVMGetOperand(i, 0)))
			taint_field(t, LLVMGetOperand(i, 1));
		break;
	case LLVMAtomicRMW:
	case LLVMAtomicCmpXchg:
		set(t, &t->values, key_of(i));
		taint_field(t, LLVMGetOperand(i, 0));
		break;
	case LLVMCall:
	case LLVMInvoke:
	case LLVMCallBr:
		forward_call(t, i);
		break;
	case LLVMRet:
		if (any_operand(t, i))
			set(t, &t->values, return_key(f));
		break;
	default:
		if (!taint_is(t, i) && any_operand(t, i))
			set(t, &t->values, key_of(i));
	}
}

static void need(struct taint *t, LLVMValueRef v)
{
	if (LLVMIsAInstruction(v) || LLVMIsAArgument(v))
		set(t, &t->needed, key_of(v));
}

/* How much is copied, filled or allocated, and whatever an unknown function gets, decides which
 * bytes change: as good as an address. */
static bool sizes_matter(LLVMValueRef call, LLVMValueRef f)
{
	const struct summary *s = summary_find(value_name(f));

	switch (call_classify(call)) {
	case CALL_MEMCPY:
	case CALL_MEMSET:
	case CALL_ALLOC:
		return true;
	case CALL_INPUT:
	case CALL_EXTERNAL:
		return !s || s->writes;
	default:
		return false;
	}
}

static void backward_call(struct taint *t, LLVMValueRef call)
{
	struct pointsto *pt = t->seen->pt;
	struct cell c = pointsto_callee(pt, call);
	unsigned nargs = LLVMGetNumArgOperands(call);
	bool wanted = taint_feeds_address(t, call);
	size_t at = 0;
	LLVMValueRef f;

	need(t, LLVMGetCalledValue(call));
	while (pointsto_next_function(pt, c, &at, &f)) {
		bool external = LLVMIsDeclaration(f), sizes = external && sizes_matter(call, f);
		unsigned nparams = LLVMCountParams(f);

		if (wanted && !external)
			set(t, &t->needed, return_key(f));
		for (unsigned i = 0; i < nargs; i++) {
			LLVMValueRef arg = LLVMGetOperand(call, i);
			bool pointer = LLVMGetTypeKind(LLVMTypeOf(arg)) == LLVMPointerTypeKind;

			if (external	  ? pointer || wanted || (sizes && i < nparams)
			    : i < nparams ? is_set(t, &t->needed, key_of(LLVMGetParam(f, i)))
					  : pointer) /* taken out again by va_arg */
				need(t, arg);
		}
	}
}

/* One of two fields: both. (Fields are 8 bytes, and a key counts them.) */
static void need_field(struct taint *t, LLVMValueRef ptr)
{
	uint64_t key = field_key(t, ptr), class = class_key(t, ptr);

	for (uint64_t k = 0; key && k <= pointsto_spread(t->seen->pt, ptr) / 8; k++)
		set(t, &t->needed_memory, key + k);
	set(t, &t->needed_memory, class);
	if (class && pointsto_is_vague(t->seen->pt, ptr))
		set(t, &t->needed_memory, class << 32 | WHOLE);
}

static bool field_needed(struct taint *t, LLVMValueRef ptr)
{
	uint64_t key = field_key(t, ptr), class = class_key(t, ptr);
	bool found = is_set(t, &t->needed_memory, class << 32 | WHOLE);

	if (class && pointsto_is_vague(t->seen->pt, ptr))
		found |= is_set(t, &t->needed_memory, class);
	for (uint64_t k = 0; key && k <= pointsto_spread(t->seen->pt, ptr) / 8; k++)
		found |= is_set(t, &t->needed_memory, key + k);
	return found;
}

static void backward(void *context, LLVMValueRef f, LLVMValueRef i)
{
	struct taint *t = context;

	switch (LLVMGetInstructionOpcode(i)) {
	case LLVMLoad:
		need(t, LLVMGetOperand(i, 0));
		if (taint_feeds_address(t, i))
			need_field(t, LLVMGetOperand(i, 0));
		break;
	case LLVMStore:
		need(t, LLVMGetOperand(i, 1));
		if (field_needed(t, LLVMGetOperand(i, 1)))
			need(t, LLVMGetOperand(i, 0));
		break;
	case LLVMAtomicRMW:
	case LLVMAtomicCmpXchg:
		need(t, LLVMGetOperand(i, 0));
		if (is_set(t, &t->needed_memory, field_key(t, LLVMGetOperand(i, 0))) ||
		    taint_feeds_address(t, i)) {
			set(t, &t->needed_memory, field_key(t, LLVMGetOperand(i, 0)));
			need(t, LLVMGetOperand(i, LLVMIsAAtomicRMWInst(i) ? 1 : 2));
		}
		break;
	case LLVMCall:
	case LLVMInvoke:
	case LLVMCallBr:
		backward_call(t, i);
		break;
	case LLVMRet:
		if (LLVMGetNumOperands(i) && is_set(t, &t->needed, return_key(f)))
			need(t, LLVMGetOperand(i, 0));
		break;
	case LLVMICmp:
	case LLVMFCmp:
		break;	 /* a truth value is no address */
	case LLVMSelect: /* which one is recorded like a branch: plan.c */
		if (taint_feeds_address(t, i)) {
			need(t, LLVMGetOperand(i, 1));
			need(t, LLVMGetOperand(i, 2));
		}
		break;
	default:
		if (taint_feeds_address(t, i))
			for (int k = 0; k < LLVMGetNumOperands(i); k++)
				need(t, LLVMGetOperand(i, (unsigned)k));
	}
}

/* The command line, and whatever strangers pass in; and what comes of it. */
static void spread(struct taint *t)
{
	LLVMValueRef main_fn = LLVMGetNamedFunction(t->p->module, "main");

	for (size_t k = 0; k < t->p->fns.len; k++) {
		LLVMValueRef f = t->p->fns.data[k].f;

		for (unsigned i = 0; i < LLVMCountParams(f); i++)
			if (f == main_fn || program_is_exported(t->p, f))
				set(t, &t->values, key_of(LLVMGetParam(f, i)));
	}
	worklist_run(t->work, false, forward, t);
}

void taint_run(struct taint *t, struct program *p, struct sharing *s, struct classes *classes)
{
	struct worklist work;
	struct taint again = { .p = p, .sharing = s, .seen = classes, .logs = true, .work = &work };

	worklist_init(&work, p);
	*t = (struct taint){ .p = p, .sharing = s, .seen = classes, .work = &work };
	spread(t);
	worklist_run(&work, true, backward, t);
	again.needed = t->needed;
	spread(&again);
	t->undecided = again.values;
	again.values = again.needed = (struct map){ 0 };
	taint_deinit(&again);
	t->work = NULL;
	worklist_deinit(&work);
}

void taint_deinit(struct taint *t)
{
	map_deinit(&t->values);
	map_deinit(&t->memory);
	map_deinit(&t->classes);
	map_deinit(&t->needed);
	map_deinit(&t->undecided);
	map_deinit(&t->needed_memory);
	map_deinit(&t->unknown);
}
