/* cc/driver/args.c - split a compiler command line into options, inputs and linker words.
 *
 * The rule of the house: only what changes our own behaviour is recognised. Options that take a
 * separate word must be known, or that word would look like an input; they are listed in
 * `takes_word`. Whatever else starts with '-' goes to clang as it is. */
#include "cc/driver/args.h"

#include "base/err.h"
#include "base/file.h"
#include "base/strbuf.h"

#include <stdlib.h>
#include <string.h>

/* Options whose argument is the next word. */
static const char *const takes_word[] = {
	"-o",
	"-x",
	"-include",
	"-imacros",
	"-isystem",
	"-iquote",
	"-idirafter",
	"-isysroot",
	"-iprefix",
	"-iwithprefix",
	"-iwithprefixbefore",
	"-I",
	"-D",
	"-U",
	"-L",
	"-F",
	"-B",
	"-MF",
	"-MT",
	"-MQ",
	"-MJ",
	"-Xclang",
	"-Xassembler",
	"-Xpreprocessor",
	"-mllvm",
	"-target",
	"-arch",
	"--param",
	"-A",
	"-aux-info",
	"-dumpbase",
	"-dumpdir",
	"-iframework",
	"-gcc-toolchain",
	"-ivfsoverlay",
	"-include-pch",
	"--sysroot",
	"--config",
	"-cxx-isystem",
	"-stdlib++-isystem",
};
/* The same, for the linker. */
static const char *const linker_takes_word[] = {
	"-Xlinker", "-T", "-u", "-z", "-e", "-rpath", "-soname", "-h", "--undefined", "--entry",
};
/* With one of these nothing is compiled to an object or linked. */
static const char *const pass_options[] = {
	"-S",
	"-E",
	"-M",
	"-MM",
	"-fsyntax-only",
	"--precompile",
	"-###",
	"--version",
	"--help",
	"-cc1",
	"-cc1as",
	"-emit-llvm",
	"-emit-ast",
	"--analyze",
	"-dumpmachine",
	"-dumpversion",
	"-dumpspecs",
	"-rewrite-objc",
	"-fdriver-only",
	"-emit-interface-stubs",
	"-verify-pch",
};

static bool is_in(const char *const *list, size_t n, const char *word)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(list[i], word) == 0)
			return true;
	return false;
}
#define IS_IN(list, word) is_in(list, ARRAY_SIZE(list), word)

static bool starts(const char *s, const char *prefix)
{
	return strncmp(s, prefix, strlen(prefix)) == 0;
}

static bool ends(const char *s, const char *suffix)
{
	size_t n = strlen(s), m = strlen(suffix);

	return n >= m && strcmp(s + n - m, suffix) == 0;
}

enum input_type { INPUT_OBJECT, INPUT_SOURCE, INPUT_HEADER };

static enum input_type input_type(const char *path)
{
	static const char *const sources[] = { ".c",  ".cc", ".cpp", ".cxx", ".C",   ".c++", ".cp",
					       ".i",  ".ii", ".s",   ".S",   ".asm", ".sx",  ".m",
					       ".mm", ".bc", ".ll",  ".CPP", ".CXX" };
	static const char *const headers[] = { ".h", ".hh", ".hpp", ".hxx", ".H" };

	if (strcmp(path, "-") == 0)
		return INPUT_SOURCE;
	for (size_t i = 0; i < ARRAY_SIZE(sources); i++)
		if (ends(path, sources[i]))
			return INPUT_SOURCE;
	for (size_t i = 0; i < ARRAY_SIZE(headers); i++)
		if (ends(path, headers[i]))
			return INPUT_HEADER;
	return INPUT_OBJECT;
}

/* Response files: words separated by white space, with quotes and backslashes as in the shell. */

struct strings_vec VEC_FIELDS(char *);

static void split_words(const char *p, struct args *a, struct strings_vec *ret)
{
	struct strbuf sb = { 0 };
	bool in_word = false;
	char quote = 0;

	for (;; p++) {
		bool end = *p == '\0' || (!quote && strchr(" \t\r\n\f\v", *p));

		if (end && in_word) {
			char *word = strbuf_detach(&sb);

			if (!word)
				word = xstrdup("");
			vec_push(&a->owned, word);
			vec_push(ret, word);
			in_word = false;
		}
		if (*p == '\0')
			break;
		if (end)
			continue;
		in_word = true;
		if (*p == '\\' && p[1])
			strbuf_addc(&sb, *++p);
		else if (quote && *p == quote)
			quote = 0;
		else if (!quote && (*p == '"' || *p == '\''))
			quote = *p;
		else
			strbuf_addc(&sb, *p);
	}
	strbuf_deinit(&sb);
}

