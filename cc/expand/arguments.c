/* cc/expand/arguments.c - a call that stays gets private memory.
 *
 *	n = write(fd, shared, len)	t = in_bytes(shared, len); n = write(fd, t, len); release(t)
 *	n = read(fd, shared, len)	t = room(shared, len); n = read(fd, t, len);
 *					out_bytes(shared, t, n); release(t)
 *
 * So the accesses of the shared memory are those of the bodies, which copy it as memcpy does, and
 * the function itself touches nothing that another thread can see. */
#include "cc/analyse/calls.h"
#include "cc/analyse/plan.h"
#include "cc/expand/formats.h"
#include "cc/expand/inside.h"
#include "cc/program.h"

#include <string.h>

enum way { WAY_IN = 1, WAY_OUT = 2, WAY_INOUT = 3 };

enum length_kind {
	LENGTH_TEXT,
	LENGTH_AT_MOST,
	LENGTH_BYTES,
	LENGTH_ARG,
	LENGTH_PRODUCT,
	LENGTH_RETURNED,
	LENGTH_RECORDS,
	LENGTH_ENDED,
	LENGTH_PRINTED,
	LENGTH_ALL,
	LENGTH_LINE,
	LENGTH_MEASURED, /* by printing it (formats.c) */
	LENGTH_SCANNED,	 /* all of them, if that many were scanned */
};

struct length {
	uint8_t kind;
	uint16_t k; /* the argument, or how many bytes */
};

struct range {
	const char *name;
	uint8_t arg, way;
	struct length room, length;
};

#define TEXT	   { LENGTH_TEXT, 0 }
#define AT_MOST(k) { LENGTH_AT_MOST, k }
#define BYTES(n)   { LENGTH_BYTES, n }
#define ARG(k)	   { LENGTH_ARG, k }
#define PRODUCT(k) { LENGTH_PRODUCT, k }
#define RETURNED   { LENGTH_RETURNED, 0 }
#define RECORDS(k) { LENGTH_RECORDS, k }
#define ENDED	   { LENGTH_ENDED, 0 }
#define PRINTED(k) { LENGTH_PRINTED, k }
#define ALL	   { LENGTH_ALL, 0 }
#define LINE	   { LENGTH_LINE, 0 }

static const struct range ranges[] = {
#define IN(name, arg, ...)	  { name, arg, WAY_IN, __VA_ARGS__, ALL },
#define OUT(name, arg, room, ...) { name, arg, WAY_OUT, room, __VA_ARGS__ },
#define INOUT(name, arg, ...)	  { name, arg, WAY_INOUT, __VA_ARGS__, ALL },
#include "cc/expand/ranges.def"
#undef IN
#undef OUT
#undef INOUT
};

/* Arguments that are not the program's memory: streams lock themselves, folders are the library's. */
static const struct {
	const char *name;
	unsigned arg;
} handles[] = {
	{ "fclose", 0 },
	{ "fflush", 0 },
	{ "ferror", 0 },
	{ "feof", 0 },
	{ "clearerr", 0 },
	{ "fileno", 0 },
	{ "fseek", 0 },
	{ "ftell", 0 },
	{ "fseeko", 0 },
	{ "ftello", 0 },
	{ "rewind", 0 },
	{ "fgetc", 0 },
	{ "getc", 0 },
	{ "getc_unlocked", 0 },
	{ "ungetc", 1 },
	{ "fputc", 1 },
	{ "putc", 1 },
	{ "fputs", 1 },
	{ "fwrite", 3 },
	{ "fwrite_unlocked", 3 },
	{ "fread", 3 },
	{ "fread_unlocked", 3 },
	{ "fgets", 2 },
	{ "fprintf", 0 },
	{ "vfprintf", 0 },
	{ "__fprintf_chk", 0 },
	{ "__vfprintf_chk", 0 },
	{ "fscanf", 0 },
	{ "__isoc99_fscanf", 0 },
	{ "__isoc23_fscanf", 0 },
	{ "getline", 2 },
	{ "getdelim", 3 },
	{ "pclose", 0 },
	{ "flockfile", 0 },
	{ "funlockfile", 0 },
	{ "setbuf", 0 },
	{ "setvbuf", 0 },
	{ "setlinebuf", 0 },
	{ "_IO_getc", 0 },
	{ "_IO_putc", 1 },
	{ "closedir", 0 },
	{ "readdir", 0 },
	{ "readdir64", 0 },
	{ "dlsym", 0 },
	{ "dlclose", 0 },
	{ "munmap", 0 },
	{ "madvise", 0 },
	{ "mprotect", 0 },
	{ "msync", 0 },
	{ "exit", 0 },
	{ "atexit", 0 },
	{ "mmap", 0 },
};

