/* cc/instrument/emit.c - optimise a variant and write its object file.
 *
 * The objects' bitcode has been through the compile-time half of clang's link-time pipeline;
 * plain gets the other half, so that mode off runs at the speed of `clang -O2`. Code generation is
 * what a link spends its time on, five times: the others are spared what they can do without. Most
 * functions of path and full are hooks with little between them, and those get no optimised code
 * ("optnone"): it would not make a difference. In full they get an object of their own (halves.c).
 *
 * AddressSanitizer's pass comes last. What it must not see are accesses that a hook makes: full.c
 * calls its checks by itself. */
#include "cc/instrument/variant.h"

#include "base/err.h"
#include "base/mem.h"
#include "cc/instrument/halves.h"
#include "cc/program.h"
#include "cc/times.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define STACK_SIZE ((size_t)1 << 28) /* LLVM calls itself deeply; only what it uses is there */

static struct err *take_message(const char *what, char *text)
{
	struct err *err = err_new(ERR_ENV, "%s: %s", what, text ? text : "no reason given");

	LLVMDisposeMessage(text);
	return err;
}

static bool module_is_pic(LLVMModuleRef m)
{
	return LLVMGetModuleFlag(m, "PIC Level", 9) != NULL;
}

static LLVMCodeGenOptLevel level_of(const struct program *p, int v, char opt)
{
	if (p->absent[PLAIT_VARIANT_PLAIN] || opt == '0')
		return LLVMCodeGenLevelNone;
	if (v == PLAIT_VARIANT_FULL || opt == '1')
		return LLVMCodeGenLevelLess;
	return opt == '3' ? LLVMCodeGenLevelAggressive : LLVMCodeGenLevelDefault;
}

static struct err *make_machine(struct program *p, LLVMCodeGenOptLevel level,
				LLVMTargetMachineRef *ret)
{
	const char *triple = LLVMGetTarget(p->module);
	LLVMTargetRef target;
	char *message;

	LLVMInitializeX86TargetInfo();
	LLVMInitializeX86Target();
	LLVMInitializeX86TargetMC();
	LLVMInitializeX86AsmPrinter();
	LLVMInitializeX86AsmParser();
	if (LLVMGetTargetFromTriple(triple, &target, &message))
		return take_message("cannot generate code", message);
	*ret = LLVMCreateTargetMachine(target, triple, "x86-64", "", level,
				       module_is_pic(p->module) ? LLVMRelocPIC : LLVMRelocStatic,
				       LLVMCodeModelDefault);
	return NULL;
}

/* As -ffunction-sections -fdata-sections: the link wants to drop what is unused. */
static void set_sections(struct program *p)
{
	for_each_function(f, p->module)
	{
		_cleanup_(xfreep) char *name = xasprintf(".text.%s", value_name(f));

		if (!LLVMIsDeclaration(f) && !has_section(f) && !LLVMGetComdat(f))
			LLVMSetSection(f, name);
	}
}

/* A function gains nothing from optimised code when one of PER_HOOK instructions there is a hook,
 * which costs more, and when at most one of PER_STRETCH is part of a long stretch without. A branch
 * bit does not count, it is no call. */
#define PER_HOOK      16
#define SHORT_STRETCH 24
#define PER_STRETCH   16

static bool is_hook(LLVMValueRef i)
{
	LLVMValueRef f = is_call(i) ? direct_callee(i) : NULL;

	return f && LLVMIsDeclaration(f) && strncmp(value_name(f), "plait_", 6) == 0;
}

static bool is_all_hooks(LLVMValueRef f)
{
	unsigned hooks = 0, all = 0, without = 0;

	for_each_block(b, f)
	{
		unsigned stretch = 0;

		for_each_instruction(i, b)
		{
			all++;
			hooks += is_hook(i);
			stretch = is_hook(i) ? 0 : stretch + 1;
			if (stretch > SHORT_STRETCH)
				without += stretch == SHORT_STRETCH + 1 ? stretch : 1;
		}
	}
	return hooks * PER_HOOK >= all && without * PER_STRETCH <= all;
}

