/* cc/analyse/types.c - follow a pointer back to something with a type, then forward to the field.
 *
 * Optimised code says "byte 24 of what this parameter points to". The parameter's function has a
 * DISubprogram, whose type lists the parameters' types; byte 24 of a struct is one of its members.
 * A pointer that was itself loaded from memory has the type of the field it was loaded from. A
 * thread's `void *arg` says nothing, but the local variable it is assigned to does. The C
 * API knows sizes, offsets and names of types; the rest is read from the nodes' operands, whose
 * order is fixed: types are {file, scope, name, base, elements}, variables {scope, name, file,
 * type}. */
#include "cc/analyse/types.h"

#include "base/demangle.h"
#include "base/strbuf.h"
#include "cc/program.h"

#include <string.h>

#define MAX_DEPTH 6

enum { TYPE_BASE = 3, TYPE_ELEMENTS = 4, VARIABLE_NAME = 1, VARIABLE_TYPE = 3 };
enum { SUBPROGRAM_TYPE = 4, SUBROUTINE_TYPES = 3 };
/* DWARF's numbers */
enum {
	TAG_ARRAY = 0x01,
	TAG_CLASS = 0x02,
	TAG_MEMBER = 0x0d,
	TAG_POINTER = 0x0f,
	TAG_REFERENCE = 0x10,
	TAG_STRUCT = 0x13,
	TAG_TYPEDEF = 0x16,
	TAG_UNION = 0x17,
	TAG_INHERITANCE = 0x1c,
	TAG_CONST = 0x26,
	TAG_VOLATILE = 0x35,
	TAG_ATOMIC = 0x47
};

/* Some bytes of something with a type. */
struct view {
	LLVMMetadataRef type;
	int64_t off;
	LLVMValueRef variable; /* the global it is a part of, or NULL */
};

static LLVMMetadataRef operand(struct program *p, LLVMMetadataRef node, unsigned index)
{
	LLVMValueRef v, ops[64];
	unsigned n;

	if (!node)
		return NULL;
	v = LLVMMetadataAsValue(p->context, node);
	n = LLVMGetMDNodeNumOperands(v);
	if (index >= n || n > 64)
		return NULL;
	LLVMGetMDNodeOperands(v, ops);
	return ops[index] ? LLVMValueAsMetadata(ops[index]) : NULL;
}

/* Without typedefs, const, volatile, _Atomic. */
static LLVMMetadataRef bare(struct program *p, LLVMMetadataRef t)
{
	for (int i = 0; t && i < 16; i++) {
		unsigned tag = LLVMGetDINodeTag(t);

		if (tag != TAG_TYPEDEF && tag != TAG_CONST && tag != TAG_VOLATILE &&
		    tag != TAG_ATOMIC)
			break;
		t = operand(p, t, TYPE_BASE);
	}
	return t;
}

static LLVMMetadataRef pointee(struct program *p, LLVMMetadataRef t)
{
	t = bare(p, t);
	if (!t || (LLVMGetDINodeTag(t) != TAG_POINTER && LLVMGetDINodeTag(t) != TAG_REFERENCE))
		return NULL;
	return operand(p, t, TYPE_BASE);
}

static bool is_record(unsigned tag)
{
	return tag == TAG_STRUCT || tag == TAG_UNION || tag == TAG_CLASS;
}

/* One step towards byte `off`: the member or element that holds it; NULL when t is no aggregate.
 * *off becomes the offset inside it, *member its declaration (NULL for an element). */
