/* cc/analyse/pointsto.c - points-to classes by unification, with flow kept at calls and stores.
 *
 * In the spirit of Steensgaard (one pass, near-linear) with two refinements that matter in
 * practice:
 *
 * - Fields. A node has one outgoing link per byte offset. An array element is its element type's
 *   first: a node knows its stride, offsets are taken modulo. Pointers to different offsets of one
 *   node that must be equal give it a stride; when that leaves nothing to tell apart, so be it.
 *
 * - Directed edges (after Das's one-level flow). Passing an argument, returning a value and
 *   storing a pointer do not merge the two sides; they say "objects of A may also be objects of P".
 *   Only what both sides point to is merged, field by field, and only for fields that P's side
 *   touches. So a generic helper (a free wrapper, a checksum) does not glue its callers together.
 *
 * Loads, phis and casts merge. Functions that return fresh memory get a new object per call.
 * Integers of pointer width are followed too: clang copies small structs through them.
 *
 * What we do not see is one node, `outside`, that points to itself; handing something to an
 * unknown function adds it there. summaries.def says what libc does instead. */
#include "cc/analyse/pointsto.h"

#include "cc/analyse/calls.h"
#include "cc/analyse/cxx.h"
#include "cc/analyse/fresh.h"
#include "cc/analyse/nodes.h"
#include "cc/program.h"
#include "cc/analyse/summaries.h"

#include <stdlib.h>
#include <string.h>

#define MAX_ROUNDS 200 /* programs need about ten */
#define MAX_SPREAD 128 /* bytes between two fields that one address may mean */

/* ---- values ---- */

/* May a value of this type be, or contain, an address? */
static bool carries(LLVMTypeRef t)
{
	switch (LLVMGetTypeKind(t)) {
	case LLVMPointerTypeKind:
	case LLVMStructTypeKind:
	case LLVMArrayTypeKind:
	case LLVMVectorTypeKind:
		return true;
	case LLVMIntegerTypeKind:
		return LLVMGetIntTypeWidth(t) >= 64;
	default:
		return false;
	}
}

static struct cell *value_slot(struct pointsto *pt, LLVMValueRef v)
{
	uint64_t *i = map_find(&pt->cells, (uint64_t)(uintptr_t)v);

	if (!i) {
		map_put(&pt->cells, (uint64_t)(uintptr_t)v, pt->values.len);
		vec_push(&pt->values, NOWHERE);
		return vec_last(&pt->values);
	}
	return &pt->values.data[*i];
}

static void set_cell(struct pointsto *pt, LLVMValueRef v, struct cell c)
{
	struct cell *slot = value_slot(pt, v);

	if (!c.node)
		return;
	if (!slot->node)
		*slot = c;
	else
		node_unify(pt, *slot, c);
}

static bool is_gep(LLVMValueRef v)
{
	return LLVMIsAGetElementPtrInst(v) ||
	       (LLVMIsAConstantExpr(v) && LLVMGetConstOpcode(v) == LLVMGetElementPtr);
}

/* Is it only the address of loads and stores? */
static bool only_accessed(LLVMValueRef v)
{
	for (LLVMUseRef u = LLVMGetFirstUse(v); u; u = LLVMGetNextUse(u)) {
		LLVMValueRef user = LLVMGetUser(u);

		if (!LLVMIsALoadInst(user) &&
		    !(LLVMIsAStoreInst(user) && LLVMGetOperand(user, 0) != v))
			return false;
	}
	return true;
}

/* The left or the right child: clang chooses between two offsets, not between two fields. Store the
 * lower one, in bytes. */
static uint64_t two_offsets(struct pointsto *pt, LLVMValueRef v, int64_t *low)
{
	LLVMValueRef index = LLVMIsAGetElementPtrInst(v) && LLVMGetNumOperands(v) == 2
				     ? LLVMGetOperand(v, 1)
				     : NULL;
	int64_t a, b, size;

	if (!index || !LLVMIsASelectInst(index) || !LLVMIsAConstantInt(LLVMGetOperand(index, 1)) ||
	    !LLVMIsAConstantInt(LLVMGetOperand(index, 2)) || !only_accessed(v))
		return 0;
	size = (int64_t)LLVMABISizeOfType(pt->p->layout, LLVMGetGEPSourceElementType(v));
	a = LLVMConstIntGetSExtValue(LLVMGetOperand(index, 1)) * size;
	b = LLVMConstIntGetSExtValue(LLVMGetOperand(index, 2)) * size;
	*low = MIN(a, b);
	return llabs(a) > MAX_SPREAD || llabs(b) > MAX_SPREAD ? 0 : (uint64_t)llabs(a - b);
}

