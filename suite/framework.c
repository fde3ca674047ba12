/* suite/framework.c - test frameworks: which one a program uses, and which tests it has.
 *
 * A program is recognised by its bytes before it is started: nobody is given an option that they
 * may not know. Then it is asked for its list, outside control. Check has no such option: there the
 * tests are run once, and the log of that run is the list. */
#include "suite/framework.h"

#include "base/environment.h"
#include "base/err.h"
#include "base/file.h"
#include "base/process.h"
#include "base/strbuf.h"

#include <ctype.h>

enum { LIST_SECONDS = 20 };

/* ---- lines ---- */

/* The next line of *text without its end; NULL at the end. */
static char *next_line(char **text)
{
	char *line = *text, *end;

	if (!*line)
		return NULL;
	end = strchrnul(line, '\n');
	*text = *end ? end + 1 : end;
	*end = 0;
	if (end > line && end[-1] == '\r')
		end[-1] = 0;
	return line;
}

static void trim(char *line)
{
	size_t n = strlen(line);

	while (n && isspace((unsigned char)line[n - 1]))
		line[--n] = 0;
}

/* ---- GoogleTest ---- */

/* "Suite." begins a suite, "  Test" is one of its tests; both may have a comment. */
static void gtest_parse(char *text, struct words *ret)
{
	char *line, *suite = NULL;

	while ((line = next_line(&text))) {
		char *comment = strstr(line, "  # ");

		if (comment)
			*comment = 0;
		trim(line);
		if (strncmp(line, "  ", 2) != 0)
			suite = line[0] && line[strlen(line) - 1] == '.' ? line : NULL;
		else if (suite && strncmp(suite, "DISABLED_", 9) && !strstr(suite, "/DISABLED_") &&
			 strncmp(line + 2, "DISABLED_", 9) && !strstr(line, "/DISABLED_"))
			words_take(ret, xasprintf("%s%s", suite, line + 2));
	}
}

static void gtest_select(struct suite_test *t, const char *name)
{
	words_take(&t->command, xasprintf("--gtest_filter=%s", name));
}

/* ---- Catch2, doctest ---- */

/* A name as an argument: what has a meaning in a pattern is escaped. */
static char *escape(const char *name, const char *special)
{
	struct strbuf sb = { 0 };

	for (; *name; name++) {
		if (strchr(special, *name))
			strbuf_addc(&sb, '\\');
		strbuf_addc(&sb, *name);
	}
	return strbuf_detach(&sb);
}

/* One name per line. Those that begin with '#' are quoted in Catch2 2. */
static void catch_parse(char *text, struct words *ret)
{
	char *line;

	while ((line = next_line(&text))) {
		size_t n = strlen(line);

		if (n > 2 && line[0] == '"' && line[1] == '#' && line[n - 1] == '"') {
			line[n - 1] = 0;
			line++;
		}
		if (*line)
			words_push(ret, line);
	}
}

static void catch_select(struct suite_test *t, const char *name)
{
	words_take(&t->command, escape(name, "\\,[]"));
}

static void doctest_parse(char *text, struct words *ret)
{
	char *line;

	while ((line = next_line(&text)))
		if (*line && strncmp(line, "[doctest]", 9) != 0 && strncmp(line, "=====", 5) != 0)
			words_push(ret, line);
}

static void doctest_select(struct suite_test *t, const char *name)
{
	_cleanup_(xfreep) char *escaped = escape(name, "\\,");

	words_take(&t->command, xasprintf("--test-case=%s", escaped));
}

/* ---- Check: its unit of selection is the test case, a group of test functions ---- */

static bool has_word(const struct words *w, const char *word)
{
	for (size_t i = 0; i < w->len; i++)
		if (strcmp(w->data[i], word) == 0)
			return true;
	return false;
}

/* "ok 1 - queue.c:Core:push: Passed" */
static void check_parse(char *text, struct words *ret)
{
	char *line;

	while ((line = next_line(&text))) {
		char *dash = strstr(line, " - "), *begin, *end;

		if (!dash || (strncmp(line, "ok ", 3) != 0 && strncmp(line, "not ok ", 7) != 0))
			continue;
		begin = strchr(dash, ':');
		end = begin ? strchr(begin + 1, ':') : NULL;
		if (!end)
			continue;
		*end = 0;
		if (!has_word(ret, begin + 1))
			words_push(ret, begin + 1);
	}
}

