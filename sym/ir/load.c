/* sym/ir/load.c - find the bitcode: in a .bc file, in the .plait.bc section of a binary, or by
 * compiling a source file. What is compiled here is also built natively, so that answers can be
 * confirmed by running it. */
#include "base/err.h"
#include "base/file.h"
#include "base/process.h"
#include "debug/binary.h"
#include "sym/ir/program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static struct err *load_pieces(const struct ir_piece *pieces, size_t n, struct sym_program **ret)
{
	struct sym_program *p = xcalloc(1, sizeof(*p));
	struct err *err = ir_load(pieces, n, &p->ir);

	if (err) {
		free(p);
		return err;
	}
	*ret = p;
	return NULL;
}

/* The same from bitcode in memory. */
static struct err *sym_load_bitcode(const void *bytes, size_t len, struct sym_program **ret)
{
	struct ir_piece whole = { bytes, len, "the input" };

	return load_pieces(&whole, 1, ret);
}

void sym_close(struct sym_program *p)
{
	if (!p)
		return;
	ir_free(p->ir);
	if (p->folder)
		file_remove_tree(p->folder);
	free(p->folder);
	free(p->native);
	free(p->source);
	free(p->sanitized);
	for (size_t i = 0; p->cflags && p->cflags[i]; i++)
		free(p->cflags[i]);
	free(p->cflags);
	free(p);
}

static struct err *run_compiler(const char *const *argv, const char *what)
{
	struct process_options o = { .argv = (char *const *)argv };
	_cleanup_(xfreep) char *compiler = file_find_program(argv[0]);
	struct process p;
	struct err *err;

	if (!compiler)
		return err_new(ERR_ENV, "%s is not installed; it compiles %s", argv[0], what);
	err = process_run(&o, &p);
	if (!err && p.exit_code != 0)
		err = err_new(ERR_ENV, "%s did not compile", what);
	return err;
}

static bool ends_with(const char *s, const char *end)
{
	size_t a = strlen(s), b = strlen(end);

	return a >= b && !strcmp(s + a - b, end);
}

static struct err *compile(const char *path, const char *const *cflags, bool bitcode,
			   const char *out)
{
	bool cxx = ends_with(path, ".cc") || ends_with(path, ".cpp") || ends_with(path, ".cxx");
	VEC(const char *) argv = { 0 };
	struct err *err;

	vec_push(&argv, cxx ? "clang++-19" : "clang-19");
	vec_push(&argv, "-O1");
	vec_push(&argv, "-g");
	vec_push(&argv, "-w");
	vec_push(&argv, "-pthread");
	vec_push(&argv, "-fno-vectorize");
	vec_push(&argv, "-fno-slp-vectorize");
	if (bitcode) {
		vec_push(&argv, "-emit-llvm");
		vec_push(&argv, "-c");
	}
	for (size_t i = 0; cflags && cflags[i]; i++)
		vec_push(&argv, cflags[i]);
	vec_push(&argv, "-o");
	vec_push(&argv, out);
	vec_push(&argv, path);
	if (!bitcode)
		vec_push(&argv, "-lm");
	vec_push(&argv, NULL);
	err = run_compiler(argv.data, path);
	vec_deinit(&argv);
	return err;
}

static void keep_flags(struct sym_program *p, const char *const *cflags)
{
	size_t n = 0;

	while (cflags && cflags[n])
		n++;
	p->cflags = xcalloc(n + 2, sizeof(char *));
	for (size_t i = 0; i < n; i++)
		p->cflags[i] = xstrdup(cflags[i]);
	p->cflags[n] = xstrdup("-fsanitize=address");
}

const char *sym_sanitized(struct sym_program *p)
{
	char *out;
	struct err *err;

	if (!p->source || p->sanitized_tried)
		return p->sanitized;
	p->sanitized_tried = true;
	out = xasprintf("%s/program.asan", p->folder);
	err = compile(p->source, (const char *const *)p->cflags, false, out);
	if (err) {
		err_free(err);
		free(out);
		return NULL;
	}
	return p->sanitized = out;
}

static struct err *open_source(const char *path, const char *const *cflags,
			       struct sym_program **ret)
{
	_cleanup_(xfreep) char *folder = NULL;
	_cleanup_(xfreep) char *bc = NULL;
	_cleanup_(xfreep) char *native = NULL;
	struct file_map map = { 0 };
	struct err *err = file_temp_dir(&folder);

	if (err)
		return err;
	bc = xasprintf("%s/program.bc", folder);
	native = xasprintf("%s/program", folder);
	err = compile(path, cflags, true, bc);
	if (!err)
		err = compile(path, cflags, false, native);
	if (!err)
		err = file_map_open(bc, &map);
	if (!err) {
		err = sym_load_bitcode(map.data, map.len, ret);
		file_map_close(&map);
	}
	if (err) {
		file_remove_tree(folder);
		return err;
	}
	(*ret)->source = xstrdup(path);
	keep_flags(*ret, cflags);
	(*ret)->folder = folder;
	(*ret)->native = native;
	folder = native = NULL;
	return NULL;
}

/* NULL when the file has no such section. */
static struct err *open_elf(const char *path, const char *section, struct sym_program **ret)
{
	_cleanup_(bitcode_deinit) struct bitcode bitcode = { 0 };
	VEC(struct ir_piece) pieces = { 0 };
	struct err *err = binary_bitcode(path, section, &bitcode);
	struct stat st;

	for (size_t i = 0, begin = 0; i < bitcode.ends.len; begin = bitcode.ends.data[i++]) {
		struct ir_piece piece = { bitcode.bytes.data + begin, bitcode.ends.data[i] - begin,
					  "the input" };

		vec_push(&pieces, piece);
	}
	*ret = NULL;
	if (!err && pieces.len)
		err = load_pieces(pieces.data, pieces.len, ret);
	vec_deinit(&pieces);
	if (!err && *ret && !stat(path, &st) && (st.st_mode & 0111))
		(*ret)->native = realpath(path, NULL);
	return err;
}

struct err *sym_open_source(const char *path, struct sym_program **ret)
{
	struct err *err = open_elf(path, PLAIT_SECTION_SOURCE, ret);

	if (!err && *ret)
		(*ret)->front_end = true;
	return err;
}

struct err *sym_open(const char *path, const char *const *cflags, struct sym_program **ret)
{
	struct file_map map = { 0 };
	struct err *err;

	if (ends_with(path, ".c") || ends_with(path, ".cc") || ends_with(path, ".cpp") ||
	    ends_with(path, ".cxx"))
		return err_wrap(open_source(path, cflags, ret), "%s", path);
	err = file_map_open(path, &map);
	if (err)
		return err;
	if (map.len >= 4 && !memcmp(map.data, "\177ELF", 4))
		err = open_elf(path, PLAIT_SECTION_BITCODE, ret);
	else
		err = err_wrap(sym_load_bitcode(map.data, map.len, ret), "%s", path);
	file_map_close(&map);
	if (!err && !*ret)
		err = err_new(ERR_ENV,
			      "%s carries no bitcode; build it with `unplait cc`, or give a .bc or "
			      ".c file",
			      path);
	return err;
}
