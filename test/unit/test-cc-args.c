/* cc/driver/args.c: what a compiler command line means to us. */
#include "base/err.h"
#include "base/file.h"
#include "cc/driver/args.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Parse words separated by single blanks. The text must live as long as the result. */
static void parse(struct args *a, char *text)
{
	char *argv[64] = { "cc" };
	int argc = 1;
	struct err *err;

	for (char *p = text; p && *p && argc < 63; argc++) {
		argv[argc] = p;
		p = strchr(p, ' ');
		if (p)
			*p++ = '\0';
	}
	err = args_parse(a, argc, argv);
	cr_assert_null(err, "%s", err ? err_message(err) : "");
}

static int count(const struct args *a, enum arg_kind kind)
{
	int n = 0;

	for (size_t i = 0; i < a->list.len; i++)
		n += a->list.data[i].kind == kind;
	return n;
}

static const struct arg *nth(const struct args *a, enum arg_kind kind, int n)
{
	for (size_t i = 0; i < a->list.len; i++)
		if (a->list.data[i].kind == kind && n-- == 0)
			return &a->list.data[i];
	cr_assert_fail("not so many arguments of that kind");
	return NULL;
}

Test(cc_args, modes)
{
	static const struct {
		const char *line;
		enum args_mode mode;
	} cases[] = {
		{ "a.c -o a", ARGS_LINK },
		{ "a.o -lm", ARGS_LINK },
		{ "-c a.c", ARGS_COMPILE },
		{ "-shared a.o", ARGS_LINK },
		{ "-E a.c", ARGS_PASS },
		{ "-S a.c", ARGS_PASS },
		{ "-M a.c", ARGS_PASS },
		{ "--version", ARGS_PASS },
		{ "-print-search-dirs", ARGS_PASS },
		{ "-fsyntax-only a.c", ARGS_PASS },
		{ "all.h -o all.h.pch", ARGS_PASS },
		{ "-x c-header all.txt", ARGS_PASS },
		{ "-x c++ a.txt", ARGS_LINK },
		{ "-c -emit-llvm a.c", ARGS_PASS },
		{ "-m32 a.c", ARGS_PASS },
		{ "--target=aarch64-linux-gnu a.c", ARGS_PASS },
		{ "--target=x86_64-linux-gnu a.c", ARGS_LINK },
		{ "-O2 -g", ARGS_PASS },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char text[100];
		struct args a;

		snprintf(text, sizeof(text), "%s", cases[i].line);
		parse(&a, text);
		cr_expect_eq(a.mode, cases[i].mode, "%s: %d", cases[i].line, a.mode);
		args_deinit(&a);
	}
}

Test(cc_args, words_that_belong_to_options_are_no_inputs)
{
	char text[] = "-I inc -isystem sys -D X -include pre.h -MF dep.d -Xclang -foo -z now -u "
		      "sym -T script.c "
		      "--param max=3 main.c -L lib -l m -lpthread -o out";
	struct args a;

	parse(&a, text);
	cr_expect_eq(count(&a, ARG_SOURCE), 1);
	cr_expect_str_eq(nth(&a, ARG_SOURCE, 0)->words[0], "main.c");
	cr_expect_eq(count(&a, ARG_OBJECT), 0);
	cr_expect_eq(count(&a, ARG_LIBRARY), 2);
	cr_expect_str_eq(nth(&a, ARG_LIBRARY, 0)->words[1], "m");
	cr_expect_str_eq(a.output, "out");
	args_deinit(&a);
}

Test(cc_args, languages)
{
	char text[] = "a.c -x c++ b.txt c.c -x none d.c e.S f.o libg.a h.so";
	struct args a;

	parse(&a, text);
	cr_expect_eq(count(&a, ARG_SOURCE), 5);
	cr_expect_null(nth(&a, ARG_SOURCE, 0)->language);
	cr_expect_str_eq(nth(&a, ARG_SOURCE, 1)->language, "c++");
	cr_expect_str_eq(nth(&a, ARG_SOURCE, 2)->language, "c++");
	cr_expect_null(nth(&a, ARG_SOURCE, 3)->language);
	cr_expect_eq(count(&a, ARG_OBJECT), 3);
	args_deinit(&a);
}

