/* cc/emit.c - optimise a variant and write its object file.
 *
 * The objects' bitcode has been through the compile-time half of clang's link-time pipeline;
 * plain gets the other half, so that mode off runs at the speed of `clang -O2`. Code generation is
 * what a link spends its time on, three times: path and full are spared what they can do without.
 */
#include "cc/variant.h"

#include "base/err.h"
#include "base/mem.h"
#include "cc/program.h"

#include <string.h>

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

static struct err *make_machine(struct program *p, char opt, LLVMTargetMachineRef *ret)
{
	LLVMCodeGenOptLevel level = opt == '0'	 ? LLVMCodeGenLevelNone
				    : opt == '1' ? LLVMCodeGenLevelLess
				    : opt == '3' ? LLVMCodeGenLevelAggressive
						 : LLVMCodeGenLevelDefault;
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

struct err *variant_emit(struct program *p, int v, char opt, bool sections, const char *path)
{
	LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
	_cleanup_(xfreep) char *pipeline = NULL;
	LLVMTargetMachineRef machine;
	LLVMErrorRef bad;
	char *message = NULL;
	struct err *err;

	err = make_machine(p,
			   v == PLAIT_VARIANT_FULL && opt != '0' ? '1'
			   : opt				 ? opt
								 : '2',
			   &machine);
	if (err)
		return err;
	if (sections)
		set_sections(p);
	if (LLVMVerifyModule(p->module, LLVMReturnStatusAction, &message))
		return take_message("the instrumented module is wrong", message);
	LLVMDisposeMessage(message);
	LLVMPassBuilderOptionsSetLoopVectorization(options, true);
	LLVMPassBuilderOptionsSetSLPVectorization(options, true);
	/* full is calls of hooks with little between them: tidying up is all it needs. Nobody looks
	 * at variables in path; the debugger runs full. */
	if (v == PLAIT_VARIANT_FULL)
		pipeline = xstrdup("globaldce,always-inline,globaldce,"
				   "function(sroa,early-cse,"
				   "instcombine<no-verify-fixpoint>,simplifycfg)");
	else
		pipeline = xasprintf("%sglobaldce,always-inline,lto<O%c>",
				     v == PLAIT_VARIANT_PATH ? "strip-nonlinetable-debuginfo," : "",
				     opt ? opt : '2');
	bad = LLVMRunPasses(p->module, pipeline, machine, options);
	LLVMDisposePassBuilderOptions(options);
	if (bad)
		return err_new(ERR_ENV, "cannot optimise: %s", LLVMGetErrorMessage(bad));
	message = NULL;
	if (LLVMTargetMachineEmitToFile(machine, p->module, path, LLVMObjectFile, &message))
		return take_message("cannot generate code", message);
	LLVMDisposeTargetMachine(machine);
	return NULL;
}