static LLVMMetadataRef step(struct program *p, LLVMMetadataRef t, int64_t *off,
			    LLVMMetadataRef *member)
{
	unsigned tag = LLVMGetDINodeTag(t), n;
	LLVMMetadataRef list = operand(p, t, TYPE_ELEMENTS);
	LLVMValueRef v, *ops;
	LLVMMetadataRef found = NULL;

	*member = NULL;
	if (tag == TAG_ARRAY) {
		LLVMMetadataRef base = operand(p, t, TYPE_BASE);
		int64_t size = base ? (int64_t)LLVMDITypeGetSizeInBits(bare(p, base)) / 8 : 0;

		if (!base || size <= 0)
			return NULL;
		*off = (*off % size + size) % size;
		return base;
	}
	if (!is_record(tag) || !list)
		return NULL;
	v = LLVMMetadataAsValue(p->context, list);
	n = LLVMGetMDNodeNumOperands(v);
	ops = xcalloc(n + 1, sizeof(LLVMValueRef));
	LLVMGetMDNodeOperands(v, ops);
	for (unsigned i = 0; i < n && !found; i++) {
		LLVMMetadataRef m = ops[i] ? LLVMValueAsMetadata(ops[i]) : NULL;
		unsigned mtag = m ? LLVMGetDINodeTag(m) : 0;
		int64_t at, size;

		if (mtag != TAG_MEMBER && mtag != TAG_INHERITANCE)
			continue;
		at = (int64_t)LLVMDITypeGetOffsetInBits(m) / 8;
		size = (int64_t)(LLVMDITypeGetSizeInBits(m) + 7) / 8;
		if (mtag == TAG_INHERITANCE)
			size = (int64_t)LLVMDITypeGetSizeInBits(bare(p, operand(p, m, TYPE_BASE))) /
			       8;
		if (*off >= at && *off < at + size) {
			*off -= at;
			*member = m;
			found = operand(p, m, TYPE_BASE);
		}
	}
	free(ops);
	return found;
}

/* The type of the pointer-sized thing at byte v.off. */
static LLVMMetadataRef field_type(struct program *p, struct view v)
{
	LLVMMetadataRef t = bare(p, v.type), member;

	for (int i = 0; t && i < 16; i++) {
		unsigned tag = LLVMGetDINodeTag(t);

		if (!is_record(tag) && tag != TAG_ARRAY)
			return t;
		t = bare(p, step(p, t, &v.off, &member));
	}
	return NULL;
}

static LLVMMetadataRef global_debug(LLVMValueRef g)
{
	size_t n;
	LLVMValueMetadataEntry *entries = LLVMGlobalCopyAllMetadata(g, &n);
	LLVMMetadataRef found = NULL;

	for (unsigned i = 0; i < n && !found; i++) {
		LLVMMetadataRef m = LLVMValueMetadataEntriesGetMetadata(entries, i);

		if (LLVMGetMetadataKind(m) == LLVMDIGlobalVariableExpressionMetadataKind)
			found = LLVMDIGlobalVariableExpressionGetVariable(m);
	}
	LLVMDisposeValueMetadataEntries(entries);
	return found;
}

/* The type of parameter `index` (0 = the result, 1.. = parameters), if the source and the compiled
 * function agree about how many there are. */
static LLVMMetadataRef signature_type(struct program *p, LLVMValueRef f, unsigned index)
{
	LLVMMetadataRef sp = LLVMGetSubprogram(f), types;

	if (!sp)
		return NULL;
	types = operand(p, operand(p, sp, SUBPROGRAM_TYPE), SUBROUTINE_TYPES);
	if (!types || LLVMGetMDNodeNumOperands(LLVMMetadataAsValue(p->context, types)) !=
			      LLVMCountParams(f) + 1)
		return NULL;
	return operand(p, types, index);
}

static unsigned param_number(LLVMValueRef arg)
{
	LLVMValueRef f = LLVMGetParamParent(arg);
	unsigned i = 0;

	while (LLVMGetParam(f, i) != arg)
		i++;
	return i;
}

static bool look(struct program *p, LLVMValueRef ptr, struct view *ret, int depth);

static bool look_gep(struct program *p, LLVMValueRef gep, struct view *ret, int depth)
{
	LLVMTypeRef t = LLVMGetGEPSourceElementType(gep);

	if (!look(p, LLVMGetOperand(gep, 0), ret, depth + 1))
		return false;
	for (int i = 1; i < LLVMGetNumOperands(gep); i++) {
		LLVMValueRef index = LLVMGetOperand(gep, (unsigned)i);
		int64_t k = LLVMIsAConstantInt(index) ? LLVMConstIntGetSExtValue(index) : 0;

		if (i > 1 && LLVMGetTypeKind(t) == LLVMStructTypeKind) {
			ret->off += (int64_t)LLVMOffsetOfElement(p->layout, t, (unsigned)k);
			t = LLVMStructGetTypeAtIndex(t, (unsigned)k);
			continue;
		}
		if (i > 1)
			t = LLVMGetElementType(t);
		ret->off += k * (int64_t)LLVMABISizeOfType(p->layout, t);
	}
	return true;
}

