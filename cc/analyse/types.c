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

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* Each level of inlining without optimisation is a store and a load. */
#define MAX_DEPTH 16

enum { TYPE_BASE = 3, TYPE_ELEMENTS = 4, VARIABLE_NAME = 1, VARIABLE_TYPE = 3 };
enum { SCOPE_NAME = 2, SUBPROGRAM_TYPE = 4, SUBROUTINE_TYPES = 3 };
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
	TAG_RVALUE_REFERENCE = 0x42,
	TAG_ATOMIC = 0x47
};

enum { OP_DEREF = 0x06 };

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

static bool is_reference(LLVMMetadataRef t)
{
	return LLVMGetDINodeTag(t) == TAG_REFERENCE || LLVMGetDINodeTag(t) == TAG_RVALUE_REFERENCE;
}

static LLVMMetadataRef pointee(struct program *p, LLVMMetadataRef t)
{
	t = bare(p, t);
	if (!t || (LLVMGetDINodeTag(t) != TAG_POINTER && !is_reference(t)))
		return NULL;
	return operand(p, t, TYPE_BASE);
}

static bool is_record(unsigned tag)
{
	return tag == TAG_STRUCT || tag == TAG_UNION || tag == TAG_CLASS;
}

/* The parts of a record: operands of its list of elements; the caller frees them. */
static LLVMValueRef *parts_of(struct program *p, LLVMMetadataRef record, unsigned *n)
{
	LLVMMetadataRef list = operand(p, record, TYPE_ELEMENTS);
	LLVMValueRef v = list ? LLVMMetadataAsValue(p->context, list) : NULL, *ops;

	*n = v ? (unsigned)LLVMGetMDNodeNumOperands(v) : 0;
	ops = xcalloc(*n + 1, sizeof(LLVMValueRef));
	if (v)
		LLVMGetMDNodeOperands(v, ops);
	return ops;
}

/* An empty base class (an allocator) has a size of one byte but nothing in it. */
static bool is_empty(struct program *p, LLVMMetadataRef record, int depth)
{
	unsigned n, i;
	LLVMValueRef *ops = parts_of(p, record, &n);

	for (i = 0; i < n && depth < 8; i++) {
		LLVMMetadataRef m = ops[i] ? LLVMValueAsMetadata(ops[i]) : NULL;
		unsigned tag = m ? LLVMGetDINodeTag(m) : 0;

		if ((tag == TAG_MEMBER && LLVMDITypeGetSizeInBits(m)) ||
		    (tag == TAG_INHERITANCE &&
		     !is_empty(p, bare(p, operand(p, m, TYPE_BASE)), depth + 1)))
			break;
	}
	free(ops);
	return i == n;
}

/* The member, or the base class, of a record that holds byte `off`. */
static LLVMMetadataRef part_at(struct program *p, LLVMMetadataRef record, unsigned tag, int64_t off)
{
	LLVMMetadataRef found = NULL;
	unsigned n;
	LLVMValueRef *ops = parts_of(p, record, &n);

	for (unsigned i = 0; i < n && !found; i++) {
		LLVMMetadataRef m = ops[i] ? LLVMValueAsMetadata(ops[i]) : NULL, base;
		int64_t at, size;

		if (!m || LLVMGetDINodeTag(m) != tag)
			continue;
		base = bare(p, operand(p, m, TYPE_BASE));
		if (!base || (tag == TAG_INHERITANCE && is_empty(p, base, 0)))
			continue;
		at = (int64_t)LLVMDITypeGetOffsetInBits(m) / 8;
		size = (int64_t)LLVMDITypeGetSizeInBits(tag == TAG_MEMBER ? m : base);
		if (off >= at && off < at + (size + 7) / 8)
			found = m;
	}
	free(ops);
	return found;
}

/* One step towards byte `off`: the member or element that holds it; NULL when t is no aggregate.
 * *off becomes the offset inside it, *member its declaration (NULL for an element). */