/* After the passes, before code generation. */
static void leave_unoptimised(struct program *p)
{
	for_each_function(f, p->module)
	{
		if (LLVMIsDeclaration(f) || !is_all_hooks(f))
			continue;
		function_remove_attribute(f, "alwaysinline");
		function_remove_attribute(f, "optsize");
		function_remove_attribute(f, "minsize");
		function_add_attribute(f, "noinline");
		function_add_attribute(f, "optnone");
	}
}

/* order: where a run crashed is told by the name of the function, which must not depend on what was
 * inlined; the full variant, which replays it, inlines nothing more either. */
static void keep_calls(struct program *p)
{
	for_each_function(f, p->module)
	{
		if (!LLVMIsDeclaration(f) && !function_attribute(f, "alwaysinline"))
			function_add_attribute(f, "noinline");
	}
}

/* path, graph and order have no variables, but LLVM would look where they are all the same. Global,
 * hence once, in the child that makes the variant. */
static void spare_variables(void)
{
	static const char *const words[] = { "unplait-cc",
					     "-experimental-debug-variable-locations=0" };

	LLVMParseCommandLineOptions(2, words, "");
}

/* AddressSanitizer's checks as calls: less code to generate where speed is not the point. Global,
 * too. */
static void outline_checks(void)
{
	static const char *const words[] = { "unplait-cc",
					     "-asan-instrumentation-with-call-threshold=0" };

	LLVMParseCommandLineOptions(2, words, "");
}

static bool has_asan(const struct program *p)
{
	for_each_function(f, p->module) if (!LLVMIsDeclaration(f) &&
					    function_attribute(f, "sanitize_address")) return true;
	return false;
}

struct generation {
	LLVMTargetMachineRef machine;
	LLVMModuleRef module;
	const char *path;
	char *message;
	bool failed;
};

static void *generate_code(void *arg)
{
	struct generation *g = arg;

	g->failed = LLVMTargetMachineEmitToFile(g->machine, g->module, (char *)g->path,
						LLVMObjectFile, &g->message);
	return NULL;
}

/* In a thread of its own: there our heap begins anew (cc/driver/heap.c). In the one where the module has lost
 * most of its functions, or its variables, every block would lie in a hole far from the one before. */
static struct err *generate(LLVMTargetMachineRef machine, LLVMModuleRef m, const char *path)
{
	struct generation g = { machine, m, path, NULL, false };
	pthread_attr_t attributes;
	pthread_t thread;
	int bad;

	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, STACK_SIZE);
	bad = pthread_create(&thread, &attributes, generate_code, &g);
	pthread_attr_destroy(&attributes);
	if (bad)
		return err_new(ERR_ENV, "cannot start a thread");
	pthread_join(thread, NULL);
	return g.failed ? take_message("cannot generate code", g.message) : NULL;
}

/* The functions that consist of hooks: unoptimised code, in an object of its own. */
static struct err *generate_hooks(struct program *p, const char *path)
{
	LLVMTargetMachineRef machine;
	struct err *err = make_machine(p, LLVMCodeGenLevelNone, &machine);

	if (!err)
		err = halves_keep(p->module, true);
	if (!err)
		err = generate(machine, p->module, path);
	times_note("generate hooks", PLAIT_VARIANT_FULL);
	return err;
}

static struct err *join(pid_t hooks)
{
	int st;

	if (hooks < 0)
		return err_new(ERR_ENV, "cannot start a process");
	if (waitpid(hooks, &st, 0) != hooks || st != 0)
		return err_new(ERR_ENV, "cannot generate code for hooks");
	return NULL;
}

