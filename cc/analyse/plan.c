/* cc/analyse/plan.c - one walk over the merged module: which instructions become sites, and of what kind.
 *
 * Sites are numbered in program order. An access site exists only when the access may be shared
 * (or everything is traced); a branch site only when the branch is recorded; a call site for every
 * call of a function that is not part of this program, except those that cannot matter to a
 * schedule (intrinsics, mathematics). */
#include "cc/analyse/plan.h"

#include "base/mem.h"
#include "cc/analyse/assembly.h"
#include "cc/analyse/calls.h"
#include "cc/analyse/classes.h"
#include "cc/analyse/elements.h"
#include "cc/analyse/locals.h"
#include "cc/analyse/names.h"
#include "cc/analyse/pointsto.h"
#include "cc/program.h"
#include "cc/analyse/sharing.h"
#include "cc/analyse/taint.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct walk {
	struct program *p;
	struct sharing *sharing;
	struct elements *elements;
	struct taint *taint;
	uint32_t fn, instruction;
	LLVMValueRef f;
	bool block_begun; /* this basic block has an access already */
};

static struct plait_site *add_site(struct walk *w, LLVMValueRef at, enum plait_site_kind kind,
				   enum action action)
{
	struct program *p = w->p;
	struct plait_site *s = vec_add(&p->sites);
	struct plan *plan = vec_add(&p->plans);

	s->kind = (uint8_t)kind;
	s->element = UINT32_MAX;
	s->ir_function = w->fn;
	s->ir_instruction = w->instruction;
	names_locate(p, w->f, at, s);
	plan->at = at;
	plan->action = (uint8_t)action;
	plan->site = (uint32_t)p->sites.len;
	plan->instrumented = true;
	return s;
}

/* The memory order of an atomic access or a fence, and whether an access is volatile. */
static uint16_t order_flags(LLVMValueRef at)
{
	unsigned opcode = LLVMGetInstructionOpcode(at), flags = 0;
	LLVMAtomicOrdering order = LLVMAtomicOrderingNotAtomic;

	if (opcode == LLVMAtomicCmpXchg) {
		order = LLVMGetCmpXchgSuccessOrdering(at);
		flags = (order_number(LLVMGetCmpXchgFailureOrdering(at)) + 1)
			<< PLAIT_SITE_FAILING_SHIFT;
	} else if (opcode == LLVMLoad || opcode == LLVMStore || opcode == LLVMAtomicRMW ||
		   opcode == LLVMFence) {
		order = LLVMGetOrdering(at);
	}
	if (order != LLVMAtomicOrderingNotAtomic)
		flags |= (order_number(order) + 1) << PLAIT_SITE_ORDER_SHIFT;
	if (opcode != LLVMFence && !is_call(at) && LLVMGetVolatile(at))
		flags |= PLAIT_SITE_VOLATILE;
	return (uint16_t)flags;
}

/* How many bytes a copy or fill takes; 0 = not known. */
static uint64_t range_size(LLVMValueRef at)
{
	enum call_kind kind = is_call(at) ? call_classify(at) : CALL_NOTHING;
	LLVMValueRef n = kind == CALL_MEMCPY || kind == CALL_MEMSET ? LLVMGetOperand(at, 2) : NULL;

	return n && LLVMIsAConstantInt(n) ? LLVMConstIntGetZExtValue(n) : 0;
}

static void plan_access(struct walk *w, LLVMValueRef at, unsigned operand, LLVMTypeRef type,
			enum plait_site_kind kind, enum action scalar, enum action wide)
{
	struct program *p = w->p;
	LLVMValueRef ptr = LLVMGetOperand(at, operand);
	uint64_t bytes = type ? LLVMStoreSizeOfType(p->layout, type) : range_size(at);
	unsigned size = type ? scalar_size(type) : 0;
	struct plait_site *s;
	bool hot, unknown;

