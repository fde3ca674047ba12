/* cc/analyse/names.c - source positions and names, from debug information.
 *
 * The C API knows positions and types but few names; those are read from the metadata nodes'
 * operands, whose order LLVM keeps stable (name is operand 2 of scopes, types and variables). */
#include "cc/analyse/names.h"

#include "base/path.h"
#include "base/strbuf.h"
#include "cc/program.h"
#include "cc/analyse/types.h"

#include <string.h>

#define DI_NAME 2

/* Operand `index` of a node when it is a string, else NULL. Not NUL-terminated: *len. */
static const char *node_string(struct program *p, LLVMMetadataRef node, unsigned index,
			       unsigned *len)
{
	LLVMValueRef v = LLVMMetadataAsValue(p->context, node);
	unsigned n = LLVMGetMDNodeNumOperands(v);
	LLVMValueRef ops[64];
	const char *s;

	if (index >= n || n > 64)
		return NULL;
	LLVMGetMDNodeOperands(v, ops);
	s = ops[index] ? LLVMGetMDString(ops[index], len) : NULL;
	return s;
}

static uint32_t intern_n(struct program *p, const char *s, size_t n)
{
	char *copy = xstrndup(s ? s : "", s ? n : 0);
	uint32_t id = names_intern(&p->strings, copy);

	free(copy);
	return id;
}

/* A path from here, if the file is below: clang says "src/a.c of /home/me" as soon as the folder it
 * was started in and the file have anything in common. */
static uint32_t file_of(struct program *p, LLVMMetadataRef scope)
{
	LLVMMetadataRef file = scope ? LLVMDIScopeGetFile(scope) : NULL;
	unsigned len = 0, folder_len = 0;
	const char *name = file ? LLVMDIFileGetFilename(file, &len) : NULL;
	const char *folder = file ? LLVMDIFileGetDirectory(file, &folder_len) : NULL;
	struct strbuf path = { 0 }, clean = { 0 };
	uint32_t id;

	if (!name || !len)
		return intern_n(p, NULL, 0);
	if (name[0] != '/' && folder && folder_len)
		strbuf_addf(&path, "%.*s/", (int)folder_len, folder);
	strbuf_add(&path, name, len);
	path_shorten(strbuf_str(&path), name[0] != '/' ? p->folder : NULL, &clean);
	id = names_intern(&p->strings, strbuf_str(&clean));
	strbuf_deinit(&path);
	strbuf_deinit(&clean);
	return id;
}

/* The function a scope lies in: lexical blocks have their parent as operand 1. */
static uint32_t function_of(struct program *p, LLVMMetadataRef scope, LLVMValueRef f)
{
	for (int depth = 0; scope && depth < 100; depth++) {
		LLVMMetadataKind kind = LLVMGetMetadataKind(scope);
		LLVMValueRef v = LLVMMetadataAsValue(p->context, scope), ops[64];
		unsigned n = LLVMGetMDNodeNumOperands(v), len = 0;

		if (kind == LLVMDISubprogramMetadataKind) {
			const char *name = node_string(p, scope, DI_NAME, &len);

			if (name)
				return intern_n(p, name, len);
			break;
		}
		if (n < 2 || n > 64)
			break;
		LLVMGetMDNodeOperands(v, ops);
		scope = ops[1] ? LLVMValueAsMetadata(ops[1]) : NULL;
	}
	{
		const char *name = value_name(f), *dot = strstr(name, ".plait");

		return intern_n(p, name, dot ? (size_t)(dot - name) : strlen(name));
	}
}

/* The innermost place outside the system's headers: std::mutex::lock() inlined into main.cpp is a
 * line of main.cpp to its author. The very innermost when there is no other. */
static LLVMMetadataRef users_own(struct program *p, LLVMMetadataRef loc)
{
	for (LLVMMetadataRef l = loc; l; l = LLVMDILocationGetInlinedAt(l)) {
		uint32_t file = file_of(p, LLVMDILocationGetScope(l));

		if (!path_is_system(p->strings.text[file]))
			return l;
	}
	return loc;
}

/* A line for `loc`, which has none (or may be NULL)? It must be of the same call. */
static bool can_stand_in(LLVMMetadataRef l, LLVMMetadataRef loc)
{
	return l && LLVMDILocationGetLine(l) &&
	       (!loc || LLVMDILocationGetInlinedAt(l) == LLVMDILocationGetInlinedAt(loc));
}

