/* cc/driver/main.c - unplait-cc and unplait-c++: clang, except that objects carry bitcode and links are
 * taken over (link.c). Anything that neither compiles to an object nor links is clang itself. */
#include "base/err.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "cc/driver/args.h"
#include "cc/driver/link.h"
#include "cc/driver/command.h"
#include "cc/program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct driver {
	struct args args;
	const char *clang;
	bool cxx;
	char *tmp;
	char *headers; /* a folder before those of libstdc++; NULL for C */
	VEC(char *) owned;
};

static const char *pick_clang(bool cxx)
{
	const char *user = getenv(cxx ? "UNPLAIT_CXX" : "UNPLAIT_CC");

	return user && *user ? user : cxx ? "clang++-19" : "clang-19";
}

static bool is_cxx_name(const char *argv0)
{
	size_t n = strlen(argv0);

	return n >= 2 && strcmp(argv0 + n - 2, "++") == 0;
}

/* The last option that is `name`, or starts with it (`-fprofile-dir=`): its argument, else NULL. */
static const char *find_option(const struct args *a, const char *name)
{
	size_t n = strlen(name);
	const char *found = NULL;

	for (size_t i = 0; i < a->list.len; i++) {
		const struct arg *arg = &a->list.data[i];

		if (arg->kind == ARG_OPTION && strncmp(arg->words[0], name, n) == 0 &&
		    (name[n - 1] == '=' || !arg->words[0][n]))
			found = arg->nwords == 2 ? arg->words[1] : arg->words[0] + n;
	}
	return found;
}

/* What a compile step of ours is to make. */
enum object_kind {
	FAT,	 /* native code and bitcode */
	NATIVE,	 /* the first alone */
	BITCODE, /* the second alone, as a file, without a sanitizer's checks */
	SOURCE, /* bitcode as the front end makes it, as a file; the others say what is wrong with the source */
};

/* The bitcode is to be the program's own: AddressSanitizer's checks come last, after our hooks
 * (instrument/emit.c), or its shadow would look like memory that all threads share. What its pass
 * still does is to call memcpy() for llvm.memcpy. */
static void push_without_checks(struct command *c)
{
	static const char *const words[] = {
		"-asan-instrument-reads=0",
		"-asan-instrument-writes=0",
		"-asan-instrument-atomics=0",
		"-asan-instrument-byval=0",
		"-asan-stack=0",
		"-asan-globals=0",
		"-asan-constructor-kind=none",
		"-asan-memory-access-callback-prefix=",
	};

	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		command_push(c, "-mllvm");
		command_push(c, words[i]);
	}
}

static void push_object_flags(struct driver *d, struct command *c, enum object_kind kind)
{
	if (d->args.no_lto)
		return;
	if (kind == BITCODE)
		push_without_checks(c);
	if (kind == SOURCE) {
		command_push(c, "-emit-llvm");
		command_push(c, "-Xclang");
		command_push(c, "-disable-llvm-passes");
		command_push(c, "-w");
	} else if (kind != NATIVE) {
		command_push(c, "-flto");
	}
	if (kind == FAT)
		command_push(c, "-ffat-lto-objects");
	if (!d->args.has_g)
		command_push(c, "-g");
	if (d->headers) {
		command_push(c, "-isystem");
		command_push(c, d->headers);
	}
}

static struct err *pass_on(struct driver *d, char **argv)
{
	struct command c = { 0 };

	command_push(&c, d->clang);
	for (char **w = argv + 1; *w; w++)
		if (!args_are_ours(*w))
			command_push(&c, *w);
	return command_exec(&c);
}

/* `cc -MMD a.c -o prog` names prog.d and prog: say so, because our object is called otherwise. */
static void push_dependency_options(struct driver *d, struct command *c, const char *source)
{
	const char *output = d->args.output ? d->args.output : "a.out";
	const char *name = d->args.output ? d->args.output : source;
	const char *slash = strrchr(name, '/');
	const char *dot = strrchr(slash ? slash : name, '.');

	if (!d->args.deps)
		return;
	if (!d->args.output && slash)
		name = slash + 1;
	if (!d->args.dep_file) {
		command_push(c, "-MF");
		command_takef(c, "%.*s.d",
			      dot && dot > name ? (int)(dot - name) : (int)strlen(name), name);
	}
	if (!d->args.dep_target) {
		command_push(c, "-MT");
		command_push(c, output);
	}
}

/* `cc --coverage a.c -o prog` writes prog-a.gcno, and the program prog-a.gcda; clang names both
 * after the object, and ours is gone when they are wanted. */