	p->counts.accesses_total++;
	if (LLVMGetPointerAddressSpace(LLVMTypeOf(ptr)) != 0)
		return; /* segment registers */
	hot = sharing_is_hot(w->sharing, ptr, bytes);
	unknown = !hot && kind == PLAIT_SITE_READ && size && taint_is_unknown(w->taint, ptr) &&
		  taint_feeds_address(w->taint, at);
	if (!hot && !unknown && !p->trace_all)
		return;
	s = add_site(w, at, kind, size ? scalar : wide);
	s->size = type && bytes < 256 ? (uint8_t)bytes : 0;
	s->flags |= order_flags(at);
	if (hot) {
		s->flags |= PLAIT_SITE_POINT | (w->block_begun ? 0 : PLAIT_SITE_BLOCK);
		w->block_begun = true;
	}
	s->object = names_object(p, ptr);
	vec_last(&p->plans)->operand = (uint8_t)operand;
	if (hot)
		elements_add(w->elements, ptr, bytes);
	vec_last(&p->plans)->instrumented = hot || p->trace_all;
	if (unknown ||
	    (hot && kind != PLAIT_SITE_WRITE && size && taint_feeds_address(w->taint, at))) {
		s->flags |= PLAIT_SITE_FEEDS_ADDRESS | PLAIT_SITE_RECORDED;
		p->counts.loads_address_feeding++;
	}
	p->counts.accesses_instrumented += hot;
}

/* Assembly that could not be raised (assembly.h): the memory it names, each once. */
static void plan_assembly(struct walk *w, LLVMValueRef call)
{
	unsigned n = LLVMGetNumArgOperands(call);
	uint64_t bytes;
	bool written;

	for (unsigned i = 0; i < n; i++) {
		bool again = false;

		for (unsigned k = 0; k < i; k++)
			again |= LLVMGetOperand(call, k) == LLVMGetOperand(call, i);
		if (!again && assembly_memory(call, i, w->p->layout, &bytes, &written))
			plan_access(w, call, i, NULL, written ? PLAIT_SITE_WRITE : PLAIT_SITE_READ,
				    0, written ? ACT_RANGE_WRITE : ACT_RANGE_READ);
	}
}

static void plan_call(struct walk *w, LLVMValueRef call)
{
	LLVMValueRef f = direct_callee(call);
	enum call_kind kind = call_classify(call);
	struct plait_site *s;

	if (LLVMIsAInlineAsm(LLVMGetCalledValue(call))) {
		plan_assembly(w, call);
		return;
	}
	switch (kind) {
	case CALL_MEMCPY:
		plan_access(w, call, 1, NULL, PLAIT_SITE_READ, 0, ACT_RANGE_READ);
		plan_access(w, call, 0, NULL, PLAIT_SITE_WRITE, 0, ACT_RANGE_WRITE);
		return;
	case CALL_MEMSET:
		plan_access(w, call, 0, NULL, PLAIT_SITE_WRITE, 0, ACT_RANGE_WRITE);
		return;
	case CALL_ALLOC:
	case CALL_FREE:
		s = add_site(w, call, kind == CALL_ALLOC ? PLAIT_SITE_ALLOC : PLAIT_SITE_CALL,
			     ACT_ALLOC);
		break;
	case CALL_EXTERNAL:
		s = add_site(w, call, PLAIT_SITE_CALL, ACT_CALL);
		break;
	case CALL_INPUT:
		s = add_site(w, call, PLAIT_SITE_INPUT, ACT_CALL);
		s->flags |= PLAIT_SITE_RECORDED;
		break;
	default:
		/* strlen of something shared, on its way into an address */
		if (!f || !LLVMIsDeclaration(f) || strncmp(value_name(f), "llvm.", 5) == 0 ||
		    !taint_is(w->taint, call) || !taint_feeds_address(w->taint, call) ||
		    !taint_call_looks(w->taint, call))
			return;
		s = add_site(w, call, PLAIT_SITE_INPUT, ACT_RESULT);
		s->flags |= PLAIT_SITE_RECORDED;
	}
	if (f)
		s->object = names_intern(&w->p->strings, value_name(f));
}

