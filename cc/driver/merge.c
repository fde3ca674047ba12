/* cc/driver/merge.c - one module out of the bitcode of all objects. */
#include "cc/driver/merge.h"

#include "base/err.h"
#include "base/mem.h"
#include "cc/driver/objects.h"
#include "cc/program.h"

#include <stdlib.h>

static void on_diagnostic(LLVMDiagnosticInfoRef info, void *context)
{
	struct program *p = context;
	char *text;

	if (LLVMGetDiagInfoSeverity(info) != LLVMDSError)
		return;
	text = LLVMGetDiagInfoDescription(info);
	free(p->error);
	p->error = xstrdup(text);
	LLVMDisposeMessage(text);
}

static struct err *llvm_error(struct program *p, const char *what, const struct object *o)
{
	return err_new(ERR_ENV, "%s %s%s%s%s: %s", what, o->path, o->member ? "(" : "",
		       o->member ? o->member : "", o->member ? ")" : "",
		       p->error ? p->error : "no reason given");
}

struct err *merge_objects(struct program *p, const struct object_list *objects)
{
	p->context = LLVMContextCreate();
	LLVMContextSetDiagnosticHandler(p->context, on_diagnostic, p);
	for (size_t i = 0; i < objects->len; i++) {
		const struct object *o = &objects->data[i];

		for (size_t j = 0; j < o->blobs.len; j++) {
			LLVMMemoryBufferRef buf = LLVMCreateMemoryBufferWithMemoryRange(
				(const char *)o->blobs.data[j].data, o->blobs.data[j].len, o->path,
				false);
			LLVMModuleRef m;
			int bad = LLVMParseBitcodeInContext2(p->context, buf, &m);

			LLVMDisposeMemoryBuffer(buf);
			if (bad)
				return llvm_error(p, "cannot read the bitcode of", o);
			if (!p->module)
				p->module = m;
			else if (LLVMLinkModules2(p->module, m))
				return llvm_error(p, "cannot merge the bitcode of", o);
		}
	}
	p->layout = LLVMGetModuleDataLayout(p->module);
	return NULL;
}