static LLVMMetadataRef step(struct program *p, LLVMMetadataRef t, int64_t *off,
			    LLVMMetadataRef *member)
{
	unsigned tag = LLVMGetDINodeTag(t);

	*member = NULL;
	if (tag == TAG_ARRAY) {
		LLVMMetadataRef base = operand(p, t, TYPE_BASE);
		int64_t size = base ? (int64_t)LLVMDITypeGetSizeInBits(bare(p, base)) / 8 : 0;

		if (!base || size <= 0)
			return NULL;
		*off = (*off % size + size) % size;
		return base;
	}
	if (!is_record(tag))
		return NULL;
	*member = part_at(p, t, TAG_MEMBER, *off);
	if (!*member)
		*member = part_at(p, t, TAG_INHERITANCE, *off);
	if (!*member)
		return NULL;
	*off -= (int64_t)LLVMDITypeGetOffsetInBits(*member) / 8;
	return operand(p, *member, TYPE_BASE);
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
static bool describe(struct program *p, const struct view *v, struct strbuf *ret, bool *library);
static bool is_named(const struct view *v);
static bool is_users(LLVMMetadataRef t);

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
	*ret = (struct view){ .type = t };
	return t != NULL;
}

/* ---- local variables ---- */

static LLVMMetadataRef local_of(struct program *p, LLVMValueRef slot)
{
	return (LLVMMetadataRef)(uintptr_t)map_get_or(&p->locals, (uint64_t)(uintptr_t)slot, 0);
}

/* The value that a debug intrinsic speaks of, NULL when it is none or several. */
static LLVMValueRef described(LLVMValueRef call, unsigned index)
{
	LLVMValueRef v = LLVMGetOperand(call, index), ret = NULL;

	if (LLVMGetMetadataKind(LLVMValueAsMetadata(v)) == LLVMLocalAsMetadataMetadataKind)
		LLVMGetMDNodeOperands(v, &ret);
	return ret;
}

/* "__x" and "_X" are the library's own. */
static bool is_reserved(const char *name, size_t len)
{
	return len > 1 && name[0] == '_' && (name[1] == '_' || isupper((unsigned char)name[1]));
}

/* A variable of an inlined function of the library. */
static bool is_librarys(struct program *p, LLVMMetadataRef variable)
{
	LLVMMetadataRef name = operand(p, variable, VARIABLE_NAME);
	unsigned len = 0;
	const char *s = name ? LLVMGetMDString(LLVMMetadataAsValue(p->context, name), &len) : NULL;

	return s && is_reserved(s, len);
}

/* declared: the variable lies at the address v; else v is its value, a pointer. */
static void note_variable(struct program *p, LLVMValueRef v, LLVMMetadataRef variable,
			  bool declared)
{
	LLVMMetadataRef type = operand(p, variable, VARIABLE_TYPE);

	if (!declared)
		type = pointee(p, type);
	if (declared && LLVMIsAAllocaInst(v) && !is_librarys(p, variable) &&
	    !map_find(&p->locals, (uint64_t)(uintptr_t)v))
		map_put(&p->locals, (uint64_t)(uintptr_t)v, (uint64_t)(uintptr_t)variable);
	if (type && bare(p, type) && (declared || is_record(LLVMGetDINodeTag(bare(p, type)))) &&
	    !map_find(&p->variables, (uint64_t)(uintptr_t)v))
		map_put(&p->variables, (uint64_t)(uintptr_t)v, (uint64_t)(uintptr_t)type);
}

/* Three intrinsics: `declare` says at which address a variable lies; `assign` too, as its fifth
 * operand; `value` says what it is, or (with a dereference) where. */