static bool look_at_type(LLVMMetadataRef t, struct view *ret)
{
	*ret = (struct view){ t, 0, NULL };
	return t != NULL;
}

/* ---- local variables ---- */

/* The value that a debug intrinsic speaks of, NULL when it is none or several. */
static LLVMValueRef described(LLVMValueRef call)
{
	LLVMValueRef v = LLVMGetOperand(call, 0), ret = NULL;

	if (LLVMGetMetadataKind(LLVMValueAsMetadata(v)) == LLVMLocalAsMetadataMetadataKind)
		LLVMGetMDNodeOperands(v, &ret);
	return ret;
}

static void note_variable(struct program *p, LLVMValueRef call, bool declared,
			  LLVMMetadataRef no_expression)
{
	LLVMValueRef v = described(call);
	LLVMMetadataRef variable = LLVMValueAsMetadata(LLVMGetOperand(call, 1)), type;

	if (!v || LLVMGetTypeKind(LLVMTypeOf(v)) != LLVMPointerTypeKind ||
	    LLVMValueAsMetadata(LLVMGetOperand(call, 2)) != no_expression)
		return;
	type = operand(p, variable, VARIABLE_TYPE);
	if (!declared)
		type = pointee(p, type);
	if (type && bare(p, type) && (declared || is_record(LLVMGetDINodeTag(bare(p, type)))) &&
	    !map_find(&p->variables, (uint64_t)(uintptr_t)v))
		map_put(&p->variables, (uint64_t)(uintptr_t)v, (uint64_t)(uintptr_t)type);
}

/* The C API can only read debug records in their old form, as calls. */
void types_collect(struct program *p)
{
	LLVMDIBuilderRef builder = LLVMCreateDIBuilderDisallowUnresolved(p->module);
	LLVMMetadataRef nothing = LLVMDIBuilderCreateExpression(builder, NULL, 0);

	LLVMSetIsNewDbgInfoFormat(p->module, false);
	for_each_function(f, p->module) for_each_block(b, f) for_each_instruction(i, b)
	{
		LLVMValueRef callee = LLVMIsACallInst(i) ? direct_callee(i) : NULL;
		const char *name = callee ? value_name(callee) : "";
		bool declared = strcmp(name, "llvm.dbg.declare") == 0;

		if (declared || strcmp(name, "llvm.dbg.value") == 0)
			note_variable(p, i, declared, nothing);
	}
	LLVMSetIsNewDbgInfoFormat(p->module, true);
	LLVMDisposeDIBuilder(builder);
}

static bool look_at_variable(struct program *p, LLVMValueRef ptr, struct view *ret)
{
	uint64_t *type = map_find(&p->variables, (uint64_t)(uintptr_t)ptr);

	return type && look_at_type((LLVMMetadataRef)(uintptr_t)*type, ret);
}

