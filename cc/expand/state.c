/* cc/expand/state.c - calls that read or change what threads share outside of the program's memory.
 *
 * Such a call (state.def) gets an atomic access in front, of the object that stands for the state. The two are one
 * step: nothing between them is a scheduling point. So every search treats the calls as it treats accesses of a
 * variable, and which of them commute is decided in one place. The access is relaxed: it orders nothing, and hides
 * no data race. The plain variant has none of this. */
#include "cc/analyse/calls.h"
#include "cc/analyse/summaries.h"
#include "cc/expand/inside.h"
#include "cc/program.h"

#include <string.h>

enum how { HARMLESS_CALL, NAMED_CALL, READING_CALL, CHANGING_CALL };

struct row {
	const char *state; /* NULL: none */
	enum how how;
	bool math;
	const char *const *names; /* ends with NULL */
};

#define LIST(...)                                                                                  \
	(const char *const[])                                                                      \
	{                                                                                          \
		__VA_ARGS__, NULL                                                                  \
	}
static const struct row rows[] = {
#define READS(state, ...)   { #state, READING_CALL, false, LIST(__VA_ARGS__) },
#define CHANGES(state, ...) { #state, CHANGING_CALL, false, LIST(__VA_ARGS__) },
#define NAMED(...)	    { NULL, NAMED_CALL, false, LIST(__VA_ARGS__) },
#define HARMLESS(...)	    { NULL, HARMLESS_CALL, false, LIST(__VA_ARGS__) },
#define MATH(...)	    { NULL, HARMLESS_CALL, true, LIST(__VA_ARGS__) },
#include "cc/expand/state.def"
#undef READS
#undef CHANGES
#undef NAMED
#undef HARMLESS
#undef MATH
};

/* The runtime takes these over: they are points of their own, or answer the same in every run. */
static const char *const taken_over[] = {
#define INTERPOSE(ret, name, params) #name,
#include "unplait/libc.def"
#undef INTERPOSE
};

/* ---- names ---- */

static bool begins(const char *name, const char *prefix)
{
	return strncmp(name, prefix, strlen(prefix)) == 0;
}

/* "open" in "open64"; `n` bytes of the name count. */
static bool is_math(const char *name, size_t n, const char *base)
{
	size_t len = strlen(base);

	return strncmp(name, base, len) == 0 &&
	       (n == len || (n == len + 1 && (name[len] == 'f' || name[len] == 'l')));
}

static const struct row *find_exactly(const char *name, size_t n)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		for (const char *const *at = rows[i].names; *at; at++)
			if (rows[i].math ? is_math(name, n, *at)
					 : strlen(*at) == n && strncmp(name, *at, n) == 0)
				return &rows[i];
	return NULL;
}

/* A name without what glibc and its headers put around it. */
static const struct row *find(const char *name)
{
	static const char *const prefixes[] = { "__isoc99_", "__isoc23_", "__" };
	static const char *const suffixes[] = { "_chk", "_2", "64" };
	const struct row *row = find_exactly(name, strlen(name));

	for (size_t i = 0; !row && i < ARRAY_SIZE(prefixes); i++)
		if (begins(name, prefixes[i])) {
			name += strlen(prefixes[i]);
			row = find_exactly(name, strlen(name));
			break;
		}
	for (size_t i = 0; !row && i < ARRAY_SIZE(suffixes); i++) {
		size_t n = strlen(name), k = strlen(suffixes[i]);

		if (n > k && strcmp(name + n - k, suffixes[i]) == 0)
			row = find_exactly(name, n - k);
	}
	return row;
}

/* Members of the C++ library that are not in the table. Most work on their objects, whose accesses are the
 * program's; those of files are not. */
static bool is_of_cxx_files(const char *name)
{
	return begins(name, "_ZNSt10filesystem") || begins(name, "_ZNKSt10filesystem") ||
	       strstr(name, "basic_filebuf") || strstr(name, "basic_ifstream") ||
	       strstr(name, "basic_ofstream") || strstr(name, "basic_fstream");
}