uint64_t pointsto_spread(struct pointsto *pt, LLVMValueRef v)
{
	int64_t low;

	return two_offsets(pt, v, &low);
}

/* base + indices. A varying index makes its element type's size a stride of the object, unless it
 * runs over an array type inside a larger one (then all elements count as the first). */
static struct cell gep_cell(struct pointsto *pt, LLVMValueRef gep)
{
	struct cell c = pointsto_cell(pt, LLVMGetOperand(gep, 0));
	LLVMTypeRef t = LLVMGetGEPSourceElementType(gep);
	LLVMTargetDataRef layout = pt->p->layout;
	int n = LLVMGetNumOperands(gep);
	int64_t low;

	if (!c.node)
		return c;
	if (two_offsets(pt, gep, &low))
		return (struct cell){ c.node, c.off + (int32_t)low };
	for (int i = 1; i < n; i++) {
		LLVMValueRef index = LLVMGetOperand(gep, (unsigned)i);
		int64_t k = LLVMIsAConstantInt(index) ? LLVMConstIntGetSExtValue(index) : 0;

		if (i > 1 && LLVMGetTypeKind(t) == LLVMStructTypeKind) {
			c.off += (int32_t)LLVMOffsetOfElement(layout, t, (unsigned)k);
			t = LLVMStructGetTypeAtIndex(t, (unsigned)k);
			continue;
		}
		if (i > 1)
			t = LLVMGetElementType(t);
		if (LLVMIsAConstantInt(index) && (i == 1 || k == 0)) {
			int64_t step = k * (int64_t)LLVMABISizeOfType(layout, t);

			if (llabs(step) > 1 << 28)
				node_collapse(pt, pointsto_find(pt, c).node);
			else
				c.off += (int32_t)step;
		} else {
			c = pointsto_find(pt, c);
			node_set_stride(pt, c.node, (uint32_t)MAX(1, LLVMABISizeOfType(layout, t)));
			c = pointsto_find(pt, c);
		}
	}
	return c;
}

static struct cell constant_cell(struct pointsto *pt, LLVMValueRef v)
{
	struct cell c;

	if (LLVMIsAGlobalAlias(v))
		return pointsto_cell(pt, LLVMAliasGetAliasee(v));
	if (LLVMIsAConstantExpr(v)) {
		if (is_gep(v))
			return gep_cell(pt, v);
		c = NOWHERE;
		for (int i = 0; i < LLVMGetNumOperands(v); i++) {
			struct cell o = pointsto_cell(pt, LLVMGetOperand(v, (unsigned)i));

			if (c.node && o.node)
				node_unify(pt, c, o);
			else if (o.node)
				c = o;
		}
		return c;
	}
	return NOWHERE;
}

static bool is_stream(LLVMValueRef v)
{
	const char *name = value_name(v);

	return LLVMIsDeclaration(v) && (strcmp(name, "stdin") == 0 || strcmp(name, "stdout") == 0 ||
					strcmp(name, "stderr") == 0);
}

struct cell pointsto_cell(struct pointsto *pt, LLVMValueRef v)
{
	uint64_t *known = map_find(&pt->cells, (uint64_t)(uintptr_t)v);
	struct cell c;

	if (known && pt->values.data[*known].node)
		return pt->values.data[*known];
	if (LLVMIsAInstruction(v) || LLVMIsAArgument(v)) {
		if (!carries(LLVMTypeOf(v)))
			return NOWHERE;
		c = node_new(pt, 0, NULL);
	} else if (LLVMIsAGlobalVariable(v)) {
		c = node_new(pt, NODE_GLOBAL, v);
		if (is_stream(v)) /* never assigned; what it points to is libc's */
			node_add_edge(pt, node_outside(pt), node_link(pt, c));
		else if (LLVMIsDeclaration(v) && strncmp(value_name(v), "_ZTV", 4) == 0)
			cxx_virtual_table(pt, c, value_name(v));
		else if (LLVMIsDeclaration(v))
			node_unify(pt, c, node_outside(pt));
	} else if (LLVMIsAFunction(v)) {
		c = node_new(pt, NODE_GLOBAL, v);
		node_add_function(pt, c.node, v);
	} else {
		return constant_cell(pt, v);
	}
	*value_slot(pt, v) = c;
	return c;
}