static void push_coverage_options(struct driver *d, struct command *c, const char *source)
{
	const struct args *a = &d->args;
	const char *dump = find_option(a, "-dumpdir"), *folder = find_option(a, "-fprofile-dir=");
	const char *slash = strrchr(source, '/'), *stem = slash ? slash + 1 : source;
	const char *dot = strrchr(stem, '.');
	_cleanup_(xfreep) char *prefix =
		dump ? xstrdup(dump) : xasprintf("%s-", a->output ? a->output : "a");
	_cleanup_(xfreep) char *here = prefix[0] == '/' ? NULL : getcwd(NULL, 0);
	_cleanup_(xfreep) char *base =
		xasprintf("%s%s%s%.*s", here ? here : "", here ? "/" : "", prefix,
			  dot && dot > stem ? (int)(dot - stem) : (int)strlen(stem), stem);

	if (!find_option(a, "--coverage") && !find_option(a, "-coverage") &&
	    !find_option(a, "-fprofile-arcs") && !find_option(a, "-ftest-coverage"))
		return;
	command_push(c, "-Xclang");
	command_takef(c, "-coverage-notes-file=%s.gcno", base);
	command_push(c, "-Xclang");
	command_takef(c, "-coverage-data-file=%s%s%s.gcda", folder ? folder : "",
		      folder && base[0] != '/' ? "/" : "", base);
}

/* One source with the user's options; `linking`: the object is not what the user asked for. */
static struct err *compile_as(struct driver *d, const struct arg *source, enum object_kind kind,
			      bool linking, const char *object, int *status)
{
	struct command c = { 0 };
	struct err *err;

	command_push(&c, d->clang);
	for (size_t i = 0; i < d->args.list.len; i++) {
		const struct arg *arg = &d->args.list.data[i];

		if (arg->kind == ARG_OPTION)
			for (int k = 0; k < arg->nwords; k++)
				command_push(&c, arg->words[k]);
	}
	push_object_flags(d, &c, kind);
	if (linking) {
		push_dependency_options(d, &c, source->words[0]);
		push_coverage_options(d, &c, source->words[0]);
		command_push(&c, "-Qunused-arguments");
	}
	if (source->language) {
		command_push(&c, "-x");
		command_push(&c, source->language);
	}
	command_push(&c, "-c");
	command_push(&c, source->words[0]);
	command_push(&c, "-o");
	command_push(&c, object);
	err = command_run(&c, NULL, status);
	command_deinit(&c);
	return err;
}

/* An object that is thrown away (-o /dev/null) needs no section. */
static struct err *add_section(const char *object, const char *name, const char *file)
{
	struct command c = { 0 };
	struct err *err;
	int status;

	if (file_is_special(object))
		return NULL;
	command_push(&c, "objcopy");
	command_takef(&c, "--add-section=%s=%s", name, file);
	command_takef(&c, "--set-section-flags=%s=readonly,exclude", name);
	command_push(&c, object);
	err = command_run(&c, NULL, &status);
	if (!err && status != 0)
		err = err_new(ERR_ENV, "objcopy cannot add the bitcode to %s", object);
	command_deinit(&c);
	return err;
}

/* clang 19 runs AddressSanitizer over the native code of a fat object twice, and two such objects
 * cannot be linked. So both halves are made by themselves; the native one last, whose files of
 * dependencies are right. */
static struct err *compile_halves(struct driver *d, const struct arg *source, bool linking,
				  const char *object, int *status)
{
	_cleanup_(xfreep) char *bitcode = xasprintf("%s/half.bc", d->tmp);
	struct err *err = compile_as(d, source, BITCODE, linking, bitcode, status);

	if (!err && *status == 0)
		err = compile_as(d, source, NATIVE, linking, object, status);
	if (!err && *status == 0)
		err = add_section(object, ".llvm.lto", bitcode);
	return err;
}

static bool in_halves(const struct driver *d)
{
	return d->args.sanitizes_twice && !d->args.no_lto;
}

/* Does the optimiser change what the front end makes of it, and are we asked to keep that? */
static bool keeps_source(const struct driver *d, const struct arg *source)
{
	char level = d->args.opt_level;

	return d->args.source_bitcode && !d->args.no_lto && level && level != '0' &&
	       !args_is_assembly(source);
}

static struct err *pack_file(const char *path)
{
	_cleanup_(strbuf_deinit) struct strbuf plain = { 0 }, packed = { 0 };
	struct err *err = file_read(path, &plain);

	if (!err)
		err = bitcode_pack(plain.data, plain.len, &packed);
	return err ? err : file_write(path, packed.data, packed.len);
}

