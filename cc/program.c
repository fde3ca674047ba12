/* cc/program.c - the program that every room of cc works on. */
#include "cc/program.h"

#include "base/err.h"
#include "base/file.h"
#include "base/strbuf.h"

#include <stdlib.h>
#include <string.h>
#include <zstd.h>

bool program_is_exported(const struct program *p, LLVMValueRef global)
{
	const char *name = value_name(global);

	if (is_local(global) || LLVMIsDeclaration(global) || strcmp(name, "main") == 0)
		return false;
	if (p->unit)
		return true;
	if (p->library)
		return LLVMGetVisibility(global) == LLVMDefaultVisibility;
	return names_find(&p->external_refs, name) != NAMES_NONE;
}

struct err *bitcode_pack(const void *data, size_t len, struct strbuf *ret)
{
	size_t before = ret->len, cap = ZSTD_compressBound(len), n;
	ZSTD_CCtx *zstd = ZSTD_createCCtx();

	/* with a checksum: LLVM aborts on damaged bitcode, so the reader must notice before it */
	ZSTD_CCtx_setParameter(zstd, ZSTD_c_checksumFlag, 1);
	strbuf_pad(ret, 0, cap);
	n = ZSTD_compress2(zstd, ret->data + before, cap, data, len);
	ZSTD_freeCCtx(zstd);
	ret->len = before + (ZSTD_isError(n) ? 0 : n);
	return ZSTD_isError(n)
		       ? err_new(ERR_ENV, "cannot compress the bitcode: %s", ZSTD_getErrorName(n))
		       : NULL;
}

struct err *program_write_bitcode(struct program *p, const char *path)
{
	LLVMMemoryBufferRef buf = LLVMWriteBitcodeToMemoryBuffer(p->module);
	_cleanup_(strbuf_deinit) struct strbuf out = { 0 };
	struct err *err = bitcode_pack(LLVMGetBufferStart(buf), LLVMGetBufferSize(buf), &out);

	LLVMDisposeMemoryBuffer(buf);
	return err ? err : file_write(path, out.data, out.len);
}

void program_forget_sites(struct program *p)
{
	p->sites.len = p->elements.len = 0;
	names_deinit(&p->strings);
	names_deinit(&p->unseen);
	p->strings = p->unseen = (struct names){ 0 };
	p->counts = (struct plait_sites_header){ 0 };
}

void program_deinit(struct program *p)
{
	for (size_t i = 0; i < p->fns.len; i++)
		free(p->fns.data[i].name);
	vec_deinit(&p->fns);
	map_deinit(&p->fn_index);
	map_deinit(&p->variables);
	map_deinit(&p->locals);
	map_deinit(&p->looked);
	vec_deinit(&p->looks);
	vec_deinit(&p->plans);
	vec_deinit(&p->atomics);
	racing_deinit(&p->racing);
	vec_deinit(&p->sites);
	vec_deinit(&p->elements);
	names_deinit(&p->strings);
	names_deinit(&p->external_refs);
	names_deinit(&p->unseen);
	free(p->error);
	if (p->module)
		LLVMDisposeModule(p->module);
	if (p->context)
		LLVMContextDispose(p->context);
}

unsigned scalar_size(LLVMTypeRef t)
{
	switch (LLVMGetTypeKind(t)) {
	case LLVMPointerTypeKind:
		return LLVMGetPointerAddressSpace(t) == 0 ? 8 : 0;
	case LLVMFloatTypeKind:
		return 4;
	case LLVMDoubleTypeKind:
		return 8;
	case LLVMHalfTypeKind:
	case LLVMBFloatTypeKind:
		return 2;
	case LLVMIntegerTypeKind:
		switch (LLVMGetIntTypeWidth(t)) {
		case 1:
		case 8:
			return 1;
		case 16:
			return 2;
		case 32:
			return 4;
		case 64:
			return 8;
		}
		return 0;
	default:
		return 0;
	}
}