static struct cell return_cell(struct pointsto *pt, LLVMValueRef f)
{
	uint64_t *i = map_find(&pt->returns, (uint64_t)(uintptr_t)f);

	if (!i) {
		struct cell c = node_new(pt, 0, NULL);

		map_put(&pt->returns, (uint64_t)(uintptr_t)f, pt->values.len);
		vec_push(&pt->values, c);
		return c;
	}
	return pt->values.data[*i];
}

/* ---- constraints of constants ---- */

static void add_initializer(struct pointsto *pt, struct cell at, LLVMValueRef init, int depth)
{
	LLVMTypeRef t = LLVMTypeOf(init);
	LLVMTargetDataRef layout = pt->p->layout;

	if (LLVMIsNull(init) || LLVMIsUndef(init) || LLVMIsAConstantDataSequential(init) ||
	    depth > 32)
		return;
	if (LLVMIsAConstantStruct(init) || LLVMIsAConstantArray(init) ||
	    LLVMIsAConstantVector(init)) {
		bool is_struct = LLVMIsAConstantStruct(init) != NULL;

		for (int i = 0; i < LLVMGetNumOperands(init); i++) {
			struct cell c = at;
			LLVMValueRef o = LLVMGetOperand(init, (unsigned)i);

			if (is_struct)
				c.off += (int32_t)LLVMOffsetOfElement(layout, t, (unsigned)i);
			else
				c.off += (int32_t)((uint64_t)i *
						   LLVMABISizeOfType(layout, LLVMTypeOf(o)));
			add_initializer(pt, c, o, depth + 1);
		}
		return;
	}
	if (carries(t)) {
		struct cell c = pointsto_cell(pt, init);

		if (c.node)
			node_add_edge(pt, c, node_link(pt, at));
	}
}

/* ---- calls ---- */

static struct cell vararg_cell(struct pointsto *pt, LLVMValueRef f)
{
	/* keyed beside the return cell: one odd address per function */
	uint64_t key = (uint64_t)(uintptr_t)f | 1;
	uint64_t *i = map_find(&pt->returns, key);
	struct cell c;

	if (i)
		return pt->values.data[*i];
	c = node_new(pt, NODE_VARARG, NULL);
	pt->nodes.data[c.node].collapsed = true;
	map_put(&pt->returns, key, pt->values.len);
	vec_push(&pt->values, c);
	return c;
}

/* The wrapper's own pointers see what it returns to each of its callers: what it writes there
 * before it returns is written to the callers' objects. */
static void bind_wrapper(struct pointsto *pt, struct cell fresh, LLVMValueRef f)
{
	for_each_block(b, f)
	{
		LLVMValueRef t = LLVMGetBasicBlockTerminator(b);
		struct cell inner = NOWHERE;

		if (t && LLVMIsAReturnInst(t))
			inner = pointsto_cell(pt, LLVMGetOperand(t, 0));
		if (inner.node)
			node_add_edge(pt, fresh, inner);
	}
}

/* One of our own functions is called. */
static void bind_ours(struct pointsto *pt, LLVMValueRef call, LLVMValueRef f)
{
	unsigned nparams = LLVMCountParams(f), nargs = LLVMGetNumArgOperands(call);

	for (unsigned i = 0; i < nargs; i++) {
		LLVMValueRef arg = LLVMGetOperand(call, i);
		struct cell c;

		if (!carries(LLVMTypeOf(arg)))
			continue;
		c = pointsto_cell(pt, arg);
		if (!c.node)
			continue;
		if (i < nparams)
			node_add_edge(pt, c, pointsto_cell(pt, LLVMGetParam(f, i)));
		else
			node_add_edge(pt, c, node_link(pt, vararg_cell(pt, f)));
	}
	if (!carries(LLVMTypeOf(call)))
		return;
	if (map_find(&pt->wrappers, (uint64_t)(uintptr_t)f)) {
		struct cell fresh = node_new(pt, NODE_HEAP, call);

		set_cell(pt, call, fresh);
		bind_wrapper(pt, fresh, f);
		return;
	}
	node_add_edge(pt, return_cell(pt, f), pointsto_cell(pt, call));
}

static void settle_creation(struct pointsto *pt, struct creation *c)
{
	size_t n = node_count_functions(pt, pointsto_find(pt, c->entry).node), at = 0;
	LLVMValueRef f;

	if (c->bound == n)
		return;
	while (pointsto_next_function(pt, c->entry, &at, &f)) {
		if (LLVMIsDeclaration(f))
			continue;
		if (LLVMCountParams(f) > 0)
			node_add_edge(pt, c->arg, pointsto_cell(pt, LLVMGetParam(f, 0)));
		if (carries(LLVMGetReturnType(LLVMGlobalGetValueType(f))))
			node_add_edge(pt, return_cell(pt, f), node_outside(pt));
	}
	c->bound = n;
	pt->merges++;
}