/* The line of an instruction that uses its value, or else that makes what it uses. */
static LLVMMetadataRef location_of_partner(LLVMValueRef at, LLVMMetadataRef loc)
{
	for (LLVMUseRef use = LLVMGetFirstUse(at); use; use = LLVMGetNextUse(use)) {
		LLVMValueRef user = LLVMIsAInstruction(LLVMGetUser(use));
		LLVMMetadataRef l = user ? LLVMInstructionGetDebugLoc(user) : NULL;

		if (can_stand_in(l, loc))
			return l;
	}
	for (int i = 0; i < LLVMGetNumOperands(at); i++) {
		LLVMValueRef maker = LLVMIsAInstruction(LLVMGetOperand(at, (unsigned)i));
		LLVMMetadataRef l = maker ? LLVMInstructionGetDebugLoc(maker) : NULL;

		if (can_stand_in(l, loc))
			return l;
	}
	return NULL;
}

/* The first line of the blocks behind this one, or else before it. */
static LLVMMetadataRef location_nearby(LLVMValueRef at, LLVMMetadataRef loc)
{
	LLVMBasicBlockRef own = LLVMGetInstructionParent(at);

	for (int back = 0; back < 2; back++)
		for (LLVMBasicBlockRef b = own; b;
		     b = back ? LLVMGetPreviousBasicBlock(b) : LLVMGetNextBasicBlock(b))
			for (LLVMValueRef i = LLVMGetFirstInstruction(b); i;
			     i = LLVMGetNextInstruction(i))
				if (can_stand_in(LLVMInstructionGetDebugLoc(i), loc))
					return LLVMInstructionGetDebugLoc(i);
	return NULL;
}

/* An instruction that the optimiser made of two has no line (or line 0): it is named after its
 * nearest neighbour of the same function, rather the one behind it, or after what its value is used
 * for. */
static LLVMMetadataRef location_of(LLVMValueRef at)
{
	LLVMMetadataRef loc = LLVMInstructionGetDebugLoc(at), l;

	if (loc && LLVMDILocationGetLine(loc))
		return loc;
	for (int back = 0; back < 2; back++)
		for (LLVMValueRef i = at; i;
		     i = back ? LLVMGetPreviousInstruction(i) : LLVMGetNextInstruction(i)) {
			l = LLVMInstructionGetDebugLoc(i);
			if (can_stand_in(l, loc))
				return l;
		}
	l = location_of_partner(at, loc);
	l = l ? l : location_nearby(at, loc);
	return l ? l : loc;
}

void names_locate(struct program *p, LLVMValueRef f, LLVMValueRef at, struct plait_site *site)
{
	LLVMMetadataRef loc = location_of(at), scope, outer;

	if (!loc) {
		site->function = function_of(p, NULL, f);
		return;
	}
	loc = users_own(p, loc);
	scope = LLVMDILocationGetScope(loc);
	site->line = LLVMDILocationGetLine(loc);
	site->column = LLVMDILocationGetColumn(loc);
	site->file = file_of(p, scope);
	site->function = function_of(p, scope, f);
	outer = LLVMDILocationGetInlinedAt(loc);
	if (outer) {
		site->inlined_at_line = LLVMDILocationGetLine(outer);
		site->inlined_at_file = file_of(p, LLVMDILocationGetScope(outer));
	}
}

uint32_t names_object(struct program *p, LLVMValueRef ptr)
{
	struct strbuf sb = { 0 };
	uint32_t id = 0;

	if (types_describe(p, ptr, &sb))
		id = names_intern(&p->strings, strbuf_str(&sb));
	strbuf_deinit(&sb);
	return id;
}

/* What the author wrote: C++ allocates by functions nobody calls by name. */
static const char *allocator_name(LLVMValueRef f)
{
	const char *name = f ? value_name(f) : "stack";

	if (strncmp(name, "_Znw", 4) == 0)
		return "new";
	return strncmp(name, "_Zna", 4) == 0 ? "new[]" : name;
}

uint32_t names_birth(struct program *p, LLVMValueRef home)
{
	struct strbuf sb = { 0 };
	LLVMMetadataRef loc = LLVMIsAInstruction(home) ? LLVMInstructionGetDebugLoc(home) : NULL;
	LLVMValueRef f = is_call(home) ? direct_callee(home) : NULL;
	uint32_t id = 0, file;

	/* a constant that merely is in the same class is no name */
	if (LLVMIsAGlobalVariable(home) && LLVMIsGlobalConstant(home))
		return 0;
	if (LLVMIsAGlobalVariable(home) || LLVMIsAAllocaInst(home))
		id = names_object(p, home);
	if (id)
		return id;
	if (loc) {
		loc = users_own(p, loc);
		file = file_of(p, LLVMDILocationGetScope(loc));
		strbuf_addf(&sb, "%s@%s:%u", allocator_name(f), p->strings.text[file],
			    LLVMDILocationGetLine(loc));
		id = names_intern(&p->strings, strbuf_str(&sb));
	}
	strbuf_deinit(&sb);
	return id;
}