static void read_intrinsic(struct program *p, LLVMValueRef call, const char *name,
			   LLVMMetadataRef plain, LLVMMetadataRef deref)
{
	bool assign = strcmp(name, "assign") == 0, declare = strcmp(name, "declare") == 0;
	LLVMValueRef v = described(call, assign ? 4 : 0);
	LLVMMetadataRef expression = LLVMValueAsMetadata(LLVMGetOperand(call, 2));
	bool whole = expression == plain;

	if (!v || LLVMGetTypeKind(LLVMTypeOf(v)) != LLVMPointerTypeKind)
		return;
	if (assign)
		whole &= LLVMValueAsMetadata(LLVMGetOperand(call, 5)) == plain;
	if (whole || (expression == deref && strcmp(name, "value") == 0))
		note_variable(p, v, LLVMValueAsMetadata(LLVMGetOperand(call, 1)),
			      assign || declare || expression == deref);
}

/* The C API can only read debug records in their old form, as calls. */
void types_collect(struct program *p)
{
	LLVMDIBuilderRef builder = LLVMCreateDIBuilderDisallowUnresolved(p->module);
	uint64_t ops[] = { OP_DEREF };
	LLVMMetadataRef plain = LLVMDIBuilderCreateExpression(builder, NULL, 0);
	LLVMMetadataRef deref = LLVMDIBuilderCreateExpression(builder, ops, 1);

	LLVMSetIsNewDbgInfoFormat(p->module, false);
	for_each_function(f, p->module) for_each_block(b, f) for_each_instruction(i, b)
	{
		LLVMValueRef callee = LLVMIsACallInst(i) ? direct_callee(i) : NULL;
		const char *name = callee ? value_name(callee) : "";

		if (strncmp(name, "llvm.dbg.", 9) == 0 && strcmp(name, "llvm.dbg.label") != 0)
			read_intrinsic(p, i, name + 9, plain, deref);
	}
	LLVMSetIsNewDbgInfoFormat(p->module, true);
	LLVMDisposeDIBuilder(builder);
}

static bool look_at_variable(struct program *p, LLVMValueRef ptr, struct view *ret)
{
	uint64_t *type = map_find(&p->variables, (uint64_t)(uintptr_t)ptr);

	if (!type || !look_at_type((LLVMMetadataRef)(uintptr_t)*type, ret))
		return false;
	ret->local = local_of(p, ptr);
	return true;
}

/* ---- through a pointer ---- */

/* The one value that a local variable is ever given: a parameter in unoptimised code. NULL when
 * there are several, or its address goes elsewhere. */
static LLVMValueRef only_value(LLVMValueRef slot)
{
	LLVMValueRef value = NULL;

	if (!LLVMIsAAllocaInst(slot))
		return NULL;
	for (LLVMUseRef u = LLVMGetFirstUse(slot); u; u = LLVMGetNextUse(u)) {
		LLVMValueRef user = LLVMGetUser(u);

		LLVMValueRef callee = is_call(user) ? direct_callee(user) : NULL;

		if (LLVMIsALoadInst(user) ||
		    (callee && strncmp(value_name(callee), "llvm.lifetime.", 14) == 0))
			continue;
		if (!LLVMIsAStoreInst(user) || LLVMGetOperand(user, 0) == slot || value)
			return NULL;
		value = LLVMGetOperand(user, 0);
	}
	return value;
}

static void set_name(struct view *v, const struct strbuf *text, const char *suffix)
{
	size_t n = strlen(suffix);

	if (text->len >= n && strcmp(text->data + text->len - n, suffix) == 0)
		suffix = "";
	snprintf(v->name, sizeof(v->name), "%s%s", strbuf_str(text), suffix);
}

/* The pointer lies at `at`: what does it point to? A reference is called what it refers to; behind
 * a pointer of the library's own types lie the elements of a container. */
static bool look_through(struct program *p, const struct view *at, struct view *ret)
{
	LLVMMetadataRef t = field_type(p, *at);
	struct strbuf text = { 0 };
	bool library;

	if (!t || !look_at_type(pointee(p, t), ret))
		return false;
	if (describe(p, at, &text, &library) && (is_reference(t) || library))
		set_name(ret, &text, is_reference(t) ? "" : "[]");
	strbuf_deinit(&text);
	return true;
}