static void settle_callback(struct pointsto *pt, struct callback *c)
{
	size_t n = node_count_functions(pt, pointsto_find(pt, c->fn).node), at = 0;
	LLVMValueRef f;

	if (c->bound == n)
		return;
	while (pointsto_next_function(pt, c->fn, &at, &f))
		for (unsigned k = 0; k < c->nargs && k < LLVMCountParams(f); k++)
			if (!LLVMIsDeclaration(f))
				node_add_edge(pt, c->arg, pointsto_cell(pt, LLVMGetParam(f, k)));
	c->bound = n;
	pt->merges++;
}

static struct cell arg_cell(struct pointsto *pt, LLVMValueRef call, unsigned i)
{
	if (i >= LLVMGetNumArgOperands(call))
		return NOWHERE;
	return pointsto_cell(pt, LLVMGetOperand(call, i));
}

static void add_copy(struct pointsto *pt, struct cell to, struct cell from, LLVMValueRef size)
{
	int32_t n = -1;

	if (size && LLVMIsAConstantInt(size) && LLVMConstIntGetZExtValue(size) < 1 << 28)
		n = (int32_t)LLVMConstIntGetZExtValue(size);
	if (to.node && from.node) {
		vec_push(&pt->copies, (struct copy){ to, from, n });
		node_note_copied(pt, from, n);
	}
}

static void call_back(struct pointsto *pt, struct cell fn, struct cell arg, unsigned nargs)
{
	if (fn.node)
		vec_push(&pt->callbacks, (struct callback){ fn, arg, nargs, 0 });
}

static void bind_special(struct pointsto *pt, LLVMValueRef call, const struct summary *s)
{
	struct cell c;

	switch (s->special) {
	case SPECIAL_COPY:
		add_copy(pt, arg_cell(pt, call, 0), arg_cell(pt, call, 1), LLVMGetOperand(call, 2));
		break;
	case SPECIAL_CREATE:
	case SPECIAL_THRD: {
		unsigned k = s->special == SPECIAL_CREATE ? 2 : 1;

		vec_push(&pt->creations, (struct creation){ call, arg_cell(pt, call, k),
							    arg_cell(pt, call, k + 1), 0 });
		break;
	}
	case SPECIAL_JOIN:
		/* results travel between threads: treat them as seen by everybody */
		c = arg_cell(pt, call, 1);
		if (c.node)
			node_add_edge(pt, node_outside(pt), node_link(pt, c));
		break;
	case SPECIAL_ONCE:
		call_back(pt, arg_cell(pt, call, 1), NOWHERE, 0);
		break;
	case SPECIAL_ATEXIT:
		call_back(pt, arg_cell(pt, call, 0), NOWHERE, 0);
		break;
	case SPECIAL_SORT:
		call_back(pt, arg_cell(pt, call, LLVMGetNumArgOperands(call) - 1),
			  arg_cell(pt, call, 0), 2);
		break;
	case SPECIAL_SEARCH:
		call_back(pt, arg_cell(pt, call, 4), arg_cell(pt, call, 0), 1);
		call_back(pt, arg_cell(pt, call, 4), arg_cell(pt, call, 1), 2);
		set_cell(pt, call, arg_cell(pt, call, 1));
		break;
	case SPECIAL_END:
		c = arg_cell(pt, call, 1);
		if (c.node)
			node_add_edge(pt, arg_cell(pt, call, 0), node_link(pt, c));
		break;
	case SPECIAL_FRESH0:
		c = arg_cell(pt, call, 0);
		if (c.node)
			node_add_edge(pt, node_new(pt, NODE_HEAP, call), node_link(pt, c));
		break;
	default:
		cxx_bind(pt, call, s);
		break;
	}
}