static void plan_terminator(struct walk *w, LLVMValueRef t)
{
	struct program *p = w->p;
	bool is_switch = LLVMGetInstructionOpcode(t) == LLVMSwitch;
	struct plait_site *s;

	p->counts.branches_total++;
	if (!taint_is(w->taint, LLVMGetOperand(t, 0)))
		return;
	s = add_site(w, t, is_switch ? PLAIT_SITE_SWITCH : PLAIT_SITE_BRANCH,
		     is_switch ? ACT_SWITCH : ACT_BRANCH);
	if (taint_is_undecided(w->taint, LLVMGetOperand(t, 0))) {
		s->flags |= PLAIT_SITE_RECORDED;
		p->counts.branches_recorded++;
	}
}

/* A choice between two addresses that re-execution cannot repeat is recorded like a branch. */
static void plan_select(struct walk *w, LLVMValueRef i)
{
	LLVMValueRef cond = LLVMGetOperand(i, 0);
	struct plait_site *s;

	if (LLVMGetTypeKind(LLVMTypeOf(cond)) != LLVMIntegerTypeKind || !taint_is(w->taint, cond) ||
	    !taint_feeds_address(w->taint, i))
		return;
	s = add_site(w, i, PLAIT_SITE_BRANCH, ACT_BRANCH);
	if (taint_is_undecided(w->taint, cond))
		s->flags |= PLAIT_SITE_RECORDED;
}

/* Locks among the local variables begin and end here. */
static void plan_scopes(struct walk *w, const struct fn *fn, LLVMValueRef i)
{
	bool main = strcmp(fn->name, "main") == 0;
	LLVMValueRef marked = locals_of_marker(i), end = main ? NULL : locals_end(i);

	if (main && (!marked || locals_is_last(i)))
		return;
	if (marked)
		add_site(w, i, PLAIT_SITE_CALL, locals_ends(i) ? ACT_SCOPE_END : ACT_SCOPE_BEGIN)
			->object = names_object(w->p, marked);
	else if (i == locals_begin(fn->f) && locals_next(i, NULL))
		add_site(w, i, PLAIT_SITE_CALL, ACT_SCOPE_BEGIN);
	if (end && locals_next(end, NULL))
		add_site(w, end, PLAIT_SITE_CALL, ACT_SCOPE_END)->object =
			names_object(w->p, locals_next(end, NULL));
}

static void plan_instruction(struct walk *w, LLVMValueRef i)
{
	bool atomic;

	switch (LLVMGetInstructionOpcode(i)) {
	case LLVMLoad:
		atomic = LLVMGetOrdering(i) != LLVMAtomicOrderingNotAtomic;
		plan_access(w, i, 0, LLVMTypeOf(i),
			    atomic ? PLAIT_SITE_ATOMIC_READ : PLAIT_SITE_READ, ACT_LOAD,
			    ACT_RANGE_READ);
		break;
	case LLVMStore:
		atomic = LLVMGetOrdering(i) != LLVMAtomicOrderingNotAtomic;
		plan_access(w, i, 1, LLVMTypeOf(LLVMGetOperand(i, 0)),
			    atomic ? PLAIT_SITE_ATOMIC_WRITE : PLAIT_SITE_WRITE, ACT_STORE,
			    ACT_RANGE_WRITE);
		break;
	case LLVMAtomicRMW:
		plan_access(w, i, 0, LLVMTypeOf(i), PLAIT_SITE_ATOMIC_RMW, ACT_RMW,
			    ACT_RANGE_WRITE);
		break;
	case LLVMAtomicCmpXchg:
		plan_access(w, i, 0, LLVMTypeOf(LLVMGetOperand(i, 1)), PLAIT_SITE_ATOMIC_RMW,
			    ACT_CAS, ACT_RANGE_WRITE);
		break;
	case LLVMFence:
		if (!LLVMIsAtomicSingleThread(i))
			add_site(w, i, PLAIT_SITE_FENCE, ACT_FENCE);
		break;
	case LLVMCall:
	case LLVMInvoke:
		plan_call(w, i);
		break;
	case LLVMBr:
		if (LLVMIsConditional(i))
			plan_terminator(w, i);
		break;
	case LLVMSwitch:
		plan_terminator(w, i);
		break;
	case LLVMSelect:
		plan_select(w, i);
		break;
	default:
		break;
	}
}

/* "struct fifo::mut" rather than "queue.mut" */
static bool is_typed(struct program *p, uint32_t name)
{
	return strstr(p->strings.text[name], "::") != NULL;
}