/* Functions of the library that hand out an element of their object. */
static bool is_element_access(struct program *p, LLVMValueRef f)
{
	static const char *const names[] = { "operator[]", "at", "front", "back" };
	LLVMMetadataRef sp = LLVMGetSubprogram(f), name = operand(p, sp, SCOPE_NAME), file;
	unsigned len = 0;
	const char *s;

	file = sp ? LLVMDIScopeGetFile(sp) : NULL;
	s = file ? LLVMDIFileGetFilename(file, &len) : NULL;
	if (!s || len < 5 || strncmp(s, "/usr/", 5) != 0 || !name)
		return false;
	s = LLVMGetMDString(LLVMMetadataAsValue(p->context, name), &len);
	for (size_t i = 0; s && i < ARRAY_SIZE(names); i++)
		if (len == strlen(names[i]) && strncmp(s, names[i], len) == 0)
			return true;
	return false;
}

static bool look_at_result(struct program *p, LLVMValueRef call, struct view *ret, int depth)
{
	LLVMValueRef f = direct_callee(call);
	struct strbuf text = { 0 };
	struct view object;
	bool library;

	if (!f || !look_at_type(pointee(p, signature_type(p, f, 0)), ret))
		return false;
	if (LLVMGetNumArgOperands(call) > 0 && is_element_access(p, f) &&
	    look(p, LLVMGetOperand(call, 0), &object, depth + 1) &&
	    describe(p, &object, &text, &library))
		set_name(ret, &text, "[]");
	strbuf_deinit(&text);
	return true;
}

/* One of several pointers that a pointer may be: the first with a name wins. They may be many, so
 * each counts as several levels. */
static void look_at_one(struct program *p, LLVMValueRef one, struct view *ret, int depth,
			bool *found)
{
	struct view v;

	if ((*found && is_named(ret)) || !look(p, one, &v, depth + 3) || (*found && !is_named(&v)))
		return;
	*ret = v;
	*found = true;
}

/* What does ptr point to? */
static bool look_further(struct program *p, LLVMValueRef ptr, struct view *ret, int depth)
{
	LLVMValueRef value;
	struct view at;
	bool found = false;

	if (depth > MAX_DEPTH)
		return false;
	if (LLVMIsAGlobalVariable(ptr)) {
		*ret = (struct view){ .type = operand(p, global_debug(ptr), VARIABLE_TYPE),
				      .variable = ptr };
		return true;
	}
	if (LLVMIsAGetElementPtrInst(ptr) ||
	    (LLVMIsAConstantExpr(ptr) && LLVMGetConstOpcode(ptr) == LLVMGetElementPtr))
		return look_gep(p, ptr, ret, depth);
	if (LLVMIsAArgument(ptr))
		return look_at_type(pointee(p, signature_type(p, LLVMGetParamParent(ptr),
							      param_number(ptr) + 1)),
				    ret);
	if (LLVMIsALoadInst(ptr)) {
		value = only_value(LLVMGetOperand(ptr, 0));
		if (value && look(p, value, ret, depth + 1) &&
		    (is_named(ret) || (bare(p, ret->type) && is_users(bare(p, ret->type)))))
			return true;
		return look(p, LLVMGetOperand(ptr, 0), &at, depth + 1) && at.type &&
		       look_through(p, &at, ret);
	}
	if (LLVMIsACallInst(ptr) || LLVMIsAInvokeInst(ptr))
		return look_at_result(p, ptr, ret, depth);
	if (LLVMIsASelectInst(ptr)) {
		look_at_one(p, LLVMGetOperand(ptr, 1), ret, depth, &found);
		look_at_one(p, LLVMGetOperand(ptr, 2), ret, depth, &found);
	}
	for (unsigned i = 0; LLVMIsAPHINode(ptr) && i < LLVMCountIncoming(ptr); i++)
		if (LLVMGetIncomingValue(ptr, i) != ptr)
			look_at_one(p, LLVMGetIncomingValue(ptr, i), ret, depth, &found);
	return found;
}