static bool is_handle(const char *name, unsigned arg)
{
	for (size_t i = 0; i < ARRAY_SIZE(handles); i++)
		if (handles[i].arg == arg && strcmp(handles[i].name, name) == 0)
			return true;
	return false;
}

static const struct range *find_range(const char *name, unsigned arg)
{
	for (size_t i = 0; i < ARRAY_SIZE(ranges); i++)
		if (ranges[i].arg == arg && strcmp(ranges[i].name, name) == 0)
			return &ranges[i];
	return NULL;
}

/* ---- lengths, as values of the program ---- */

static LLVMValueRef number(struct expand *x, uint64_t v)
{
	return LLVMConstInt(LLVMInt64TypeInContext(x->p->context), v, 0);
}

static LLVMValueRef as_number(struct expand *x, LLVMValueRef v)
{
	LLVMTypeRef i64 = LLVMInt64TypeInContext(x->p->context);

	if (LLVMGetTypeKind(LLVMTypeOf(v)) == LLVMPointerTypeKind)
		return LLVMBuildPtrToInt(x->b, v, i64, "");
	return LLVMGetTypeKind(LLVMTypeOf(v)) == LLVMIntegerTypeKind
		       ? LLVMBuildSExtOrBitCast(x->b, v, i64, "")
		       : number(x, 0);
}

static LLVMValueRef argument(struct expand *x, LLVMValueRef call, unsigned k)
{
	return as_number(x, LLVMGetOperand(call, k));
}

static LLVMValueRef not_negative(struct expand *x, LLVMValueRef v)
{
	LLVMValueRef is = LLVMBuildICmp(x->b, LLVMIntSGT, v, number(x, 0), "");

	return LLVMBuildSelect(x->b, is, v, number(x, 0), "");
}

static LLVMValueRef smaller(struct expand *x, LLVMValueRef a, LLVMValueRef b)
{
	return LLVMBuildSelect(x->b, LLVMBuildICmp(x->b, LLVMIntULT, a, b, ""), a, b, "");
}

/* How many bytes there are before the call. */
static LLVMValueRef length_before(struct expand *x, LLVMValueRef call, struct length l)
{
	switch (l.kind) {
	case LENGTH_BYTES:
		return number(x, l.k);
	case LENGTH_PRODUCT:
		return LLVMBuildMul(x->b, argument(x, call, l.k), argument(x, call, l.k + 1u), "");
	default:
		return not_negative(x, argument(x, call, l.k));
	}
}

/* How many bytes the call has written of `room`. */
static LLVMValueRef length_after(struct expand *x, LLVMValueRef call, struct length l,
				 LLVMValueRef room)
{
	LLVMValueRef r = as_number(x, call), one = number(x, 1), n = not_negative(x, r);
	LLVMValueRef more = LLVMBuildAdd(x->b, n, one, "");

	switch (l.kind) {
	case LENGTH_RETURNED:
		return smaller(x, n, room);
	case LENGTH_RECORDS:
		return smaller(x, LLVMBuildMul(x->b, n, argument(x, call, l.k), ""), room);
	case LENGTH_ENDED:
		return LLVMBuildSelect(x->b, LLVMBuildICmp(x->b, LLVMIntEQ, n, number(x, 0), ""), n,
				       more, "");
	case LENGTH_PRINTED:
		more = smaller(x, more, room);
		return LLVMBuildSelect(x->b, LLVMBuildICmp(x->b, LLVMIntSLT, r, number(x, 0), ""),
				       number(x, 0), more, "");
	default: /* ALL: a function without a number as its result does not fail */
		return LLVMBuildSelect(x->b,
				       LLVMBuildICmp(x->b, LLVMIntEQ, r, number(x, ~0ull), ""),
				       number(x, 0), room, "");
	}
}