static void check_select(struct suite_test *t, const char *name)
{
	words_take(&t->environment, xasprintf("CK_RUN_CASE=%s", name));
}

/* ---- CppUTest ---- */

/* "Group.Name Group.Name ..." */
static void cpputest_parse(char *text, struct words *ret)
{
	char *word, *rest = text;

	while ((word = strtok_r(rest, " \n", &rest)))
		if (strchr(word, '.'))
			words_push(ret, word);
}

static void cpputest_select(struct suite_test *t, const char *name)
{
	const char *dot = strchr(name, '.');

	words_push(&t->command, "-sg");
	words_take(&t->command, xasprintf("%.*s", (int)(dot - name), name));
	words_push(&t->command, "-sn");
	words_push(&t->command, dot + 1);
}

/* ---- Boost.Test: a tree by indentation; "*" marks what is enabled ---- */

static void boost_parse(char *text, struct words *ret)
{
	char *line, *path[16] = { 0 };
	size_t level, depth = 0;
	char *pending = NULL; /* the entry of the line before: a test if nothing is below it */

	while ((line = next_line(&text))) {
		level = strspn(line, " ") / 4;
		line += strspn(line, " ");
		line[strcspn(line, "*: ")] = 0;
		if (!*line || level >= ARRAY_SIZE(path))
			continue;
		if (pending && level <= depth)
			words_push(ret, pending);
		free(path[level]);
		path[level] =
			level ? xasprintf("%s/%s", path[level - 1] ? path[level - 1] : "", line)
			      : xstrdup(line);
		for (size_t i = level + 1; i < ARRAY_SIZE(path); i++) {
			free(path[i]);
			path[i] = NULL;
		}
		pending = path[level];
		depth = level;
	}
	if (pending)
		words_push(ret, pending);
	for (size_t i = 0; i < ARRAY_SIZE(path); i++)
		free(path[i]);
}

static void boost_select(struct suite_test *t, const char *name)
{
	words_take(&t->command, xasprintf("--run_test=%s", name));
}

/* ---- Acutest ---- */

/* "Unit tests:", then a name on each line. */
static void acutest_parse(char *text, struct words *ret)
{
	char *line;

	while ((line = next_line(&text))) {
		trim(line);
		if (strncmp(line, "  ", 2) == 0)
			words_push(ret, line + 2);
	}
}

/* A name of several words is one argument. */
static void acutest_select(struct suite_test *t, const char *name)
{
	words_push(&t->command, "--no-exec");
	words_push(&t->command, name);
}

/* ---- Criterion ---- */

/* "suite: 2 tests", then lines that end in the name of a test, drawn as a tree. */
static void criterion_parse(char *text, struct words *ret)
{
	char *line, *suite = NULL;

	while ((line = next_line(&text))) {
		char *space;

		trim(line);
		if (strstr(line, " test") && strchr(line, ':')) {
			*strchr(line, ':') = 0;
			suite = line;
			continue;
		}
		space = strrchr(line, ' ');
		if (suite && space && space[1])
			words_take(ret, xasprintf("%s/%s", suite, space + 1));
	}
}

static void criterion_select(struct suite_test *t, const char *name)
{
	words_take(&t->command, xasprintf("--filter=%s", name));
}

/* ---- all of them ---- */