static struct err *expand(struct args *a, char *word, struct strings_vec *ret, int depth)
{
	struct strbuf sb = { 0 };
	struct strings_vec words = { 0 };
	struct err *err = NULL;

	/* like clang: an unreadable @file is an ordinary word */
	if (word[0] != '@' || depth > 10 || !file_exists(word + 1)) {
		vec_push(ret, word);
		return NULL;
	}
	err = file_read(word + 1, &sb);
	if (!err)
		split_words(strbuf_str(&sb), a, &words);
	for (size_t i = 0; !err && i < words.len; i++)
		err = expand(a, words.data[i], ret, depth + 1);
	strbuf_deinit(&sb);
	vec_deinit(&words);
	return err;
}

static void note_linker_word(struct args *a, const char *w)
{
	if (strstr(w, "--gc-sections"))
		a->gc_sections = true;
	if (starts(w, "-Wl,")) {
		const char *p = w + 3;

		/* -Wl,-r and -Wl,-shared are rare but real */
		for (; p; p = strchr(p + 1, ',')) {
			size_t n = strcspn(p + 1, ",");

			if (n == 2 && starts(p + 1, "-r"))
				a->relocatable = true;
			if (n == 7 && starts(p + 1, "-shared"))
				a->shared = true;
			if (n == 7 && starts(p + 1, "-static"))
				a->is_static = true;
		}
	}
}

static void note_sanitizer(struct args *a, const char *list)
{
	for (const char *p = list; *p; p += strcspn(p, ","), p += *p == ',') {
		size_t n = strcspn(p, ",");

		if (n == 6 && (starts(p, "thread") || starts(p, "memory")))
			a->bad_sanitizer = p[0] == 't' ? "thread" : "memory";
		if (n == 7 && starts(p, "address"))
			a->sanitizes_twice = true;
		a->sanitizer = true;
	}
}

static void note_option(struct args *a, const char *w)
{
	if (strcmp(w, "-shared") == 0 || strcmp(w, "--shared") == 0)
		a->shared = true;
	else if (strcmp(w, "-static") == 0 || strcmp(w, "--static") == 0 ||
		 strcmp(w, "-static-pie") == 0)
		a->is_static = true;
	else if (strcmp(w, "-r") == 0)
		a->relocatable = true;
	else if (strcmp(w, "-nostdlib") == 0 || strcmp(w, "-nostartfiles") == 0 ||
		 strcmp(w, "-nodefaultlibs") == 0 || strcmp(w, "-nolibc") == 0)
		a->no_runtime = true;
	else if (strcmp(w, "-m32") == 0 || strcmp(w, "-mx32") == 0)
		a->other_target = true;
	else if (starts(w, "--target=") || starts(w, "-march=wasm"))
		a->other_target = !starts(w, "--target=x86_64");
	else if (starts(w, "-O"))
		a->opt_level = w[2] == '\0' ? '1' : strchr("0123sz", w[2]) ? w[2] : '2';
	else if (w[1] == 'g' && !starts(w, "-gcc") && !starts(w, "-gdwarf-fission"))
		a->has_g = true;
	else if (strcmp(w, "-MD") == 0 || strcmp(w, "-MMD") == 0)
		a->deps = true;
	else if (starts(w, "-MF"))
		a->dep_file = true;
	else if (starts(w, "-MT") || starts(w, "-MQ"))
		a->dep_target = true;
	else if (starts(w, "-fsanitize="))
		note_sanitizer(a, w + 11);
}

/* -flto and friends are ours to decide; true when the word is to be dropped. */
static bool is_lto_option(struct args *a, const char *w)
{
	if (strcmp(w, "-fno-lto") == 0) {
		a->no_lto = true;
		return true;
	}
	if (strcmp(w, "-flto") == 0 || starts(w, "-flto=") || starts(w, "-flto-")) {
		a->no_lto = false;
		return true;
	}
	return strcmp(w, "-ffat-lto-objects") == 0 || strcmp(w, "-fno-fat-lto-objects") == 0 ||
	       strcmp(w, "-fuse-linker-plugin") == 0 || strcmp(w, "-fno-use-linker-plugin") == 0;
}

static void add(struct args *a, enum arg_kind kind, const char *w, const char *next,
		const char *language)
{
	struct arg *arg = vec_add(&a->list);

	arg->kind = kind;
	arg->words[0] = w;
	arg->words[1] = next;
	arg->nwords = next ? 2 : 1;
	arg->language = language;
}