static uint32_t names_birth_of(struct walk *w, LLVMValueRef ptr)
{
	struct cell c = pointsto_find(w->sharing->pt, pointsto_cell(w->sharing->pt, ptr));
	LLVMValueRef home = pointsto_node(w->sharing->pt, c.node)->home;

	return home ? names_birth(w->p, home) : 0;
}

static uint32_t anonymous(struct program *p, uint32_t element)
{
	char name[32];

	snprintf(name, sizeof(name), "memory#%u", element + 1);
	return names_intern(&p->strings, name);
}

/* An access without a name of its own: its element's, unless that is one of several parts. */
static uint32_t fallback_name(struct walk *w, const struct plan *plan, bool several)
{
	struct program *p = w->p;
	uint32_t element = p->sites.data[plan->site - 1].element, birth;

	if (!several)
		return p->elements.data[element].name;
	birth = names_birth_of(w, LLVMGetOperand(plan->at, plan->operand));
	return birth ? birth : anonymous(p, element);
}

/* Give each shared access its element; an element is called what most of its accesses are. */
static void plan_elements(struct walk *w)
{
	struct program *p = w->p;
	uint32_t n = elements_number(w->elements);
	bool *several = xcalloc(n + 1, sizeof(bool));

	for (uint32_t i = 0; i < n; i++)
		vec_add(&p->elements);
	for (size_t i = 0; i < p->plans.len; i++) {
		const struct plan *plan = &p->plans.data[i];
		struct plait_site *s = &p->sites.data[plan->site - 1];
		struct plait_element *e;

		if (!(s->flags & PLAIT_SITE_POINT))
			continue;
		s->element = elements_find(w->elements, LLVMGetOperand(plan->at, plan->operand));
		e = &p->elements.data[s->element];
		e->nsites++;
		several[s->element] |= e->name && s->object && e->name != s->object;
		if (!e->name || (is_typed(p, e->name) && s->object && !is_typed(p, s->object)))
			e->name = s->object; /* a variable's name says more than a type's */
		if (!e->name)
			e->name = names_birth_of(w, LLVMGetOperand(plan->at, plan->operand));
	}
	for (uint32_t i = 0; i < n; i++)
		if (!p->elements.data[i].name)
			p->elements.data[i].name = anonymous(p, i);
	for (size_t i = 0; i < p->plans.len; i++) {
		const struct plan *plan = &p->plans.data[i];
		struct plait_site *s = &p->sites.data[plan->site - 1];

		if (!s->object && s->element != UINT32_MAX)
			s->object = fallback_name(w, plan, several[s->element]);
	}
	free(several);
}

void analysis_run(struct analysis *a, struct program *p)
{
	pointsto_run(&a->pt, p);
	sharing_run(&a->sharing, p, &a->pt);
}

void analysis_deinit(struct analysis *a)
{
	sharing_deinit(&a->sharing);
	pointsto_deinit(&a->pt);
}

void plan_program(struct program *p, struct analysis *a)
{
	struct classes classes;
	struct elements elements;
	struct taint taint;
	struct walk w = { .p = p, .sharing = &a->sharing, .elements = &elements, .taint = &taint };

	elements_init(&elements, &a->pt);
	classes_init(&classes, &a->pt);
	taint_run(&taint, p, &a->sharing, &classes);

	names_intern(&p->strings, "");
	for (size_t k = 0; k < p->fns.len; k++) {
		struct fn *fn = &p->fns.data[k];

		w.fn = (uint32_t)k;
		w.f = fn->f;
		w.instruction = 0;
		if (fn->hands_off)
			continue;
		p->counts.functions++;
		for_each_block(b, fn->f)
		{
			w.block_begun = false;
			for_each_instruction(i, b)
			{
				plan_scopes(&w, fn, i);
				plan_instruction(&w, i);
				w.instruction++;
			}
		}
	}
	plan_elements(&w);
	p->counts.nsites = (uint32_t)p->sites.len;
	p->counts.nelements = (uint32_t)p->elements.len;
	taint_deinit(&taint);
	elements_deinit(&elements);
	classes_deinit(&classes);
}