Test(cc_args, what_changes_a_link)
{
	struct {
		char line[60];
		bool shared, is_static, relocatable, no_runtime, gc;
	} cases[] = {
		{ "a.o", false, false, false, false, false },
		{ "-shared a.o", true, false, false, false, false },
		{ "-Wl,-shared a.o", true, false, false, false, false },
		{ "-static a.o", false, true, false, false, false },
		{ "-static-pie a.o", false, true, false, false, false },
		{ "-static-libgcc a.o", false, false, false, false, false },
		{ "-r a.o", false, false, true, false, false },
		{ "-Wl,-z,now,-r a.o", false, false, true, false, false },
		{ "-Wl,-rpath,/x a.o", false, false, false, false, false },
		{ "-nostdlib a.o", false, false, false, true, false },
		{ "-nostartfiles a.o", false, false, false, true, false },
		{ "-Wl,--gc-sections a.o", false, false, false, false, true },
		{ "-Xlinker --gc-sections a.o", false, false, false, false, true },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char text[60];
		struct args a;

		memcpy(text, cases[i].line, sizeof(text));
		parse(&a, text);
		cr_expect_eq(a.shared, cases[i].shared, "%s", cases[i].line);
		cr_expect_eq(a.is_static, cases[i].is_static, "%s", cases[i].line);
		cr_expect_eq(a.relocatable, cases[i].relocatable, "%s", cases[i].line);
		cr_expect_eq(a.no_runtime, cases[i].no_runtime, "%s", cases[i].line);
		cr_expect_eq(a.gc_sections, cases[i].gc, "%s", cases[i].line);
		args_deinit(&a);
	}
}

Test(cc_args, link_time_optimisation_is_ours_to_decide)
{
	char with[] = "-flto=thin -ffat-lto-objects -flto-jobs=3 a.c",
	     without[] = "-flto -fno-lto a.c";
	struct args a;

	parse(&a, with);
	cr_expect_eq(a.list.len, 1);
	cr_expect_not(a.no_lto);
	args_deinit(&a);
	parse(&a, without);
	cr_expect(a.no_lto);
	args_deinit(&a);
}

Test(cc_args, levels_and_debug)
{
	struct {
		char line[40];
		char opt;
		bool g;
	} cases[] = { { "a.c", 0, false },
		      { "-O a.c", '1', false },
		      { "-O3 -O0 a.c", '0', false },
		      { "-Ofast a.c", '2', false },
		      { "-Os -g a.c", 's', true },
		      { "-ggdb3 a.c", 0, true },
		      { "-gcc-toolchain x a.c", 0, false } };

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct args a;

		parse(&a, cases[i].line);
		cr_expect_eq(a.opt_level, cases[i].opt, "case %zu", i);
		cr_expect_eq(a.has_g, cases[i].g, "case %zu", i);
		args_deinit(&a);
	}
}

Test(cc_args, sanitizers)
{
	char good[] = "-fsanitize=address,undefined a.c",
	     question[] = "-fsanitize=thread --version";
	char *bad[] = { "cc", "-fsanitize=address,thread", "a.c", NULL };
	struct args a;
	struct err *err;

	parse(&a, good);
	cr_expect(a.sanitizer);
	cr_expect_null(a.bad_sanitizer);
	args_deinit(&a);
	parse(&a, question); /* no input: nothing to refuse */
	cr_expect_eq(a.mode, ARGS_PASS);
	args_deinit(&a);
	err = args_parse(&a, 3, bad);
	cr_assert_not_null(err);
	cr_expect_eq(err_kind(err), ERR_USAGE);
	cr_expect_not_null(strstr(err_message(err), "-fsanitize=thread"));
	err_free(err);
	args_deinit(&a);
}

Test(cc_args, response_files)
{
	char dir[] = "/tmp/unplait-unit-XXXXXX", inner[64], outer[64], text[200], *argv[4];
	struct args a;

	cr_assert_not_null(mkdtemp(dir));
	snprintf(inner, sizeof(inner), "%s/inner", dir);
	snprintf(outer, sizeof(outer), "%s/outer", dir);
	cr_assert_null(file_write(inner, "'two words.c' a\\ b.c \"-DX=\\\"y\\\"\"", 33));
	snprintf(text, sizeof(text), "-O2\n@%s -o\tout\n", inner);
	cr_assert_null(file_write(outer, text, strlen(text)));
	argv[0] = "cc";
	snprintf(text, sizeof(text), "@%s", outer);
	argv[1] = text;
	argv[2] = "@no-such-file";
	cr_assert_null(args_parse(&a, 3, argv));
	cr_expect_eq(count(&a, ARG_SOURCE), 2);
	cr_expect_str_eq(nth(&a, ARG_SOURCE, 0)->words[0], "two words.c");
	cr_expect_str_eq(nth(&a, ARG_SOURCE, 1)->words[0], "a b.c");
	cr_expect_str_eq(nth(&a, ARG_OPTION, 1)->words[0], "-DX=\"y\"");
	cr_expect_str_eq(nth(&a, ARG_OBJECT, 0)->words[0], "@no-such-file", "as clang has it");
	cr_expect_str_eq(a.output, "out");
	args_deinit(&a);
	file_remove_tree(dir);
}

Test(cc_args, dependencies)
{
	char text[] = "-MMD -MF x.d -MT goal a.c -o a";
	struct args a;

	parse(&a, text);
	cr_expect(a.deps && a.dep_file && a.dep_target);
	args_deinit(&a);
}