static void bind_external(struct pointsto *pt, LLVMValueRef call, LLVMValueRef f)
{
	const struct summary *s = f ? summary_find(value_name(f)) : NULL;
	unsigned n = LLVMGetNumArgOperands(call);

	for (unsigned i = 0; i < n; i++) {
		LLVMValueRef arg = LLVMGetOperand(call, i);
		struct cell c;

		if (s && !(s->escapes & (1u << MIN(i, 7))))
			continue;
		if (!carries(LLVMTypeOf(arg)))
			continue;
		c = pointsto_cell(pt, arg);
		if (c.node)
			node_add_edge(pt, c, node_outside(pt));
	}
	if (s)
		bind_special(pt, call, s);
	if (!carries(LLVMTypeOf(call)))
		return;
	if (s && s->result == RESULT_FRESH)
		set_cell(pt, call, node_new(pt, NODE_HEAP, call));
	else if (s && s->result == RESULT_ARG0)
		set_cell(pt, call, arg_cell(pt, call, 0));
	else if (!s || s->result == RESULT_OUTSIDE ||
		 (LLVMGetTypeKind(LLVMTypeOf(call)) == LLVMPointerTypeKind && !summary_is_input(s)))
		node_add_edge(pt, node_outside(pt), pointsto_cell(pt, call));
}

static void bind_intrinsic(struct pointsto *pt, LLVMValueRef call, const char *name)
{
	if (call_classify(call) == CALL_MEMCPY) {
		add_copy(pt, arg_cell(pt, call, 0), arg_cell(pt, call, 1), LLVMGetOperand(call, 2));
	} else if (strncmp(name, "llvm.va_start", 13) == 0) {
		LLVMValueRef f = LLVMGetBasicBlockParent(LLVMGetInstructionParent(call));
		struct cell ap = pointsto_find(pt, arg_cell(pt, call, 0));

		node_collapse(pt, ap.node);
		node_add_edge(pt, vararg_cell(pt, f), node_link(pt, ap));
	} else if (strncmp(name, "llvm.va_copy", 12) == 0) {
		add_copy(pt, arg_cell(pt, call, 0), arg_cell(pt, call, 1), NULL);
	} else if (carries(LLVMTypeOf(call))) { /* launder, threadlocal.address, umax ... */
		for (unsigned i = 0; i < LLVMGetNumArgOperands(call); i++)
			if (carries(LLVMTypeOf(LLVMGetOperand(call, i))))
				set_cell(pt, call, arg_cell(pt, call, i));
	}
}

static LLVMValueRef strip_alias(LLVMValueRef f)
{
	while (f && LLVMIsAGlobalAlias(f))
		f = LLVMAliasGetAliasee(f);
	return f;
}

static void bind(struct pointsto *pt, LLVMValueRef call, LLVMValueRef f)
{
	if (strncmp(value_name(f), "llvm.", 5) == 0)
		bind_intrinsic(pt, call, value_name(f));
	else if (LLVMIsDeclaration(f))
		bind_external(pt, call, f);
	else
		bind_ours(pt, call, f);
}

static void process_call(struct pointsto *pt, LLVMValueRef call)
{
	LLVMValueRef f = strip_alias(LLVMGetCalledValue(call));

	if (LLVMIsAFunction(f)) {
		bind(pt, call, f);
	} else if (LLVMIsAInlineAsm(f)) {
		bind_external(pt, call, NULL);
	} else {
		pointsto_cell(pt, f);
		vec_push(&pt->indirect, (struct indirect_call){ call, 0 });
	}
}

/* ---- instructions ---- */

static void unify_operands(struct pointsto *pt, LLVMValueRef i, unsigned from, unsigned n)
{
	for (unsigned k = from; k < n; k++) {
		LLVMValueRef o = LLVMGetOperand(i, k);

		if (carries(LLVMTypeOf(o)))
			set_cell(pt, i, pointsto_cell(pt, o));
	}
}

static bool has_cell(struct pointsto *pt, LLVMValueRef v)
{
	uint64_t *k = map_find(&pt->cells, (uint64_t)(uintptr_t)v);

	return k && pt->values.data[*k].node;
}

/* Arithmetic on integers that came from pointers. A difference of two is no pointer. */
static void process_arithmetic(struct pointsto *pt, LLVMValueRef i, bool sub)
{
	LLVMValueRef a = LLVMGetOperand(i, 0), b = LLVMGetOperand(i, 1);
	bool ha = carries(LLVMTypeOf(a)) && has_cell(pt, a);
	bool hb = carries(LLVMTypeOf(b)) && has_cell(pt, b);
	struct cell c;

	if (sub && ha && hb)
		return;
	if (ha || hb) {
		c = pointsto_find(pt, pointsto_cell(pt, ha ? a : b));
		node_collapse(pt, c.node); /* an unknown distance */
		set_cell(pt, i, c);
	}
	if (ha && hb)
		set_cell(pt, i, pointsto_cell(pt, b));
}

