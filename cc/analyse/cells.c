/* cc/analyse/cells.c - where does a value of the program point? One cell per value.
 *
 * Fields are told apart by their offset. An array element counts as its type's first: a varying
 * index gives the object a stride, and offsets are taken modulo. */
#include "cc/analyse/cells.h"

#include "base/mem.h"
#include "cc/analyse/cxx.h"
#include "cc/analyse/intervals.h"
#include "cc/analyse/nodes.h"
#include "cc/analyse/numbers.h"
#include "cc/program.h"

#include <stdlib.h>
#include <string.h>

#define MAX_SPREAD 128 /* bytes between two fields that one address may mean */

/* May a value of this type be, or contain, an address? */
bool cell_carries(LLVMTypeRef t)
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

#define FORGOTTEN UINT64_MAX

/* Where the value's cell is in pt->values; NULL when it has none yet. */
static const uint64_t *index_of(struct pointsto *pt, LLVMValueRef v)
{
	const uint64_t *i = map_find(&pt->cells, (uint64_t)(uintptr_t)v);

	return i && *i != FORGOTTEN ? i : NULL;
}

static struct cell *value_slot(struct pointsto *pt, LLVMValueRef v)
{
	const uint64_t *i = index_of(pt, v);

	if (!i) {
		*map_put(&pt->cells, (uint64_t)(uintptr_t)v, 0) = pt->values.len;
		vec_push(&pt->values, NOWHERE);
		return vec_last(&pt->values);
	}
	return &pt->values.data[*i];
}