static bool look_anew(struct program *p, LLVMValueRef ptr, struct view *ret, int depth)
{
	if (local_of(p, ptr) && look_at_variable(p, ptr, ret))
		return true;
	return (look_further(p, ptr, ret, depth) && (is_named(ret) || field_type(p, *ret))) ||
	       look_at_variable(p, ptr, ret);
}

/* Pointers in loops come from one another in many ways, so answers are kept: without that, the link of
 * sqlite took twice as long. An answer holds for every question from as deep or deeper. */
static bool look(struct program *p, LLVMValueRef ptr, struct view *ret, int depth)
{
	uint64_t *known = map_find(&p->looked, (uint64_t)(uintptr_t)ptr);
	struct look *l = known ? &p->looks.data[*known] : NULL;
	bool found;

	if (l && l->depth <= depth) {
		*ret = l->view;
		return l->found;
	}
	*ret = (struct view){ 0 };
	found = look_anew(p, ptr, ret, depth);
	known = map_put(&p->looked, (uint64_t)(uintptr_t)ptr, p->looks.len);
	if (*known == p->looks.len)
		vec_push(&p->looks, ((struct look){ .found = false }));
	p->looks.data[*known] = (struct look){ .view = *ret, .found = found, .depth = depth };
	return found;
}

/* "map/set" for a part of one, whose own name says nothing to its user; or NULL. */
static const char *public_name(const char *name, size_t len)
{
	static const struct {
		const char *prefix, *what;
	} known[] = {
#define LIBRARY_TYPE(prefix, what) { prefix, what },
#include "cc/analyse/library.def"
#undef LIBRARY_TYPE
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(*known) && is_reserved(name, len); i++)
		if (strncmp(name, known[i].prefix, strlen(known[i].prefix)) == 0)
			return known[i].what;
	return NULL;
}

static bool add_type_name(struct program *p, LLVMMetadataRef t, struct strbuf *ret)
{
	size_t len = 0;
	const char *name, *what;
	unsigned tag;

	/* const and volatile have no names; a typedef has, and it is the author's */
	while (t && (LLVMGetDINodeTag(t) == TAG_CONST || LLVMGetDINodeTag(t) == TAG_VOLATILE))
		t = operand(p, t, TYPE_BASE);
	name = t ? LLVMDITypeGetName(t, &len) : NULL;
	tag = t ? LLVMGetDINodeTag(bare(p, t) ? bare(p, t) : t) : 0;
	if (!name || !len)
		return false;
	what = public_name(name, len);
	if (what) {
		strbuf_adds(ret, what);
		return true;
	}
	/* "class" is C++, where the name alone says it */
	if (LLVMGetDINodeTag(t) != TAG_TYPEDEF && is_record(tag) && tag != TAG_CLASS &&
	    !memchr(name, '<', len))
		strbuf_adds(ret, tag == TAG_UNION ? "union " : "struct ");
	name_shorten(name, len, ret);
	return true;
}

/* A type of the program, not of a header of the system. */
static bool is_users(LLVMMetadataRef t)
{
	LLVMMetadataRef file = is_record(LLVMGetDINodeTag(t)) ? LLVMDIScopeGetFile(t) : NULL;
	unsigned len = 0;
	const char *name = file ? LLVMDIFileGetFilename(file, &len) : NULL;

	return name && (len < 5 || strncmp(name, "/usr/", 5) != 0);
}

/* A closure has no name, and its members are called what was captured. */
static bool is_closure(LLVMMetadataRef t)
{
	size_t len = 0;

	return LLVMGetDINodeTag(t) == TAG_CLASS && (!LLVMDITypeGetName(t, &len) || !len);
}