/* A wide value: every pointer-sized slot of the memory it comes from or goes to. */
static void wide_access(struct pointsto *pt, LLVMValueRef value, LLVMTypeRef t, LLVMValueRef ptr,
			bool store)
{
	struct cell at = pointsto_cell(pt, ptr);
	uint64_t size = LLVMStoreSizeOfType(pt->p->layout, t) + pointsto_spread(pt, ptr);

	for (uint64_t k = 0; k + 8 <= size && k < 256; k += 8) {
		struct cell c = { at.node, at.off + (int32_t)k };

		if (store)
			node_add_edge(pt, pointsto_cell(pt, value), node_link(pt, c));
		else
			set_cell(pt, value, node_link(pt, c));
	}
}

static void process_store(struct pointsto *pt, LLVMValueRef value, LLVMValueRef ptr)
{
	if (carries(LLVMTypeOf(value)) && pointsto_cell(pt, ptr).node &&
	    pointsto_cell(pt, value).node)
		wide_access(pt, value, LLVMTypeOf(value), ptr, true);
}

static void process(struct pointsto *pt, LLVMValueRef f, LLVMValueRef i)
{
	LLVMTypeRef t = LLVMTypeOf(i);
	unsigned n = (unsigned)LLVMGetNumOperands(i);

	switch (LLVMGetInstructionOpcode(i)) {
	case LLVMAlloca:
		set_cell(pt, i, node_new(pt, NODE_STACK, i));
		break;
	case LLVMGetElementPtr:
		set_cell(pt, i, gep_cell(pt, i));
		break;
	case LLVMLoad:
		if (carries(t))
			wide_access(pt, i, t, LLVMGetOperand(i, 0), false);
		break;
	case LLVMStore:
		process_store(pt, LLVMGetOperand(i, 0), LLVMGetOperand(i, 1));
		break;
	case LLVMAtomicRMW:
		process_store(pt, LLVMGetOperand(i, 1), LLVMGetOperand(i, 0));
		if (carries(t))
			wide_access(pt, i, t, LLVMGetOperand(i, 0), false);
		break;
	case LLVMAtomicCmpXchg:
		process_store(pt, LLVMGetOperand(i, 2), LLVMGetOperand(i, 0));
		if (carries(LLVMTypeOf(LLVMGetOperand(i, 1))))
			wide_access(pt, i, LLVMTypeOf(LLVMGetOperand(i, 1)), LLVMGetOperand(i, 0),
				    false);
		break;
	case LLVMCall:
	case LLVMInvoke:
	case LLVMCallBr:
		process_call(pt, i);
		break;
	case LLVMRet:
		if (n && carries(LLVMTypeOf(LLVMGetOperand(i, 0))))
			node_add_edge(pt, pointsto_cell(pt, LLVMGetOperand(i, 0)),
				      return_cell(pt, f));
		break;
	case LLVMPHI:
	case LLVMSelect:
	case LLVMFreeze:
	case LLVMBitCast:
	case LLVMPtrToInt:
	case LLVMIntToPtr:
	case LLVMAddrSpaceCast:
	case LLVMExtractValue:
	case LLVMInsertValue:
	case LLVMExtractElement:
	case LLVMInsertElement:
	case LLVMShuffleVector:
		if (carries(t))
			unify_operands(pt, i, 0, n);
		break;
	case LLVMAdd:
	case LLVMSub:
	case LLVMAnd:
	case LLVMOr:
	case LLVMXor:
		if (carries(t))
			process_arithmetic(pt, i, LLVMGetInstructionOpcode(i) == LLVMSub);
		break;
	case LLVMLandingPad:
		node_add_edge(pt, node_outside(pt), pointsto_cell(pt, i));
		break;
	case LLVMVAArg:
		if (carries(t))
			node_add_edge(pt, node_outside(pt), pointsto_cell(pt, i));
		break;
	default:
		break;
	}
}

/* ---- the fixed point ---- */

/* Links of a become links of b: where a's could be anywhere, so can b's. */
static void match_offsets(struct pointsto *pt, uint32_t a, uint32_t b, int32_t size)
{
	const struct node *n = &pt->nodes.data[a];

	if (!n->links.len)
		return;
	if (n->collapsed)
		node_collapse(pt, b);
	else if (n->stride && (size < 0 || (uint32_t)size > n->stride))
		node_set_stride(pt, b, n->stride);
}

/* Seen through b, bytes of these objects are copied elsewhere, whether or not anybody looks at them
 * there: the links at a's side are links at b's. */