/* What does ptr point to? */
static bool look_further(struct program *p, LLVMValueRef ptr, struct view *ret, int depth)
{
	LLVMValueRef f;
	struct view at;

	if (depth > MAX_DEPTH)
		return false;
	if (LLVMIsAGlobalVariable(ptr)) {
		*ret = (struct view){ operand(p, global_debug(ptr), VARIABLE_TYPE), 0, ptr };
		return true;
	}
	if (LLVMIsAGetElementPtrInst(ptr) ||
	    (LLVMIsAConstantExpr(ptr) && LLVMGetConstOpcode(ptr) == LLVMGetElementPtr))
		return look_gep(p, ptr, ret, depth);
	if (LLVMIsAArgument(ptr))
		return look_at_type(pointee(p, signature_type(p, LLVMGetParamParent(ptr),
							      param_number(ptr) + 1)),
				    ret);
	if (LLVMIsALoadInst(ptr))
		return look(p, LLVMGetOperand(ptr, 0), &at, depth + 1) && at.type &&
		       look_at_type(pointee(p, field_type(p, at)), ret);
	if (LLVMIsACallInst(ptr) || LLVMIsAInvokeInst(ptr)) {
		f = direct_callee(ptr);
		return f && look_at_type(pointee(p, signature_type(p, f, 0)), ret);
	}
	if (LLVMIsASelectInst(ptr))
		return look(p, LLVMGetOperand(ptr, 1), ret, depth + 1) ||
		       look(p, LLVMGetOperand(ptr, 2), ret, depth + 1);
	for (unsigned i = 0; LLVMIsAPHINode(ptr) && i < LLVMCountIncoming(ptr); i++)
		if (LLVMGetIncomingValue(ptr, i) != ptr &&
		    look(p, LLVMGetIncomingValue(ptr, i), ret, depth + 1))
			return true;
	return false;
}

static bool look(struct program *p, LLVMValueRef ptr, struct view *ret, int depth)
{
	return (look_further(p, ptr, ret, depth) && (ret->variable || field_type(p, *ret))) ||
	       look_at_variable(p, ptr, ret);
}

static void add_path(struct program *p, struct view v, const char *before, struct strbuf *ret)
{
	LLVMMetadataRef t = bare(p, v.type), member;

	for (int i = 0; t && i < 16; i++) {
		size_t len;
		const char *name;

		t = bare(p, step(p, t, &v.off, &member));
		name = t && member ? LLVMDITypeGetName(member, &len) : NULL;
		if (name && len) {
			strbuf_addf(ret, "%s%.*s", before, (int)len, name);
			before = ".";
		} else if (t && !member) {
			strbuf_adds(ret, "[]");
			before = ".";
		}
	}
}

static void add_variable(struct program *p, LLVMValueRef g, struct strbuf *ret)
{
	LLVMMetadataRef name = operand(p, global_debug(g), VARIABLE_NAME);
	unsigned len = 0;
	const char *s = name ? LLVMGetMDString(LLVMMetadataAsValue(p->context, name), &len) : NULL;
	const char *dot;

	if (!s) {
		s = value_name(g);
		dot = strstr(s, ".plait");
		len = (unsigned)(dot ? (size_t)(dot - s) : strlen(s));
	}
	strbuf_add(ret, s, len);
}

static bool add_type_name(struct program *p, LLVMMetadataRef t, struct strbuf *ret)
{
	size_t len = 0;
	const char *name;
	unsigned tag;

	/* const and volatile have no names; a typedef has, and it is the author's */
	while (t && (LLVMGetDINodeTag(t) == TAG_CONST || LLVMGetDINodeTag(t) == TAG_VOLATILE))
		t = operand(p, t, TYPE_BASE);
	name = t ? LLVMDITypeGetName(t, &len) : NULL;
	tag = t ? LLVMGetDINodeTag(bare(p, t) ? bare(p, t) : t) : 0;
	if (!name || !len)
		return false;
	/* "class" is C++, where the name alone says it */
	if (LLVMGetDINodeTag(t) != TAG_TYPEDEF && is_record(tag) && tag != TAG_CLASS &&
	    !memchr(name, '<', len))
		strbuf_adds(ret, tag == TAG_UNION ? "union " : "struct ");
	name_shorten(name, len, ret);
	return true;
}

bool types_describe(struct program *p, LLVMValueRef ptr, struct strbuf *ret)
{
	struct view v;

	if (!look(p, ptr, &v, 0))
		return false;
	if (v.variable) {
		add_variable(p, v.variable, ret);
		if (v.type)
			add_path(p, v, ".", ret);
		return true;
	}
	if (!v.type || !bare(p, v.type) || !is_record(LLVMGetDINodeTag(bare(p, v.type))) ||
	    !add_type_name(p, v.type, ret))
		return false; /* "unsigned char" says nothing */
	add_path(p, v, "::", ret);
	return true;
}