/* ---- one argument ---- */

struct moved {
	unsigned arg;
	struct range range;
	struct format format; /* what the format says, if there is one */
	LLVMValueRef shared, own, room;
	LLVMValueRef local; /* a few bytes on the stack, for `own` */
};

static LLVMValueRef copy_in(struct expand *x, LLVMValueRef call, struct moved *m)
{
	const struct range *r = &m->range;
	LLVMValueRef args[3] = { m->shared, m->local };

	if (r->room.kind == LENGTH_TEXT)
		return expand_call(x, "in_text", args, 2);
	if (r->room.kind == LENGTH_AT_MOST) {
		args[2] = m->format.most ? as_number(x, m->format.most)
					 : length_before(x, call, r->room);
		return expand_call(x, "in_some_text", args, 3);
	}
	args[2] = m->room = r->room.kind == LENGTH_MEASURED ? formats_measure(x, call, r->name)
							    : length_before(x, call, r->room);
	return expand_call(x, r->way == WAY_OUT ? "room" : "in_bytes", args, 3);
}

/* 1 when the call has assigned this one. */
static LLVMValueRef is_scanned(struct expand *x, LLVMValueRef call, const struct moved *m)
{
	LLVMValueRef is =
		LLVMBuildICmp(x->b, LLVMIntSGT, as_number(x, call), number(x, m->format.index), "");

	return LLVMBuildZExt(x->b, is, LLVMInt64TypeInContext(x->p->context), "");
}

static void copy_out(struct expand *x, LLVMValueRef call, struct moved *m)
{
	LLVMValueRef args[3] = { m->shared, m->own };

	struct length l = m->range.length;

	if (l.kind == LENGTH_LINE || m->format.kind == FORMAT_WORD) {
		args[2] = l.kind == LENGTH_LINE ? as_number(x, call) : is_scanned(x, call, m);
		expand_call(x, "out_text", args, 3);
		return;
	}
	args[2] = l.kind == LENGTH_SCANNED ? LLVMBuildMul(x->b, is_scanned(x, call, m), m->room, "")
					   : length_after(x, call, l, m->room);
	expand_call(x, l.kind == LENGTH_PRINTED ? "out_printed" : "out_bytes", args, 3);
}

/* fgets and bsearch return a place in their argument. `result` is what the program uses as the
 * call's result so far: the call itself, or what this made of it for an earlier argument. */
static LLVMValueRef move_result(struct expand *x, LLVMValueRef result, struct moved *m)
{
	LLVMValueRef args[4] = { result, m->own, m->shared, m->room }, moved, kept;

	if (!LLVMGetFirstUse(result) || !m->room ||
	    LLVMGetTypeKind(LLVMTypeOf(result)) != LLVMPointerTypeKind)
		return result;
	kept = LLVMBuildFreeze(x->b, LLVMGetUndef(LLVMTypeOf(result)), "");
	LLVMReplaceAllUsesWith(result, kept);
	pointsto_copy(&x->a->pt, result, kept);
	LLVMPositionBuilderBefore(x->b, kept);
	moved = expand_call(x, "result", args, 4);
	LLVMSetOperand(kept, 0, moved);
	LLVMPositionBuilderBefore(x->b, LLVMGetNextInstruction(kept));
	return kept;
}

/* ---- a call ---- */

enum { SMALL = 256 }; /* as in bodies/body.h */