static void copied_edge(struct pointsto *pt, struct cell a, struct cell b)
{
	int32_t from = pt->nodes.data[b.node].copied, to = pt->nodes.data[b.node].copied_end;
	int32_t delta = b.off - a.off;

	if (from == to)
		return;
	node_note_copied(pt, (struct cell){ a.node, MAX(from - delta, -INT32_MAX / 4) }, to - from);
	match_offsets(pt, a.node, b.node, to - from);
	for (size_t i = 0; i < pt->nodes.data[a.node].links.len; i++) {
		int32_t off = pt->nodes.data[a.node].links.data[i].off;

		if (pt->nodes.data[a.node].stride || pt->nodes.data[a.node].collapsed ||
		    (off + delta >= from && off + delta < to))
			node_link(pt, (struct cell){ b.node, off + delta });
		if (pt->nodes.data[a.node].up || pt->nodes.data[b.node].up)
			return;
	}
}

/* Objects of `from` are seen through `to`: what fields `to` uses point to the same things. */
static void settle_edge(struct pointsto *pt, struct edge e)
{
	struct cell a = pointsto_find(pt, e.from), b = pointsto_find(pt, e.to);
	int32_t delta = b.off - a.off;

	if (a.node == b.node) {
		if (delta)
			node_unify(pt, a, b);
		return;
	}
	copied_edge(pt, a, b);
	if (pt->nodes.data[a.node].up || pt->nodes.data[b.node].up)
		return; /* they have changed under us; the next round goes on */
	if (pt->nodes.data[b.node].collapsed && pt->nodes.data[b.node].links.len)
		node_collapse(pt, a.node);
	else if (pt->nodes.data[b.node].stride && pt->nodes.data[b.node].links.len)
		node_set_stride(pt, a.node, pt->nodes.data[b.node].stride);
	for (size_t i = 0; i < pt->nodes.data[b.node].links.len; i++) {
		struct link_field l = pt->nodes.data[b.node].links.data[i];
		struct cell x = node_link(pt, (struct cell){ a.node, l.off - delta }), y;

		x = pointsto_find(pt, x);
		y = pointsto_find(pt, l.to);
		if (x.node != y.node || x.off != y.off)
			node_unify(pt, x, y);
		if (pt->nodes.data[a.node].up || pt->nodes.data[b.node].up)
			return;
	}
}

static void settle_copy(struct pointsto *pt, const struct copy *c)
{
	struct cell a = pointsto_find(pt, c->from), b = pointsto_find(pt, c->to);

	match_offsets(pt, a.node, b.node, c->size);
	for (size_t i = 0; i < pt->nodes.data[a.node].links.len; i++) {
		struct link_field l = pt->nodes.data[a.node].links.data[i];

		if (c->size >= 0 && !pt->nodes.data[a.node].stride &&
		    !pt->nodes.data[a.node].collapsed &&
		    (l.off < a.off || l.off >= a.off + c->size))
			continue;
		node_add_edge(pt, l.to,
			      node_link(pt, (struct cell){ b.node, l.off - a.off + b.off }));
		if (pt->nodes.data[a.node].up || pt->nodes.data[b.node].up)
			return;
	}
}

static void settle_indirect(struct pointsto *pt, size_t i)
{
	LLVMValueRef call = pt->indirect.data[i].call, f;
	struct cell c = pointsto_cell(pt, LLVMGetCalledValue(call));
	size_t n = node_count_functions(pt, pointsto_find(pt, c).node), at = 0;

	/* bind all again when there are new ones: edges are only added once */
	if (pt->indirect.data[i].bound == n)
		return;
	while (pointsto_next_function(pt, c, &at, &f)) {
		if (LLVMIsDeclaration(f))
			bind_external(pt, call, f);
		else
			bind_ours(pt, call, f);
	}
	if (pointsto_calls_unknown(pt, c))
		bind_external(pt, call, NULL);
	pt->indirect.data[i].bound = n;
	pt->merges++;
}

/* A function pointer flows along edges: the target of the edge can be called as well. */
static void flow_functions(struct pointsto *pt)
{
	bool changed = true;

	while (changed) {
		changed = false;
		for (size_t i = 0; i < pt->edges.len; i++) {
			struct cell a = pointsto_find(pt, pt->edges.data[i].from);
			struct cell b = pointsto_find(pt, pt->edges.data[i].to);

			if (a.node != b.node && pt->nodes.data[a.node].fns)
				changed |=
					node_add_functions(pt, b.node, pt->nodes.data[a.node].fns);
		}
	}
}

