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
 * unknown function adds it there. summaries.def says what libc does instead.
 *
 * This file turns instructions into constraints; cells.c knows where a value points, nodes.c merges,
 * bind.c treats calls, settle.c finds the fixed point. */
#include "cc/analyse/pointsto.h"

#include "base/mem.h"
#include "cc/analyse/bind.h"
#include "cc/analyse/cells.h"
#include "cc/analyse/fresh.h"
#include "cc/analyse/nodes.h"
#include "cc/analyse/numbers.h"
#include "cc/analyse/settle.h"
#include "cc/program.h"

#include <stdlib.h>
#include <string.h>

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
	if (cell_carries(t)) {
		struct cell c = pointsto_cell(pt, init);

		if (c.node)
			node_add_edge(pt, c, node_link(pt, at));
	}
}

static void unify_operands(struct pointsto *pt, LLVMValueRef i, unsigned from, unsigned n)
{
	for (unsigned k = from; k < n; k++) {
		LLVMValueRef o = LLVMGetOperand(i, k);

		if (cell_carries(LLVMTypeOf(o)))
			cell_set(pt, i, pointsto_cell(pt, o));
	}
}

/* Arithmetic on integers that came from pointers. A difference of two is no pointer. */
static void process_arithmetic(struct pointsto *pt, LLVMValueRef i, bool sub)
{
	LLVMValueRef a = LLVMGetOperand(i, 0), b = LLVMGetOperand(i, 1);
	bool ha = cell_carries(LLVMTypeOf(a)) && cell_is_known(pt, a);
	bool hb = cell_carries(LLVMTypeOf(b)) && cell_is_known(pt, b);
	struct cell c;

	if (sub && ha && hb)
		return;
	if (ha || hb) {
		c = pointsto_find(pt, pointsto_cell(pt, ha ? a : b));
		node_collapse(pt, c.node); /* an unknown distance */
		cell_set(pt, i, c);
	}
	if (ha && hb)
		cell_set(pt, i, pointsto_cell(pt, b));
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
			cell_set(pt, value, node_link(pt, c));
	}
}

static void process_store(struct pointsto *pt, LLVMValueRef value, LLVMValueRef ptr)
{
	if (cell_carries(LLVMTypeOf(value)) && pointsto_cell(pt, ptr).node &&
	    pointsto_cell(pt, value).node)
		wide_access(pt, value, LLVMTypeOf(value), ptr, true);
}

static void process(struct pointsto *pt, LLVMValueRef f, LLVMValueRef i)
{
	LLVMTypeRef t = LLVMTypeOf(i);
	unsigned n = (unsigned)LLVMGetNumOperands(i);
	bool carries = cell_carries(t) && !numbers_has(pt, i);

	switch (LLVMGetInstructionOpcode(i)) {
	case LLVMAlloca:
		cell_set(pt, i, node_new(pt, NODE_STACK, i));
		break;
	case LLVMGetElementPtr:
		cell_set(pt, i, cell_of_gep(pt, i));
		break;
	case LLVMLoad:
		if (carries)
			wide_access(pt, i, t, LLVMGetOperand(i, 0), false);
		break;
	case LLVMStore:
		process_store(pt, LLVMGetOperand(i, 0), LLVMGetOperand(i, 1));
		break;
	case LLVMAtomicRMW:
		process_store(pt, LLVMGetOperand(i, 1), LLVMGetOperand(i, 0));
		if (carries)
			wide_access(pt, i, t, LLVMGetOperand(i, 0), false);
		break;
	case LLVMAtomicCmpXchg:
		process_store(pt, LLVMGetOperand(i, 2), LLVMGetOperand(i, 0));
		if (cell_carries(LLVMTypeOf(LLVMGetOperand(i, 1))))
			wide_access(pt, i, LLVMTypeOf(LLVMGetOperand(i, 1)), LLVMGetOperand(i, 0),
				    false);
		break;
	case LLVMCall:
	case LLVMInvoke:
	case LLVMCallBr:
		bind_call(pt, i);
		break;
	case LLVMRet:
		if (n && cell_carries(LLVMTypeOf(LLVMGetOperand(i, 0))))
			node_add_edge(pt, pointsto_cell(pt, LLVMGetOperand(i, 0)),
				      cell_of_return(pt, f));
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
		if (carries)
			unify_operands(pt, i, 0, n);
		break;
	case LLVMAdd:
	case LLVMSub:
	case LLVMAnd:
	case LLVMOr:
	case LLVMXor:
		if (carries)
			process_arithmetic(pt, i, LLVMGetInstructionOpcode(i) == LLVMSub);
		break;
	case LLVMLandingPad:
		node_add_edge(pt, node_outside(pt), pointsto_cell(pt, i));
		break;
	case LLVMVAArg:
		if (cell_carries(t))
			node_add_edge(pt, node_outside(pt), pointsto_cell(pt, i));
		break;
	default:
		break;
	}
}

/* The linker's names for the beginning and the end of a section reach all variables in it. */
static void bind_section(struct pointsto *pt, LLVMValueRef g)
{
	static const char *const ends[] = { "__start_", "__stop_" };
	const char *section = LLVMGetSection(g);

	for (size_t i = 0; section && *section && i < ARRAY_SIZE(ends); i++) {
		_cleanup_(xfreep) char *name = xasprintf("%s%s", ends[i], section);
		LLVMValueRef end = LLVMGetNamedGlobal(pt->p->module, name);

		if (!end)
			continue;
		node_unify(pt, pointsto_cell(pt, g), pointsto_cell(pt, end));
		node_collapse(pt, pointsto_find(pt, pointsto_cell(pt, g)).node);
	}
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
	pt->environment = node_library(pt);
	node_add_unknown(pt, pt->outside);
	pt->specific = node_new(pt, 0, NULL).node;
	pt->returned = node_new(pt, NODE_ESCAPES, NULL).node;
	if (program_is_open(p)) /* a thread may be joined elsewhere */
		node_unify(pt, (struct cell){ pt->returned, 0 }, node_outside(pt));
	if (LLVMGetNamedGlobal(p->module, "environ") || LLVMGetNamedGlobal(p->module, "__environ"))
		node_unify(pt, pt->environment, node_outside(pt));
	pt->scans = program_is_open(p);
	fresh_find(pt);
	numbers_find(pt);
	for_each_global(g, p->module)
	{
		LLVMValueRef init = LLVMGetInitializer(g);
		struct cell c = pointsto_cell(pt, g);

		if (init)
			add_initializer(pt, c, init, 0);
		if (program_is_exported(p, g))
			node_add_edge(pt, c, node_outside(pt));
		bind_section(pt, g);
	}
	for (size_t i = 0; i < p->fns.len; i++) {
		if (program_is_exported(p, p->fns.data[i].f))
			node_add_edge(pt, pointsto_cell(pt, p->fns.data[i].f), node_outside(pt));
		for_each_block(b, p->fns.data[i].f) for_each_instruction(in, b)
			process(pt, p->fns.data[i].f, in);
	}
	settle_all(pt);
	pt->settled = true;
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
	map_deinit(&pt->late);
	map_deinit(&pt->edge_seen);
	vec_deinit(&pt->edges);
	vec_deinit(&pt->copies);
	vec_deinit(&pt->printed);
	vec_deinit(&pt->indirect);
	vec_deinit(&pt->creations);
	vec_deinit(&pt->pending);
	map_deinit(&pt->wrappers);
	map_deinit(&pt->addresses);
	vec_deinit(&pt->callbacks);
}