void cell_set(struct pointsto *pt, LLVMValueRef v, struct cell c)
{
	struct cell *slot;

	if (!c.node || numbers_has(pt, v))
		return;
	slot = value_slot(pt, v);
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
struct cell cell_of_gep(struct pointsto *pt, LLVMValueRef gep)
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
	/* a pointer to a member function is a structure of two integers, one of them an address */
	if (LLVMIsAConstantExpr(v) || LLVMIsAConstantStruct(v) || LLVMIsAConstantArray(v) ||
	    LLVMIsAConstantVector(v)) {
		if (is_gep(v))
			return cell_of_gep(pt, v);
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

/* A word of the runtime that stands for what threads share outside of memory (cc/expand/state.c): no
 * other code knows it, and all threads use it. */
static bool is_state(struct pointsto *pt, LLVMValueRef g)
{
	return pt->settled && strncmp(value_name(g), "plait_state_", 12) == 0 &&
	       LLVMGetTypeKind(LLVMGlobalGetValueType(g)) == LLVMIntegerTypeKind;
}

static void share(struct node *n)
{
	vec_push(&n->touched, (struct interval){ -EVERYTHING, 2 * EVERYTHING, ~0ull, ~0ull, true });
}

bool cell_is_known(struct pointsto *pt, LLVMValueRef v)
{
	const uint64_t *k = index_of(pt, v);

	return k && pt->values.data[*k].node;
}

/* ---- code that was put in after the analysis ---- */

static bool is_late(struct pointsto *pt, LLVMValueRef v)
{
	uint64_t key = (uint64_t)(uintptr_t)v;

	return pt->settled && (LLVMIsAInstruction(v) || LLVMIsAArgument(v)) &&
	       (map_find(&pt->late, key) || !index_of(pt, v));
}

/* base + one constant index; any other index: somewhere in the object. */
static struct cell late_gep(struct pointsto *pt, LLVMValueRef gep)
{
	struct cell c = pointsto_cell(pt, LLVMGetOperand(gep, 0));
	LLVMValueRef index = LLVMGetOperand(gep, 1);

	if (c.node && LLVMGetNumOperands(gep) == 2 && LLVMIsAConstantInt(index))
		c.off += (int32_t)(LLVMConstIntGetSExtValue(index) *
				   (int64_t)LLVMABISizeOfType(pt->p->layout,
							      LLVMGetGEPSourceElementType(gep)));
	return c;
}

/* All that are known must agree. Where they do not (an old block or a new one), nothing is known,
 * and that counts as shared. */
static struct cell late_choice(struct pointsto *pt, LLVMValueRef v)
{
	unsigned n = LLVMIsAPHINode(v) ? LLVMCountIncoming(v) : 2;
	struct cell c = NOWHERE;

	*value_slot(pt, v) = NOWHERE; /* a loop ends here */
	for (unsigned i = 0; i < n; i++) {
		LLVMValueRef o =
			LLVMIsAPHINode(v) ? LLVMGetIncomingValue(v, i) : LLVMGetOperand(v, i + 1);
		struct cell other = NOWHERE;

		if (!LLVMIsAPHINode(o) || !index_of(pt, o) || cell_is_known(pt, o))
			other = pointsto_find(pt, pointsto_cell(pt, o));
		if (c.node && other.node && c.node != other.node)
			return NOWHERE;
		c = c.node ? c : other;
	}
	return c;
}

/* Where is a pointer stored, itself or as one of several? */
static LLVMValueRef find_store(LLVMValueRef v, int depth)
{
	LLVMValueRef found = NULL;

	for (LLVMUseRef u = LLVMGetFirstUse(v); u && !found; u = LLVMGetNextUse(u)) {
		LLVMValueRef user = LLVMGetUser(u);

		if (LLVMIsAStoreInst(user) && LLVMGetOperand(user, 0) == v)
			found = user;
		else if (depth < 4 && (LLVMIsAPHINode(user) || LLVMIsASelectInst(user)))
			found = find_store(user, depth + 1);
	}
	return found;
}

/* Memory that new code makes and stores somewhere is what that place points to: a longer block for
 * the characters of a string. What is stored nowhere is the code's own. */
static struct cell late_block(struct pointsto *pt, LLVMValueRef block)
{
	LLVMValueRef store = find_store(block, 0);

	return store ? node_find_link(pt, pointsto_cell(pt, LLVMGetOperand(store, 1)))
		     : node_new(pt, NODE_HEAP, block);
}

static struct cell late_cell(struct pointsto *pt, LLVMValueRef v)
{
	struct cell c = NOWHERE;

	if (LLVMIsAArgument(v) || !cell_carries(LLVMTypeOf(v)))
		return NOWHERE;
	map_put(&pt->late, (uint64_t)(uintptr_t)v, 0);
	switch (LLVMGetInstructionOpcode(v)) {
	case LLVMGetElementPtr:
		c = late_gep(pt, v);
		break;
	case LLVMLoad:
		c = node_find_link(pt, pointsto_cell(pt, LLVMGetOperand(v, 0)));
		break;
	case LLVMPHI:
	case LLVMSelect:
		c = late_choice(pt, v);
		break;
	case LLVMAlloca:
		c = node_new(pt, NODE_STACK, v);
		break;
	case LLVMCall:
		c = late_block(pt, v);
		break;
	case LLVMFreeze:
	case LLVMBitCast:
	case LLVMPtrToInt:
	case LLVMIntToPtr:
		c = pointsto_cell(pt, LLVMGetOperand(v, 0));
		break;
	default:
		break;
	}
	*value_slot(pt, v) = c;
	return c;
}

bool pointsto_is_vague(struct pointsto *pt, LLVMValueRef v)
{
	if (!is_late(pt, v) || !LLVMIsAGetElementPtrInst(v))
		return false;
	return LLVMGetNumOperands(v) != 2 || !LLVMIsAConstantInt(LLVMGetOperand(v, 1)) ||
	       pointsto_is_vague(pt, LLVMGetOperand(v, 0));
}

struct cell pointsto_cell(struct pointsto *pt, LLVMValueRef v)
{
	const uint64_t *known = index_of(pt, v);
	struct cell c;

	if (known && pt->values.data[*known].node)
		return pt->values.data[*known];
	if (is_late(pt, v))
		return known ? NOWHERE : late_cell(pt, v);
	if (LLVMIsAInstruction(v) || LLVMIsAArgument(v)) {
		if (!cell_carries(LLVMTypeOf(v)) || numbers_has(pt, v))
			return NOWHERE;
		c = node_new(pt, 0, NULL);
	} else if (LLVMIsAGlobalVariable(v)) {
		c = node_new(pt, NODE_GLOBAL, v);
		if (is_stream(v)) /* never assigned; what it points to is libc's */
			node_add_edge(pt, node_library(pt), node_link(pt, c));
		else if (LLVMIsDeclaration(v) && strncmp(value_name(v), "_ZTV", 4) == 0)
			cxx_virtual_table(pt, c, value_name(v));
		else if (is_state(pt, v))
			share(&pt->nodes.data[c.node]);
		else if (LLVMIsDeclaration(v))
			node_unify(pt, c,
				   strncmp(value_name(v), "_ZTI", 4) == 0 ? node_library(pt)
									  : node_outside(pt));
	} else if (LLVMIsAFunction(v)) {
		c = node_new(pt, NODE_GLOBAL, v);
		node_add_function(pt, c.node, v);
	} else {
		return constant_cell(pt, v);
	}
	*value_slot(pt, v) = c;
	return c;
}

struct cell cell_of_return(struct pointsto *pt, LLVMValueRef f)
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

LLVMValueRef cell_strip_alias(LLVMValueRef f)
{
	while (f && LLVMIsAGlobalAlias(f))
		f = LLVMAliasGetAliasee(f);
	return f;
}

struct cell pointsto_callee(struct pointsto *pt, LLVMValueRef call)
{
	LLVMValueRef f = cell_strip_alias(LLVMGetCalledValue(call));

	return LLVMIsAInlineAsm(f) ? NOWHERE : pointsto_cell(pt, f);
}

void pointsto_copy(struct pointsto *pt, LLVMValueRef call, LLVMValueRef v)
{
	const uint64_t *i = index_of(pt, call);
	struct cell c = i ? pt->values.data[*i] : NOWHERE;

	if (c.node)
		*value_slot(pt, v) = c;
}

/* Another value may get the address of the call, which is the key. */
void pointsto_replace(struct pointsto *pt, LLVMValueRef call, LLVMValueRef v)
{
	if (v)
		pointsto_copy(pt, call, v);
	*map_put(&pt->cells, (uint64_t)(uintptr_t)call, FORGOTTEN) = FORGOTTEN;
}

void pointsto_forget_homes(struct pointsto *pt)
{
	for (size_t i = 0; i < pt->nodes.len; i++) {
		struct node *n = &pt->nodes.data[i];

		if (n->home && map_get_or(&pt->cells, (uint64_t)(uintptr_t)n->home, 0) == FORGOTTEN)
			n->home = NULL;
	}
}