/* Append "struct fifo"; *before is what separates it from a member. */
static bool add_type(struct program *p, LLVMMetadataRef t, struct strbuf *ret, const char **before)
{
	bool closure = is_closure(bare(p, t));

	*before = closure ? "" : "::";
	return closure || add_type_name(p, t, ret);
}

/* Append members and elements. Members of the library's own types are passed over: their names say
 * nothing to the user of a std::atomic. *library: they were the last. What the library wraps (a
 * thread its function, a tuple its parts) is named from there on if `anew`. */
static void add_path(struct program *p, struct view v, const char *before, bool anew,
		     struct strbuf *ret, bool *library)
{
	LLVMMetadataRef t = bare(p, v.type), member;

	*library = false;
	for (int i = 0; t && i < 16; i++) {
		size_t len = 0;
		const char *name;

		t = bare(p, step(p, t, &v.off, &member));
		name = t && member ? LLVMDITypeGetName(member, &len) : NULL;
		if (name && is_reserved(name, len)) {
			/* of std::array the elements are the user's */
			*library |= !memmem(name, len, "elems", 5);
		} else if (!*library && name && len) {
			strbuf_addf(ret, "%s%.*s", before, (int)len, name);
			before = ".";
		} else if (!*library && t && !member) {
			strbuf_adds(ret, "[]");
			before = ".";
		}
		if (*library && t && is_users(t)) {
			*library = false;
			if (anew) {
				strbuf_clear(ret);
				add_type(p, t, ret, &before);
			}
		}
	}
}

static void add_variable(struct program *p, LLVMMetadataRef debug, struct strbuf *ret)
{
	LLVMMetadataRef name = operand(p, debug, VARIABLE_NAME);
	unsigned len = 0;
	const char *s = name ? LLVMGetMDString(LLVMMetadataAsValue(p->context, name), &len) : NULL;

	strbuf_add(ret, s, len);
}

static void add_global(struct program *p, LLVMValueRef g, struct strbuf *ret)
{
	size_t before = ret->len;
	const char *s = value_name(g), *dot = strstr(s, ".plait");

	add_variable(p, global_debug(g), ret);
	if (ret->len == before)
		strbuf_add(ret, s, dot ? (size_t)(dot - s) : strlen(s));
}

/* Is it known which thing it is, and not only what type it has? */
static bool is_named(const struct view *v)
{
	return v->variable || v->local || v->name[0];
}

/* Append what the source would call it; *library: it is inside one of the library's own types. */
static bool describe(struct program *p, const struct view *v, struct strbuf *ret, bool *library)
{
	const char *before = ".";
	LLVMMetadataRef t = v->type ? bare(p, v->type) : NULL;

	*library = false;
	if (v->variable)
		add_global(p, v->variable, ret);
	else if (v->local)
		add_variable(p, v->local, ret);
	else if (v->name[0])
		strbuf_adds(ret, v->name);
	else if (!t || !is_record(LLVMGetDINodeTag(t)))
		return false; /* "unsigned char" says nothing */
	else if (!add_type(p, v->type, ret, &before))
		return false;
	if (t)
		add_path(p, *v, before, !is_named(v), ret, library);
	return ret->len > 0;
}

bool types_describe(struct program *p, LLVMValueRef ptr, struct strbuf *ret)
{
	_cleanup_(strbuf_deinit) struct strbuf name = { 0 };
	LLVMMetadataRef t;
	struct view v;
	bool library;

	if (!look(p, ptr, &v, 0) || !describe(p, &v, &name, &library))
		return false;
	/* a reference has the name of what it refers to: set it apart */
	t = v.type ? field_type(p, v) : NULL;
	strbuf_addf(ret, "%s%s", t && is_reference(t) ? "&" : "", strbuf_str(&name));
	return true;
}