/* Each half by a process of its own, at the same time. */
static struct err *generate_halves(struct program *p, LLVMTargetMachineRef machine,
				   const char *path, const char *hooks)
{
	struct err *err, *other;
	pid_t pid;

	halves_publish(p->module, ".plait.full");
	fflush(NULL);
	pid = fork();
	if (pid == 0)
		_exit(generate_hooks(p, hooks) ? 3 : 0);
	err = halves_keep(p->module, false);
	if (!err)
		err = generate(machine, p->module, path);
	other = join(pid);
	if (!err)
		return other;
	err_free(other);
	return err;
}

/* full is calls of hooks with little between them: tidying up is all it needs; graph has been
 * optimised when it was compiled, and would not be vectorised. path is as it was compiled, too, and
 * its bits and values stay where they are: what the other files of the program give to inline, and
 * what plain gets of loops without them, is all there is to gain. Nobody looks at variables in path;
 * the debugger runs full. */
static char *pipeline_of(int v, char opt)
{
	const char *strip = v == PLAIT_VARIANT_PLAIN || v == PLAIT_VARIANT_FULL
				    ? ""
				    : "strip-nonlinetable-debuginfo,";

	if (v == PLAIT_VARIANT_FULL || v == PLAIT_VARIANT_GRAPH)
		return xasprintf("%sglobaldce,always-inline,globaldce,"
				 "function(sroa,early-cse,"
				 "instcombine<no-verify-fixpoint>,simplifycfg)",
				 strip);
	if (v == PLAIT_VARIANT_PATH && opt != '0')
		return xasprintf("%sglobaldce,always-inline,globaldce,cgscc(inline),globaldce,"
				 "function<eager-inv>(sroa,early-cse<memssa>,"
				 "instcombine<no-verify-fixpoint>,simplifycfg,loop-mssa(licm),"
				 "loop-vectorize,slp-vectorizer,simplifycfg)",
				 strip);
	return xasprintf("%sglobaldce,always-inline,lto<O%c>", strip, opt ? opt : '2');
}

struct err *variant_emit(struct program *p, int v, char opt, bool sections, const char *path,
			 const char *hooks)
{
	const LLVMCodeGenOptLevel level = level_of(p, v, opt);
	LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
	_cleanup_(xfreep) char *pipeline = NULL;
	LLVMTargetMachineRef machine;
	LLVMErrorRef bad;
	char *message = NULL;
	struct err *err;

	err = make_machine(p, level, &machine);
	if (err)
		return err;
	if (v == PLAIT_VARIANT_ORDER)
		keep_calls(p);
	if (sections)
		set_sections(p);
	if (LLVMVerifyModule(p->module, LLVMReturnStatusAction, &message))
		return take_message("the instrumented module is wrong", message);
	LLVMDisposeMessage(message);
	times_note("instrument", v);
	if (v != PLAIT_VARIANT_PLAIN && v != PLAIT_VARIANT_FULL)
		spare_variables();
	LLVMPassBuilderOptionsSetLoopVectorization(options, true);
	LLVMPassBuilderOptionsSetSLPVectorization(options, true);
	pipeline = pipeline_of(v, opt);
	bad = LLVMRunPasses(p->module, pipeline, machine, options);
	if (!bad && has_asan(p)) {
		if (v != PLAIT_VARIANT_PLAIN)
			outline_checks();
		bad = LLVMRunPasses(p->module, "asan", machine, options);
	}
	LLVMDisposePassBuilderOptions(options);
	if (bad)
		return err_new(ERR_ENV, "cannot optimise: %s", LLVMGetErrorMessage(bad));
	if (v == PLAIT_VARIANT_PATH || v == PLAIT_VARIANT_FULL)
		leave_unoptimised(p);
	times_note("optimise", v);
	if (hooks && v == PLAIT_VARIANT_FULL && level != LLVMCodeGenLevelNone &&
	    halves_are_worth_it(p->module))
		err = generate_halves(p, machine, path, hooks);
	else
		err = generate(machine, p->module, path);
	times_note("generate code", v);
	LLVMDisposeTargetMachine(machine);
	return err;
}