/* The object itself is made last: its files of dependencies are right. */
static struct err *compile_source(struct driver *d, const struct arg *source, bool linking,
				  const char *object, int *status)
{
	_cleanup_(xfreep) char *front = xasprintf("%s/front.bc", d->tmp);
	bool keeps = keeps_source(d, source);
	struct err *err = keeps ? compile_as(d, source, SOURCE, linking, front, status) : NULL;

	if (!err && *status == 0 && in_halves(d) && !args_is_assembly(source))
		err = compile_halves(d, source, linking, object, status);
	else if (!err && *status == 0)
		err = compile_as(d, source, FAT, linking, object, status);
	if (!err && *status == 0 && keeps)
		err = pack_file(front);
	if (!err && *status == 0 && keeps)
		err = add_section(object, PLAIT_SECTION_SOURCE, front);
	return err;
}

/* Where `cc -c source` leaves its object. */
static char *object_name(const struct driver *d, const char *source)
{
	const char *slash = strrchr(source, '/'), *stem = slash ? slash + 1 : source;
	const char *dot = strrchr(stem, '.');

	return d->args.output
		       ? xstrdup(d->args.output)
		       : xasprintf("%.*s.o", dot ? (int)(dot - stem) : (int)strlen(stem), stem);
}

static struct err *compile_each(struct driver *d, int *status)
{
	struct err *err = file_temp_dir(&d->tmp);

	for (size_t i = 0; !err && *status == 0 && i < d->args.list.len; i++) {
		const struct arg *arg = &d->args.list.data[i];
		_cleanup_(xfreep) char *object = NULL;

		if (arg->kind != ARG_SOURCE)
			continue;
		object = object_name(d, arg->words[0]);
		err = compile_source(d, arg, false, object, status);
	}
	return err;
}

static struct err *compile_only(struct driver *d, int *status)
{
	struct command c = { 0 };

	if (in_halves(d) || d->args.source_bitcode)
		return compile_each(d, status);
	command_push(&c, d->clang);
	for (size_t i = 0; i < d->args.list.len; i++)
		for (int k = 0; k < d->args.list.data[i].nwords; k++)
			command_push(&c, d->args.list.data[i].words[k]);
	command_push(&c, "-c");
	if (d->args.output) {
		command_push(&c, "-o");
		command_push(&c, d->args.output);
	}
	push_object_flags(d, &c, FAT);
	return command_exec(&c);
}

/* Sources on a link line become objects in our folder. */
static struct err *compile_sources(struct driver *d, int *status)
{
	for (size_t i = 0; i < d->args.list.len; i++) {
		struct arg *arg = &d->args.list.data[i];
		const char *slash;
		struct err *err;
		char *object;

		if (arg->kind != ARG_SOURCE)
			continue;
		slash = strrchr(arg->words[0], '/');
		object = xasprintf("%s/%s-%zu.o", d->tmp, slash ? slash + 1 : arg->words[0], i);
		vec_push(&d->owned, object);
		err = compile_source(d, arg, true, object, status);
		if (err || *status != 0)
			return err;
		arg->kind = ARG_OBJECT;
		arg->words[0] = object;
	}
	return NULL;
}

static struct err *drive(struct driver *d, int argc, char **argv, int *status)
{
	struct err *err = args_parse(&d->args, argc, argv);

	if (err)
		return err;
	if (d->args.mode == ARGS_PASS)
		return pass_on(d, argv);
	if (d->args.mode == ARGS_COMPILE)
		return compile_only(d, status);
	err = file_temp_dir(&d->tmp);
	if (!err)
		err = compile_sources(d, status);
	if (!err && *status == 0)
		err = link_program(&d->args, d->clang, d->tmp, status);
	return err;
}

int main(int argc, char **argv)
{
	struct driver d = { .cxx = is_cxx_name(argv[0]) };
	const char *keep = getenv("UNPLAIT_KEEP");
	int status = 0;
	struct err *err;

	d.clang = pick_clang(d.cxx);
	d.headers = d.cxx ? file_find_part("c++") : NULL;
	err = drive(&d, argc, argv, &status);
	if (d.tmp && keep)
		fprintf(stderr, "unplait: kept %s\n", d.tmp);
	else if (d.tmp)
		file_remove_tree(d.tmp);
	free(d.tmp);
	free(d.headers);
	for (size_t i = 0; i < d.owned.len; i++)
		free(d.owned.data[i]);
	vec_deinit(&d.owned);
	args_deinit(&d.args);
	if (err) {
		fprintf(stderr, "unplait: %s\n", err_message(err));
		status = (int)err_kind(err);
		err_free(err);
	}
	return status;
}