static const struct framework frameworks[] = {
	{ .name = "GoogleTest",
	  .markers = { "8internal23MakeAndRegisterTestInfo",
		       "This program contains tests written using Google Test" },
	  .list = { "--gtest_list_tests" },
	  .failed = ": Failure",
	  .parse = gtest_parse,
	  .select = gtest_select,
	  .forks = "GoogleTest forks for death tests only" },
	{ .name = "Catch2",
	  .markers = { "list-test-names-only" },
	  .list = { "--list-test-names-only" },
	  .failed = ": FAILED:",
	  .parse = catch_parse,
	  .select = catch_select },
	{ .name = "Catch2",
	  .markers = { "list-listeners", "5Catch7AutoRegC1ENS_6Detail10unique_ptr" },
	  .list = { "--list-tests", "--verbosity", "quiet" },
	  .failed = ": FAILED:",
	  .parse = catch_parse,
	  .select = catch_select },
	{ .name = "doctest",
	  .markers = { "list-test-cases" },
	  .list = { "--list-test-cases", "--no-colors=true" },
	  .failed = ": ERROR:",
	  .parse = doctest_parse,
	  .select = doctest_select },
	{ .name = "Check",
	  .markers = { "srunner_create" },
	  .list_environment = { "CK_TAP_LOG_FILE_NAME=-" },
	  .environment = { "CK_FORK=no" },
	  .failed = ":F:",
	  .parse = check_parse,
	  .select = check_select,
	  .forks = "Check forks unless CK_FORK=no is set" },
	{ .name = "CppUTest",
	  .markers = { "21CommandLineTestRunner" },
	  .list = { "-ln" },
	  .failed = ": error:",
	  .parse = cpputest_parse,
	  .select = cpputest_select,
	  .forks = "CppUTest forks only with -p" },
	{ .name = "Boost.Test",
	  .markers = { "5boost9unit_test9ut_detail24auto_test_unit_registrar" },
	  .list = { "--list_content=HRF" },
	  .failed = ": error:",
	  .parse = boost_parse,
	  .select = boost_select },
	{ .name = "Acutest",
	  .markers = { "execute unit tests as child processes" },
	  .list = { "--list" },
	  .failed = ": Check ",
	  .parse = acutest_parse,
	  .select = acutest_select,
	  .forks = "Acutest forks unless --no-exec is given" },
	{ .name = "Criterion",
	  .markers = { "criterion_internal_test_main" },
	  .list = { "--list" },
	  .parse = criterion_parse,
	  .select = criterion_select,
	  .unable = "Criterion runs every test in a process of its own, which no option prevents" },
};

const struct framework *framework_of(const char *program)
{
	_cleanup_(xfreep) char *path = file_find_program(program);
	const struct framework *found = NULL;
	struct file_map m = { 0 };
	struct err *err;

	if (!path)
		return NULL;
	err = file_map_open(path, &m);
	if (err) {
		err_free(err); /* the error comes again when it is started */
		return NULL;
	}
	if (m.len > 4 && memcmp(m.data, "\177ELF", 4) == 0)
		for (size_t i = 0; i < ARRAY_SIZE(frameworks) && !found; i++)
			for (const char *const *k = frameworks[i].markers; *k && !found; k++)
				if (memmem(m.data, m.len, *k, strlen(*k)))
					found = &frameworks[i];
	file_map_close(&m);
	return found;
}

const char *suite_unable(const char *program)
{
	const struct framework *f = framework_of(program);

	return f ? f->unable : NULL;
}

const char *suite_fork_advice(const char *program)
{
	const struct framework *f = framework_of(program);

	return !f ? NULL : f->unable ? f->unable : f->forks;
}

/* ---- asking ---- */

static struct err *ask(const struct suite_test *model, const char *out, const char *complaints)
{
	const struct framework *f = model->framework;
	struct words command = { 0 };
	struct environment env = { 0 };
	struct process p;
	struct process_options o = { .folder = model->folder,
				     .in = "/dev/null",
				     .out = out,
				     .err = complaints,
				     .timeout = LIST_SECONDS,
				     .own_group = true };
	struct err *err;

	words_copy(&command, &model->command);
	for (const char *const *w = f->list; *w; w++)
		words_push(&command, *w);
	environment_copy(&env);
	for (size_t i = 0; i < model->environment.len; i++)
		environment_put(&env, model->environment.data[i]);
	for (const char *const *w = f->list_environment; *w; w++)
		environment_put(&env, *w);
	o.argv = command.data;
	o.env = env.data;
	err = process_run(&o, &p);
	if (!err && p.timed_out)
		err = err_new(ERR_ENV, "it did not list its tests within %d seconds", LIST_SECONDS);
	if (!err && p.signal)
		err = err_new(ERR_ENV, "it was killed by signal %d when asked for its tests",
			      p.signal);
	words_deinit(&command);
	environment_deinit(&env);
	return err_wrap(err, "%s", model->command.data[0]);
}

struct err *framework_list(const struct suite_test *model, struct words *ret)
{
	_cleanup_(strbuf_deinit) struct strbuf text = { 0 };
	char *dir = NULL;
	struct err *err = file_temp_dir(&dir);
	_cleanup_(xfreep) char *out = xasprintf("%s/list", dir ? dir : "");

	if (!err)
		err = ask(model, out, out); /* Boost.Test lists on its standard error */
	if (!err)
		err = file_read(out, &text);
	if (!err && text.len)
		model->framework->parse(text.data, ret);
	if (dir)
		file_remove_tree(dir);
	free(dir);
	return err;
}