static bool is_of_cxx(const char *name)
{
	static const char *const prefixes[] = {
		"_ZNS", "_ZNKS", "_ZNVKS", "_ZS",  "_ZN9__gnu_cxx",  "_ZN10__cxxabiv1",
		"_Zn",	"_Zd",	 "_ZTh",   "_ZTv", "__dynamic_cast", "__gxx"
	};

	for (size_t i = 0; i < ARRAY_SIZE(prefixes); i++)
		if (begins(name, prefixes[i]))
			return true;
	return false;
}

/* Tools of compilers and the runtime's own. */
static bool is_of_tools(const char *name)
{
	static const char *const prefixes[] = { "llvm.",	"plait_",   "__llvm_",	  "__gcov",
						"__asan_",	"__ubsan_", "__lsan_",	  "__tsan_",
						"__sanitizer_", "Annotate", "__VERIFIER_" };

	for (size_t i = 0; i < ARRAY_SIZE(prefixes); i++)
		if (begins(name, prefixes[i]))
			return true;
	return false;
}

static bool is_taken_over(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(taken_over); i++)
		if (strcmp(name, taken_over[i]) == 0)
			return true;
	return false;
}

bool state_is_known(const char *name)
{
	const struct row *row = find(name);

	if (row)
		return row->how != NAMED_CALL;
	return is_of_cxx(name) || is_of_tools(name) || is_taken_over(name) || summary_find(name);
}

/* ---- the access ---- */

/* What goes to these is seen by nobody in the process. */
static bool is_standard_stream(LLVMValueRef v)
{
	const char *name;

	if (!LLVMIsALoadInst(v) || !LLVMIsAGlobalVariable(LLVMGetOperand(v, 0)))
		return false;
	name = value_name(LLVMGetOperand(v, 0));
	return strcmp(name, "stdout") == 0 || strcmp(name, "stderr") == 0;
}

static bool is_for_people(LLVMValueRef call)
{
	for (unsigned i = 0; i < LLVMGetNumArgOperands(call); i++)
		if (is_standard_stream(LLVMGetOperand(call, i)))
			return true;
	return false;
}

static LLVMValueRef object(struct expand *x, const char *state)
{
	_cleanup_(xfreep) char *name = xasprintf("plait_state_%s", state);
	LLVMValueRef g = LLVMGetNamedGlobal(x->p->module, name);

	if (!g) {
		g = LLVMAddGlobal(x->p->module, LLVMInt64TypeInContext(x->p->context), name);
		LLVMSetLinkage(g, LLVMExternalLinkage);
	}
	return g;
}

void state_access(struct expand *x, LLVMValueRef call, const char *name)
{
	LLVMTypeRef word = LLVMInt64TypeInContext(x->p->context),
		    half = LLVMInt32TypeInContext(x->p->context);
	const struct row *row = find(name);
	bool changes, value;
	LLVMValueRef at, access;

	if (row && (!row->state || is_for_people(call)))
		return;
	if (!row && !is_of_cxx_files(name))
		return;
	value = row && strcmp(row->state, "value") == 0;
	changes = !row || row->how == CHANGING_CALL;
	at = value ? LLVMGetOperand(call, 0) : object(x, row ? row->state : "files");
	LLVMPositionBuilderBefore(x->b, call);
	LLVMSetCurrentDebugLocation2(x->b, LLVMInstructionGetDebugLoc(call));
	if (changes) {
		access = LLVMBuildAtomicRMW(x->b, LLVMAtomicRMWBinOpAdd, at,
					    LLVMConstInt(word, 1, 0), LLVMAtomicOrderingMonotonic,
					    0);
	} else {
		access = LLVMBuildLoad2(x->b, value ? half : word, at, "");
		LLVMSetOrdering(access, LLVMAtomicOrderingMonotonic);
		LLVMSetVolatile(access, true);
		LLVMSetAlignment(access, value ? 4 : 8);
	}
}
