/* cc/analyse/bind.c - what a call does to pointers: arguments, results, copies, callbacks.
 *
 * A call of one of our own functions adds an edge per argument and one for the result. A call of a
 * function we do not see hands its arguments to `outside`, unless summaries.def says what it does.
 * Threads and callbacks that a call starts are noted; settle.c binds them when it knows the
 * functions. */
#include "cc/analyse/bind.h"

#include "base/mem.h"
#include "cc/analyse/calls.h"
#include "cc/analyse/cells.h"
#include "cc/analyse/cxx.h"
#include "cc/analyse/nodes.h"
#include "cc/analyse/summaries.h"
#include "cc/program.h"

#include <string.h>

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

/* What a function of the library returns lies in memory of the library's, the same for all calls. */
static struct cell library_cell(struct pointsto *pt, LLVMValueRef f, const struct summary *s)
{
	uint64_t key = (uint64_t)(uintptr_t)f | 2; /* beside returns and further arguments */
	uint64_t *i = map_find(&pt->returns, key);
	struct cell c;

	if (s->special == SPECIAL_ENVIRON)
		return pt->environment;
	if (i)
		return pt->values.data[*i];
	c = node_library(pt);
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
void bind_function(struct pointsto *pt, LLVMValueRef call, LLVMValueRef f)
{
	unsigned nparams = LLVMCountParams(f), nargs = LLVMGetNumArgOperands(call);

	for (unsigned i = 0; i < nargs; i++) {
		LLVMValueRef arg = LLVMGetOperand(call, i);
		struct cell c;

		if (!cell_carries(LLVMTypeOf(arg)))
			continue;
		c = pointsto_cell(pt, arg);
		if (!c.node)
			continue;
		if (i < nparams)
			node_add_edge(pt, c, pointsto_cell(pt, LLVMGetParam(f, i)));
		else
			node_add_edge(pt, c, node_link(pt, vararg_cell(pt, f)));
	}
	if (!cell_carries(LLVMTypeOf(call)))
		return;
	if (map_find(&pt->wrappers, (uint64_t)(uintptr_t)f)) {
		struct cell fresh = node_new(pt, NODE_HEAP, call);

		cell_set(pt, call, fresh);
		bind_wrapper(pt, fresh, f);
		return;
	}
	node_add_edge(pt, cell_of_return(pt, f), pointsto_cell(pt, call));
}

static struct cell arg_cell(struct pointsto *pt, LLVMValueRef call, unsigned i)
{
	if (i >= LLVMGetNumArgOperands(call))
		return NOWHERE;
	return pointsto_cell(pt, LLVMGetOperand(call, i));
}

/* Somewhere in the object that c points into: where is not known. */
static struct cell inside(struct pointsto *pt, struct cell c)
{
	c = pointsto_find(pt, c);
	if (c.node)
		node_collapse(pt, c.node);
	return c;
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

/* fn will be called with arg as its parameters first to last - 1. */
static void call_back(struct pointsto *pt, struct cell fn, struct cell arg, unsigned first,
		      unsigned last)
{
	if (fn.node)
		vec_push(&pt->callbacks, (struct callback){ fn, arg, first, last, 0 });
}

/* Any element may come to lie anywhere in the array, or be the one that is meant. */
static void sort_elements(struct pointsto *pt, struct cell array, LLVMValueRef size)
{
	array = pointsto_find(pt, array);
	if (!array.node)
		return;
	if (LLVMIsAConstantInt(size) && LLVMConstIntGetZExtValue(size) < 1 << 28)
		node_set_stride(pt, array.node, (uint32_t)MAX(1, LLVMConstIntGetZExtValue(size)));
	else
		node_collapse(pt, array.node);
}

/* The text of a constant; NULL: another value. */
static const char *text_of(LLVMValueRef v)
{
	LLVMValueRef init = LLVMIsAGlobalVariable(v) ? LLVMGetInitializer(v) : NULL;
	size_t n = 0;

	if (!init || !LLVMIsGlobalConstant(v) || !LLVMIsConstantString(init))
		return NULL;
	return LLVMGetAsString(init, &n);
}

static bool holds_pointers(LLVMTypeRef t)
{
	switch (LLVMGetTypeKind(t)) {
	case LLVMPointerTypeKind:
		return true;
	case LLVMArrayTypeKind:
		return holds_pointers(LLVMGetElementType(t));
	case LLVMStructTypeKind:
		for (unsigned i = 0; i < LLVMCountStructElementTypes(t); i++)
			if (holds_pointers(LLVMStructGetTypeAtIndex(t, i)))
				return true;
		return false;
	default:
		return false;
	}
}

#define MAX_CALLERS 4 /* of callers ... */

static bool is_for_pointers(struct pointsto *pt, LLVMValueRef v, int depth);

/* Does a call through a pointer hand such a variable to a function of this type? */
static bool any_call_hands(struct pointsto *pt, LLVMTypeRef type, unsigned k, int depth)
{
	for (size_t n = 0; n < pt->p->fns.len; n++)
		for_each_block(b, pt->p->fns.data[n].f) for_each_instruction(i, b)
		{
			LLVMValueRef f = is_call(i) ? LLVMGetCalledValue(i) : NULL;

			if (f && !LLVMIsAFunction(f) && !LLVMIsAInlineAsm(f) &&
			    LLVMGetCalledFunctionType(i) == type &&
			    is_for_pointers(pt, LLVMGetOperand(i, k), depth + 1))
				return true;
		}
	return false;
}

static bool callers_hand(struct pointsto *pt, LLVMValueRef param, int depth)
{
	LLVMValueRef f = LLVMGetParamParent(param);
	bool is_taken = false;
	unsigned k = 0;

	while (LLVMGetParam(f, k) != param)
		k++;
	for (LLVMUseRef u = LLVMGetFirstUse(f); u; u = LLVMGetNextUse(u)) {
		LLVMValueRef call = LLVMGetUser(u);

		if (!is_call(call) || LLVMGetCalledValue(call) != f)
			is_taken = true;
		else if (k < LLVMGetNumArgOperands(call) &&
			 is_for_pointers(pt, LLVMGetOperand(call, k), depth + 1))
			return true;
	}
	return is_taken && any_call_hands(pt, LLVMGlobalGetValueType(f), k, depth);
}

/* Is this a variable that has pointers? Of other memory nobody knows, and bytes are what mostly comes. */
static bool is_for_pointers(struct pointsto *pt, LLVMValueRef v, int depth)
{
	while (LLVMIsAGetElementPtrInst(v) || LLVMIsAConstantExpr(v))
		v = LLVMGetOperand(v, 0);
	if (LLVMIsAAllocaInst(v))
		return holds_pointers(LLVMGetAllocatedType(v));
	if (LLVMIsAArgument(v))
		return depth < MAX_CALLERS && callers_hand(pt, v, depth);
	return LLVMIsAGlobalVariable(v) && holds_pointers(LLVMGlobalGetValueType(v));
}

/* What comes from outside into argument i may point to what was sent there. */
static void bind_received(struct pointsto *pt, LLVMValueRef call, unsigned i)
{
	if (is_for_pointers(pt, LLVMGetOperand(call, i), 0))
		add_copy(pt, arg_cell(pt, call, i), node_outside(pt), NULL);
}

static void bind_scans(struct pointsto *pt, LLVMValueRef call)
{
	unsigned fixed = LLVMCountParamTypes(LLVMGetCalledFunctionType(call));
	const char *format = fixed ? text_of(LLVMGetOperand(call, fixed - 1)) : NULL;

	if (format && !strstr(format, "%p"))
		return;
	pt->scans = true;
	for (unsigned i = fixed; i < LLVMGetNumArgOperands(call); i++)
		bind_received(pt, call, i);
}

/* Does it make pointers of text, for all we know? vsscanf, or a stream's operator for pointers. */
static bool may_scan(const char *name)
{
	return strstr(name, "scanf") || strncmp(name, "_ZNSi10_M_extractIPv", 20) == 0 ||
	       strcmp(name, "_ZNSirsERPv") == 0;
}

void bind_printed(struct pointsto *pt)
{
	for (size_t i = 0; i < pt->printed.len; i++)
		node_add_edge(pt, pt->printed.data[i], node_outside(pt));
	pt->printed.len = 0;
}

/* A number that came from a pointer, or a pointer where the format shows one as a number. Most such numbers
 * only lie where elsewhere in the program a pointer does, so this waits until the program is known to
 * make pointers of text (settle.c). */
static void bind_prints(struct pointsto *pt, LLVMValueRef call)
{
	unsigned fixed = LLVMCountParamTypes(LLVMGetCalledFunctionType(call));
	const char *format = fixed ? text_of(LLVMGetOperand(call, fixed - 1)) : NULL;
	bool shows = !format || strstr(format, "%p");

	for (unsigned i = fixed; i < LLVMGetNumArgOperands(call); i++) {
		LLVMValueRef v = LLVMGetOperand(call, i);
		bool pointer = LLVMGetTypeKind(LLVMTypeOf(v)) == LLVMPointerTypeKind;
		struct cell c;

		if (!cell_carries(LLVMTypeOf(v)) || (pointer && !shows) ||
		    (!pointer && !cell_is_known(pt, v)))
			continue;
		c = pointsto_cell(pt, v);
		if (c.node)
			vec_push(&pt->printed, c);
	}
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
		c = arg_cell(pt, call, 1);
		if (c.node)
			node_add_edge(pt, (struct cell){ pt->returned, 0 }, node_link(pt, c));
		break;
	case SPECIAL_RETURNED:
		node_add_edge(pt, arg_cell(pt, call, 0), (struct cell){ pt->returned, 0 });
		break;
	case SPECIAL_BUFFER:
		c = arg_cell(pt, call, 0);
		if (c.node)
			node_add_edge(pt, arg_cell(pt, call, 1), node_link(pt, c));
		break;
	case SPECIAL_ENVIRON:
		if (s->result == RESULT_NOTHING)
			node_add_edge(pt, arg_cell(pt, call, 0), pt->environment);
		break;
	case SPECIAL_SENDS:
		add_copy(pt, node_outside(pt), arg_cell(pt, call, 1),
			 LLVMGetNumArgOperands(call) > 2 ? LLVMGetOperand(call, 2) : NULL);
		break;
	case SPECIAL_RECEIVES:
		bind_received(pt, call, 1);
		break;
	case SPECIAL_SCANS:
		bind_scans(pt, call);
		break;
	case SPECIAL_PRINTS:
		bind_prints(pt, call);
		break;
	case SPECIAL_ONCE:
		call_back(pt, arg_cell(pt, call, 1), NOWHERE, 0, 0);
		break;
	case SPECIAL_ATEXIT: /* __cxa_atexit has an argument */
		call_back(pt, arg_cell(pt, call, 0), arg_cell(pt, call, 1), 0, 1);
		break;
	case SPECIAL_EVENT:
		call_back(pt, arg_cell(pt, call, LLVMGetNumArgOperands(call) - 2),
			  arg_cell(pt, call, LLVMGetNumArgOperands(call) - 1), 2, 3);
		break;
	case SPECIAL_SORT:
		sort_elements(pt, arg_cell(pt, call, 0), LLVMGetOperand(call, 2));
		call_back(pt, arg_cell(pt, call, LLVMGetNumArgOperands(call) - 1),
			  arg_cell(pt, call, 0), 0, 2);
		break;
	case SPECIAL_SEARCH:
		sort_elements(pt, arg_cell(pt, call, 1), LLVMGetOperand(call, 3));
		call_back(pt, arg_cell(pt, call, 4), arg_cell(pt, call, 0), 0, 1);
		call_back(pt, arg_cell(pt, call, 4), arg_cell(pt, call, 1), 0, 2);
		cell_set(pt, call, arg_cell(pt, call, 1));
		break;
	case SPECIAL_TOKEN: /* (text, delimiters, where the rest is kept) */
		c = arg_cell(pt, call, 2);
		if (c.node) {
			node_add_edge(pt, inside(pt, arg_cell(pt, call, 0)), node_link(pt, c));
			cell_set(pt, call, node_link(pt, c));
		}
		break;
	case SPECIAL_SPECIFIC:
		c = (struct cell){ pt->specific, 0 };
		if (LLVMGetNumArgOperands(call) == 2)
			node_add_edge(pt, arg_cell(pt, call, 1), c);
		else
			node_add_edge(pt, c, pointsto_cell(pt, call));
		break;
	case SPECIAL_KEY:
		call_back(pt, arg_cell(pt, call, 1), (struct cell){ pt->specific, 0 }, 0, 1);
		break;
	case SPECIAL_END:
		c = arg_cell(pt, call, 1);
		if (c.node)
			node_add_edge(pt, inside(pt, arg_cell(pt, call, 0)), node_link(pt, c));
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

void bind_unseen(struct pointsto *pt, LLVMValueRef call, LLVMValueRef f)
{
	const struct summary *s = f ? summary_find(value_name(f)) : NULL;
	unsigned n = LLVMGetNumArgOperands(call);

	for (unsigned i = 0; i < n; i++) {
		LLVMValueRef arg = LLVMGetOperand(call, i);
		struct cell c;

		if (s && !(s->escapes & (1u << MIN(i, 7))))
			continue;
		if (!cell_carries(LLVMTypeOf(arg)))
			continue;
		c = pointsto_cell(pt, arg);
		if (c.node)
			node_add_edge(pt, c, node_outside(pt));
	}
	if (s)
		bind_special(pt, call, s);
	else if (f && may_scan(value_name(f)))
		pt->scans = true;
	if (!cell_carries(LLVMTypeOf(call)))
		return;
	if (s && s->result == RESULT_FRESH)
		cell_set(pt, call, node_new(pt, NODE_HEAP, call));
	else if (s && s->result == RESULT_LIBRARY)
		node_add_edge(pt, library_cell(pt, f, s), pointsto_cell(pt, call));
	else if (s && s->result == RESULT_INSIDE)
		cell_set(pt, call, inside(pt, arg_cell(pt, call, 0)));
	else if (s && s->result >= RESULT_ARG0)
		cell_set(pt, call, arg_cell(pt, call, s->result - RESULT_ARG0));
	else if (!s || s->result == RESULT_OUTSIDE ||
		 (s->result == RESULT_NOTHING &&
		  LLVMGetTypeKind(LLVMTypeOf(call)) == LLVMPointerTypeKind && !summary_is_input(s)))
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
	} else if (cell_carries(LLVMTypeOf(call))) { /* launder, threadlocal.address, umax ... */
		for (unsigned i = 0; i < LLVMGetNumArgOperands(call); i++)
			if (cell_carries(LLVMTypeOf(LLVMGetOperand(call, i))))
				cell_set(pt, call, arg_cell(pt, call, i));
	}
}

static void bind(struct pointsto *pt, LLVMValueRef call, LLVMValueRef f)
{
	if (strncmp(value_name(f), "llvm.", 5) == 0)
		bind_intrinsic(pt, call, value_name(f));
	else if (LLVMIsDeclaration(f))
		bind_unseen(pt, call, f);
	else
		bind_function(pt, call, f);
}

void bind_call(struct pointsto *pt, LLVMValueRef call)
{
	LLVMValueRef f = cell_strip_alias(LLVMGetCalledValue(call));

	if (LLVMIsAFunction(f)) {
		bind(pt, call, f);
	} else if (LLVMIsAInlineAsm(f)) {
		bind_unseen(pt, call, NULL);
	} else {
		pointsto_cell(pt, f);
		vec_push(&pt->indirect, (struct indirect_call){ call, 0 });
	}
}