static void add_input(struct args *a, const char *w, const char *language, bool *header)
{
	if (language)
		add(a, ARG_SOURCE, w, NULL, language);
	else if (input_type(w) == INPUT_OBJECT)
		add(a, ARG_OBJECT, w, NULL, NULL);
	else
		add(a, ARG_SOURCE, w, NULL, NULL);
	if (language ? strstr(language, "header") != NULL : input_type(w) == INPUT_HEADER)
		*header = true;
}

struct err *args_parse(struct args *a, int argc, char **argv)
{
	struct strings_vec words = { 0 };
	const char *language = NULL;
	bool compile = false, pass = false, header = false, inputs = false;
	struct err *err = NULL;

	memset(a, 0, sizeof(*a));
	a->argc = argc;
	a->argv = argv;
	for (int i = 1; !err && i < argc; i++)
		err = expand(a, argv[i], &words, 0);
	for (size_t i = 0; !err && i < words.len; i++) {
		const char *w = words.data[i];
		const char *next = i + 1 < words.len ? words.data[i + 1] : NULL;

		if (w[0] != '-' || w[1] == '\0') {
			add_input(a, w, language, &header);
			inputs = true;
		} else if (strcmp(w, "--unplait-plain") == 0) {
			a->plain_too = true;
		} else if (strcmp(w, "--unplait-no-cache") == 0) {
			a->no_cache = true;
		} else if (strcmp(w, "--unplait-source-bitcode") == 0) {
			a->source_bitcode = true;
		} else if (starts(w, "--unplait-racing=")) {
			a->racing = strchr(w, '=') + 1;
		} else if (is_lto_option(a, w)) {
			continue;
		} else if (strcmp(w, "-o") == 0 && next) {
			a->output = next;
			i++;
		} else if (starts(w, "-o") && !starts(w, "-objc") && w[2]) {
			a->output = w + 2;
		} else if (starts(w, "-x")) {
			const char *l = w[2] ? w + 2 : next;

			i += !w[2];
			language = l && strcmp(l, "none") != 0 ? l : NULL;
			add(a, ARG_LANGUAGE, "-x", l, NULL);
		} else if (strcmp(w, "-c") == 0) {
			compile = true;
		} else if (strcmp(w, "-l") == 0 && next) {
			add(a, ARG_LIBRARY, w, next, NULL);
			inputs = true;
			i++;
		} else if (starts(w, "-l")) {
			add(a, ARG_LIBRARY, w, NULL, NULL);
			inputs = true;
		} else if (starts(w, "-Wl,")) {
			note_linker_word(a, w);
			add(a, ARG_LINKER, w, NULL, NULL);
		} else if (IS_IN(linker_takes_word, w) && next) {
			note_linker_word(a, next);
			add(a, ARG_LINKER, w, next, NULL);
			i++;
		} else if (IS_IN(takes_word, w) && next) {
			note_option(a, w);
			if (strcmp(w, "-target") == 0)
				a->other_target = !starts(next, "x86_64");
			add(a, ARG_OPTION, w, next, NULL);
			i++;
		} else {
			pass |= IS_IN(pass_options, w) || starts(w, "-print-") ||
				starts(w, "--print-") || starts(w, "-emit-");
			note_option(a, w);
			add(a, ARG_OPTION, w, NULL, NULL);
		}
	}
	vec_deinit(&words);
	/* TSan takes over the same accesses; MSan cannot see those that our hooks perform */
	if (!err && a->bad_sanitizer && !pass && inputs)
		err = err_new(ERR_USAGE,
			      "-fsanitize=%s does not go together with our own instrumentation: "
			      "leave it out (man unplait-cc, SANITIZERS)",
			      a->bad_sanitizer);
	a->mode = pass || header || !inputs || a->other_target ? ARGS_PASS
		  : compile				       ? ARGS_COMPILE
							       : ARGS_LINK;
	return err;
}

bool args_are_ours(const char *word)
{
	return strcmp(word, "--unplait-plain") == 0 || strcmp(word, "--unplait-no-cache") == 0 ||
	       strcmp(word, "--unplait-source-bitcode") == 0 || starts(word, "--unplait-racing=");
}

bool args_is_assembly(const struct arg *source)
{
	static const char *const endings[] = { ".s", ".S", ".asm", ".sx" };

	if (source->language)
		return starts(source->language, "assembler");
	for (size_t i = 0; i < ARRAY_SIZE(endings); i++)
		if (ends(source->words[0], endings[i]))
			return true;
	return false;
}

void args_deinit(struct args *a)
{
	for (size_t i = 0; i < a->owned.len; i++)
		free(a->owned.data[i]);
	vec_deinit(&a->owned);
	vec_deinit(&a->list);
}