/* What is known about an argument that may be shared; false: nothing. */
static bool classify(LLVMValueRef call, const char *name, unsigned arg, struct moved *ret)
{
	const struct range *r = find_range(name, arg);

	*ret = (struct moved){ .arg = arg, .shared = LLVMGetOperand(call, arg) };
	if (r) {
		ret->range = *r;
		return true;
	}
	ret->range.name = name;
	switch (formats_classify(call, name, arg, &ret->format)) {
	case FORMAT_TEXT:
		ret->range.way = WAY_IN;
		ret->range.room.kind = ret->format.most ? LENGTH_AT_MOST : LENGTH_TEXT;
		return true;
	case FORMAT_BUFFER:
		ret->range.way = WAY_OUT;
		ret->range.room.kind = LENGTH_MEASURED;
		ret->range.length.kind = LENGTH_PRINTED;
		return true;
	case FORMAT_NUMBER:
	case FORMAT_WORD:
		ret->range.way = WAY_OUT;
		ret->range.room = (struct length)BYTES(ret->format.bytes);
		ret->range.length.kind = LENGTH_SCANNED;
		return true;
	default:
		return false;
	}
}

/* Calls of one function share their bytes on its stack: no two of them are under way at once. */
static LLVMValueRef local_bytes(struct expand *x, LLVMValueRef f, unsigned i)
{
	LLVMTypeRef bytes = LLVMArrayType2(LLVMInt8TypeInContext(x->p->context), SMALL);
	LLVMValueRef first = LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(f));

	if (x->f != f)
		memset(x->local, 0, sizeof(x->local));
	x->f = f;
	if (!x->local[i]) {
		LLVMPositionBuilderBefore(x->b, first);
		x->local[i] = LLVMBuildAlloca(x->b, bytes, "");
		LLVMSetAlignment(x->local[i], 16);
	}
	return x->local[i];
}

/* The bodies before the call; the last argument first: the room for what is printed depends on
 * them. */
static void move_before(struct expand *x, LLVMValueRef call, struct moved *moved, unsigned n)
{
	LLVMValueRef f = LLVMGetBasicBlockParent(LLVMGetInstructionParent(call));

	for (unsigned i = 0; i < n; i++)
		moved[i].local = local_bytes(x, f, i);
	LLVMPositionBuilderBefore(x->b, call);
	for (unsigned i = n; i-- > 0;) {
		moved[i].own = copy_in(x, call, &moved[i]);
		LLVMSetOperand(call, moved[i].arg, moved[i].own);
	}
}

static void move_after(struct expand *x, LLVMValueRef call, struct moved *moved, unsigned n)
{
	LLVMValueRef result = call;

	for (unsigned i = 0; i < n; i++)
		if (moved[i].room)
			result = move_result(x, result, &moved[i]);
	for (unsigned i = 0; i < n; i++) {
		if (moved[i].range.way & WAY_OUT)
			copy_out(x, call, &moved[i]);
		expand_call(x, "release", (LLVMValueRef[]){ moved[i].own, moved[i].local }, 2);
	}
}

static bool is_address_only(LLVMValueRef call, const char *name, unsigned arg)
{
	struct format f;

	return formats_classify(call, name, arg, &f) == FORMAT_POINTER;
}

bool arguments_expand(struct expand *x, LLVMValueRef call, const char *name)
{
	LLVMValueRef behind = call_behind(call);
	struct moved moved[EXPAND_MOVED];
	unsigned n = 0;
	bool all = true;

	for (unsigned i = 0; i < LLVMGetNumArgOperands(call); i++) {
		if (!expand_is_hot(x, LLVMGetOperand(call, i)) || is_handle(name, i) ||
		    is_address_only(call, name, i))
			continue;
		if (behind && n < EXPAND_MOVED && classify(call, name, i, &moved[n]))
			n++;
		else
			all = false;
	}
	if (!n)
		return all;
	if (LLVMIsACallInst(call))
		LLVMSetTailCall(call, false);
	move_before(x, call, moved, n);
	LLVMPositionBuilderBefore(x->b, behind);
	LLVMSetCurrentDebugLocation2(x->b, LLVMInstructionGetDebugLoc(call));
	move_after(x, call, moved, n);
	return all;
}
