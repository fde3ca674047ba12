#include "cc/analyse/calls.h"

#include "base/mem.h"
#include "cc/analyse/summaries.h"

#include <string.h>

static const struct {
	const char *name, *ours;
} redirections[] = {
	{ "malloc", "plait_malloc" },
	{ "calloc", "plait_calloc" },
	{ "realloc", "plait_realloc" },
	{ "reallocarray", "plait_reallocarray" },
	{ "memalign", "plait_memalign" },
	{ "aligned_alloc", "plait_memalign" },
	{ "posix_memalign", "plait_posix_memalign" },
	{ "free", "plait_free" },
};

/* Allocators that stay as they are; the block is noted afterwards. */
static const char *const allocators[] = {
	"strdup", "strndup", "valloc", "pvalloc", "__strdup", "__strndup",
};

/* Results that come from outside: the world, time, chance, and the schedule. */
static const char *const inputs[] = {
#define INPUT(name) name,
#include "unplait/inputs.def"
#undef INPUT
};

/* Cannot block, cannot be scheduled, touch nothing but their arguments. */
static const char *const nothing[] = {
	"strlen",
	"strnlen",
	"strcmp",
	"strncmp",
	"strcasecmp",
	"strncasecmp",
	"strchr",
	"strrchr",
	"strstr",
	"strspn",
	"strcspn",
	"strpbrk",
	"memcmp",
	"bcmp",
	"memchr",
	"memrchr",
	"rawmemchr",
	"strchrnul",
	"strtol",
	"strtoul",
	"strtoll",
	"strtoull",
	"strtod",
	"strtof",
	"atoi",
	"atol",
	"atof",
	"abs",
	"labs",
	"llabs",
	"div",
	"ldiv",
	"toupper",
	"tolower",
	"isalpha",
	"isdigit",
	"isspace",
	"isalnum",
	"ffs",
	"ffsl",
	"__ctype_b_loc",
	"__ctype_tolower_loc",
	"__ctype_toupper_loc",
	"__errno_location",
	"sin",
	"cos",
	"tan",
	"asin",
	"acos",
	"atan",
	"atan2",
	"sinh",
	"cosh",
	"tanh",
	"exp",
	"exp2",
	"expm1",
	"log",
	"log2",
	"log10",
	"log1p",
	"pow",
	"sqrt",
	"cbrt",
	"hypot",
	"fmod",
	"floor",
	"ceil",
	"round",
	"lround",
	"llround",
	"rint",
	"lrint",
	"trunc",
	"fabs",
	"ldexp",
	"frexp",
	"modf",
	"sinf",
	"cosf",
	"tanf",
	"expf",
	"logf",
	"powf",
	"sqrtf",
	"floorf",
	"ceilf",
	"fabsf",
	"fmodf",
	"roundf",
	"htons",
	"htonl",
	"ntohs",
	"ntohl",
	"__assert_fail",
	"__stack_chk_fail",
};

static bool is_in(const char *const *list, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(list[i], name) == 0)
			return true;
	return false;
}
#define IS_IN(list, name) is_in(list, ARRAY_SIZE(list), name)

const char *call_redirection(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(redirections); i++)
		if (strcmp(redirections[i].name, name) == 0)
			return redirections[i].ours;
	return NULL;
}

bool call_is_new(const char *name)
{
	return strncmp(name, "_Znwm", 5) == 0 || strncmp(name, "_Znam", 5) == 0;
}

bool call_is_delete(const char *name)
{
	return strncmp(name, "_ZdlPv", 6) == 0 || strncmp(name, "_ZdaPv", 6) == 0;
}

static enum call_kind classify_intrinsic(const char *name)
{
	if (strncmp(name, "llvm.memcpy.", 12) == 0 || strncmp(name, "llvm.memmove.", 13) == 0)
		return CALL_MEMCPY;
	if (strncmp(name, "llvm.memset.", 12) == 0)
		return CALL_MEMSET;
	return CALL_NOTHING;
}

enum call_kind call_classify(LLVMValueRef call)
{
	LLVMValueRef f = direct_callee(call);

	if (!f)
		return LLVMIsAInlineAsm(LLVMGetCalledValue(call)) ? CALL_NOTHING : CALL_OURS;
	return call_classify_function(f);
}

enum call_kind call_classify_function(LLVMValueRef f)
{
	const char *name = value_name(f);
	const struct summary *s;

	if (strncmp(name, "llvm.", 5) == 0)
		return classify_intrinsic(name);
	if (!LLVMIsDeclaration(f))
		return CALL_OURS;
	if (strcmp(name, "free") == 0 || call_is_delete(name))
		return CALL_FREE;
	if (call_redirection(name) || IS_IN(allocators, name) || call_is_new(name))
		return CALL_ALLOC;
	if (IS_IN(inputs, name))
		return CALL_INPUT;
	if (IS_IN(nothing, name) || strncmp(name, "__asan_", 7) == 0 ||
	    strncmp(name, "__ubsan_", 8) == 0)
		return CALL_NOTHING;
	/* nobody can say again what an unknown function returned */
	s = summary_find(name);
	return s && !s->input && !summary_is_input(s) ? CALL_EXTERNAL : CALL_INPUT;
}

LLVMValueRef call_behind(LLVMValueRef call)
{
	LLVMBasicBlockRef to;
	LLVMValueRef next;
	LLVMUseRef use;

	if (LLVMIsACallInst(call))
		return LLVMGetTailCallKind(call) == LLVMTailCallKindMustTail
			       ? NULL
			       : LLVMGetNextInstruction(call);
	if (!LLVMIsAInvokeInst(call))
		return NULL;
	to = LLVMGetNormalDest(call);
	use = LLVMGetFirstUse(LLVMBasicBlockAsValue(to));
	if (!use || LLVMGetNextUse(use)) /* somebody else comes there */
		return NULL;
	next = LLVMGetFirstInstruction(to);
	while (LLVMIsAPHINode(next))
		next = LLVMGetNextInstruction(next);
	return next;
}