/* Functions that reach unseen code may be called with anything. */
static void settle_outside(struct pointsto *pt, struct map *done)
{
	LLVMValueRef f;
	size_t at = 0;

	while (pointsto_next_function(pt, node_outside(pt), &at, &f)) {
		if (LLVMIsDeclaration(f) || map_find(done, (uint64_t)(uintptr_t)f))
			continue;
		map_put(done, (uint64_t)(uintptr_t)f, 1);
		for (unsigned k = 0; k < LLVMCountParams(f); k++)
			if (carries(LLVMTypeOf(LLVMGetParam(f, k))))
				node_add_edge(pt, node_outside(pt),
					      pointsto_cell(pt, LLVMGetParam(f, k)));
		node_add_edge(pt, return_cell(pt, f), node_outside(pt));
	}
}

static void settle(struct pointsto *pt)
{
	struct map outside_done = { 0 };
	uint64_t before;
	int rounds = 0;

	do {
		before = pt->merges;
		for (size_t i = 0; i < pt->edges.len; i++)
			settle_edge(pt, pt->edges.data[i]);
		for (size_t i = pt->edges.len; i-- > 0;)
			settle_edge(pt, pt->edges.data[i]);
		for (size_t i = 0; i < pt->copies.len; i++)
			settle_copy(pt, &pt->copies.data[i]);
		flow_functions(pt);
		settle_outside(pt, &outside_done);
		for (size_t i = 0; i < pt->indirect.len; i++)
			settle_indirect(pt, i);
		for (size_t i = 0; i < pt->creations.len; i++)
			settle_creation(pt, &pt->creations.data[i]);
		for (size_t i = 0; i < pt->callbacks.len; i++)
			settle_callback(pt, &pt->callbacks.data[i]);
	} while (pt->merges != before && ++rounds < MAX_ROUNDS);
	pt->unsettled = pt->merges != before;
	map_deinit(&outside_done);
}

void pointsto_run(struct pointsto *pt, struct program *p)
{
	memset(pt, 0, sizeof(*pt));
	pt->p = p;
	for_each_function(f, p->module)
	{
		map_put(&pt->function_ids, (uint64_t)(uintptr_t)f, pt->functions.len);
		vec_push(&pt->functions, f);
	}
	vec_add(&pt->nodes); /* node 0 is nowhere */
	pt->outside = node_new(pt, NODE_OUTSIDE | NODE_ESCAPES, NULL).node;
	pt->nodes.data[pt->outside].collapsed = true;
	node_point_to_itself(pt, pt->outside);
	node_add_unknown(pt, pt->outside);
	fresh_find(pt);
	for_each_global(g, p->module)
	{
		LLVMValueRef init = LLVMGetInitializer(g);
		struct cell c = pointsto_cell(pt, g);

		if (init)
			add_initializer(pt, c, init, 0);
		if (program_is_exported(p, g))
			node_add_edge(pt, c, node_outside(pt));
	}
	for (size_t i = 0; i < p->fns.len; i++) {
		if (program_is_exported(p, p->fns.data[i].f))
			node_add_edge(pt, pointsto_cell(pt, p->fns.data[i].f), node_outside(pt));
		for_each_block(b, p->fns.data[i].f) for_each_instruction(in, b)
			process(pt, p->fns.data[i].f, in);
	}
	settle(pt);
}

struct cell pointsto_callee(struct pointsto *pt, LLVMValueRef call)
{
	LLVMValueRef f = strip_alias(LLVMGetCalledValue(call));

	return LLVMIsAInlineAsm(f) ? NOWHERE : pointsto_cell(pt, f);
}

void pointsto_deinit(struct pointsto *pt)
{
	for (size_t i = 0; i < pt->nodes.len; i++) {
		vec_deinit(&pt->nodes.data[i].links);
		free(pt->nodes.data[i].fns);
		vec_deinit(&pt->nodes.data[i].touched);
	}
	vec_deinit(&pt->nodes);
	vec_deinit(&pt->functions);
	map_deinit(&pt->function_ids);
	map_deinit(&pt->cells);
	vec_deinit(&pt->values);
	map_deinit(&pt->returns);
	map_deinit(&pt->edge_seen);
	vec_deinit(&pt->edges);
	vec_deinit(&pt->copies);
	vec_deinit(&pt->indirect);
	vec_deinit(&pt->creations);
	vec_deinit(&pt->pending);
	map_deinit(&pt->wrappers);
	vec_deinit(&pt->callbacks);
}
