/* cc/expand/formats.c - what a constant format says about the arguments of printf and scanf.
 *
 * A format that is not constant says nothing: then the call stays unseen. */
#include "cc/expand/formats.h"

#include "base/mem.h"
#include "cc/expand/inside.h"
#include "cc/program.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static const struct function {
	const char *name;
	unsigned format; /* which argument; the next is the first it speaks of */
	bool scans;
} functions[] = {
	{ "printf", 0, false },		{ "fprintf", 1, false },
	{ "dprintf", 1, false },	{ "sprintf", 1, false },
	{ "snprintf", 2, false },	{ "asprintf", 1, false },
	{ "syslog", 1, false },		{ "__printf_chk", 1, false },
	{ "__fprintf_chk", 2, false },	{ "__sprintf_chk", 3, false },
	{ "__snprintf_chk", 4, false }, { "scanf", 0, true },
	{ "sscanf", 1, true },		{ "fscanf", 1, true },
	{ "__isoc99_scanf", 0, true },	{ "__isoc99_sscanf", 1, true },
	{ "__isoc99_fscanf", 1, true }, { "__isoc23_scanf", 0, true },
	{ "__isoc23_sscanf", 1, true }, { "__isoc23_fscanf", 1, true },
};

static const struct function *find(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(functions); i++)
		if (strcmp(functions[i].name, name) == 0)
			return &functions[i];
	return NULL;
}

/* NULL: not constant. */
static const char *text_of(LLVMValueRef v)
{
	LLVMValueRef init = LLVMIsAGlobalVariable(v) ? LLVMGetInitializer(v) : NULL;
	size_t n;

	if (!init || !LLVMIsGlobalConstant(v) || !LLVMIsConstantString(init))
		return NULL;
	return LLVMGetAsString(init, &n);
}

static const char *skip_digits(const char *s)
{
	while (isdigit((unsigned char)*s))
		s++;
	return s;
}

/* Size of what a conversion with these length letters stores. */
static unsigned stored_bytes(const char *length, size_t n, char conversion)
{
	bool is_real = strchr("aAeEfFgG", conversion) != NULL;

	if (conversion == 'p' || (n && strchr("jztq", length[0])))
		return 8;
	if (is_real)
		return !n ? 4 : length[0] == 'L' ? 16 : 8;
	return !n ? 4 : length[0] == 'h' ? (n == 2 ? 1 : 2) : 8;
}

/* One directive, behind its `%`. */
struct directive {
	const char *end; /* behind it */
	char conversion;
	bool star_width, star_precision, has_precision, discards;
	unsigned width, precision, bytes;
};

static struct directive parse(const char *s, bool scans)
{
	struct directive d = { 0 };
	const char *length;

	for (; *s && strchr(scans ? "*'" : "-+ #0'I", *s); s++)
		d.discards |= scans && *s == '*';
	d.star_width = !scans && *s == '*';
	d.width = (unsigned)strtoul(s, NULL, 10);
	s = d.star_width ? s + 1 : skip_digits(s);
	if (!scans && *s == '.') {
		s++;
		d.has_precision = true;
		d.star_precision = *s == '*';
		d.precision = (unsigned)strtoul(s, NULL, 10);
		s = d.star_precision ? s + 1 : skip_digits(s);
	}
	length = s;
	while (*s && strchr("hlLqjzt", *s))
		s++;
	d.conversion = *s;
	d.bytes = stored_bytes(length, (size_t)(s - length), *s);
	if (scans && *s == '[') {
		s += s[1] == '^' ? 2 : 1;
		s += *s == ']';
		while (*s && *s != ']')
			s++;
	}
	d.end = *s ? s + 1 : s;
	return d;
}

static enum format_kind printed(LLVMValueRef call, const char *s, unsigned at, unsigned arg,
				struct format *ret)
{
	while ((s = strchr(s, '%'))) {
		struct directive d = parse(s + 1, false);
		LLVMTypeRef i32 = LLVMInt32TypeInContext(LLVMGetTypeContext(LLVMTypeOf(call)));

		s = d.end;
		if (d.conversion == '%' || !d.conversion || d.conversion == 'm')
			continue;
		at += d.star_width;
		if (d.star_precision)
			ret->most = LLVMGetOperand(call, at++);
		else if (d.has_precision)
			ret->most = LLVMConstInt(i32, d.precision, 0);
		else
			ret->most = NULL;
		if (at == arg)
			return d.conversion == 's' && d.bytes == 4 ? FORMAT_TEXT
			       : d.conversion == 'p'		   ? FORMAT_POINTER
								   : FORMAT_NOTHING;
		at++;
	}
	return FORMAT_NOTHING;
}

static enum format_kind scanned(const char *s, unsigned at, unsigned arg, struct format *ret)
{
	while ((s = strchr(s, '%'))) {
		struct directive d = parse(s + 1, true);

		s = d.end;
		if (d.conversion == '%' || !d.conversion || d.discards)
			continue;
		if (at++ == arg) {
			ret->bytes = d.bytes;
			if (d.conversion == 'c')
				ret->bytes = MAX(d.width, 1u);
			if (d.conversion != 's' && d.conversion != '[')
				return d.conversion == 'n' ? FORMAT_NOTHING : FORMAT_NUMBER;
			ret->bytes = d.width + 1;
			return d.width ? FORMAT_WORD : FORMAT_NOTHING;
		}
		ret->index += d.conversion != 'n';
	}
	return FORMAT_NOTHING;
}

enum format_kind formats_classify(LLVMValueRef call, const char *name, unsigned arg,
				  struct format *ret)
{
	const struct function *f = find(name);
	const char *text = f ? text_of(LLVMGetOperand(call, f->format)) : NULL;

	*ret = (struct format){ 0 };
	if (!text)
		return FORMAT_NOTHING;
	if (arg > f->format)
		ret->kind = f->scans ? scanned(text, f->format + 1, arg, ret)
				     : printed(call, text, f->format + 1, arg, ret);
	else if (arg == 0 && (strcmp(name, "sprintf") == 0 || strcmp(name, "__sprintf_chk") == 0))
		ret->kind = FORMAT_BUFFER;
	return ret->kind;
}

LLVMValueRef formats_measure(struct expand *x, LLVMValueRef call, const char *name)
{
	LLVMContextRef c = x->p->context;
	LLVMTypeRef i32 = LLVMInt32TypeInContext(c), i64 = LLVMInt64TypeInContext(c);
	LLVMTypeRef ptr = LLVMPointerTypeInContext(c, 0), params[3] = { ptr, i64, ptr };
	LLVMTypeRef type = LLVMFunctionType(i32, params, 3, true);
	LLVMValueRef f = LLVMGetNamedFunction(x->p->module, "snprintf"), *args, n;
	unsigned first = find(name)->format, nargs = LLVMGetNumArgOperands(call);

	if (!f)
		f = LLVMAddFunction(x->p->module, "snprintf", type);
	args = xcalloc(nargs + 2, sizeof(args[0]));
	args[0] = LLVMConstNull(ptr);
	args[1] = LLVMConstNull(i64);
	for (unsigned i = first; i < nargs; i++)
		args[2 + i - first] = LLVMGetOperand(call, i);
	n = LLVMBuildCall2(x->b, type, f, args, 2 + nargs - first, "");
	free(args);
	return LLVMBuildAdd(x->b, LLVMBuildSExt(x->b, n, i64, ""), LLVMConstInt(i64, 1, 0), "");
}
