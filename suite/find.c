/* suite/find.c - from what the user names to a list of tests. */
#include "suite/suite.h"

#include "base/err.h"
#include "base/file.h"
#include "base/log.h"
#include "base/opt.h"
#include "suite/framework.h"

#include <fnmatch.h>
#include <stdio.h>
#include <sys/stat.h>

/* ---- words, tests ---- */

void suite_test_deinit(struct suite_test *t)
{
	words_deinit(&t->command);
	words_deinit(&t->environment);
	free(t->name);
	free(t->folder);
	memset(t, 0, sizeof(*t));
}

void suite_deinit(struct suite *s)
{
	for (size_t i = 0; i < s->tests.len; i++)
		suite_test_deinit(&s->tests.data[i]);
	vec_deinit(&s->tests);
	free(s->what);
	s->what = NULL;
}

/* ---- one command becomes its tests ---- */

static struct suite_test *add_like(struct suite *s, const struct suite_test *model, char *name)
{
	struct suite_test *t = vec_add(&s->tests);

	t->name = name;
	t->framework = model->framework;
	t->skip_status = model->skip_status;
	t->unable = model->unable;
	t->folder = model->folder ? xstrdup(model->folder) : NULL;
	words_copy(&t->command, &model->command);
	words_copy(&t->environment, &model->environment);
	return t;
}

static void recognise(struct suite_test *t)
{
	t->framework = t->command.len ? framework_of(t->command.data[0]) : NULL;
	if (!t->framework)
		return;
	if (t->framework->environment[0])
		words_push(&t->environment, t->framework->environment[0]);
	if (!t->unable)
		t->unable = t->framework->unable;
}

/* prefix: of the names; NULL = none. A program that does not list its tests is one test. */
static struct err *expand(struct suite *s, struct suite_test *model, const char *prefix)
{
	struct words names = { 0 };
	struct err *err;

	err = model->framework ? framework_list(model, &names) : NULL;
	if (err) {
		log_warn("%s; it is hunted as one test", err_message(err));
		err_free(err);
	}
	for (size_t i = 0; i < names.len; i++) {
		struct suite_test *t = add_like(s, model,
						prefix ? xasprintf("%s/%s", prefix, names.data[i])
						       : xstrdup(names.data[i]));

		model->framework->select(t, names.data[i]);
	}
	if (!names.len)
		add_like(s, model, xstrdup(prefix ? prefix : model->command.data[0]));
	words_deinit(&names);
	return NULL;
}

static struct err *find_in_folder(const char *folder, struct suite *ret)
{
	struct suite_tests listed = { 0 };
	struct err *err = folder_list(folder, &listed);

	for (size_t i = 0; !err && i < listed.len; i++) {
		struct suite_test *t = &listed.data[i];

		recognise(t);
		/* with arguments it has been told already which of its tests to run */
		if (t->unable || t->command.len != 1)
			add_like(ret, t, xstrdup(t->name));
		else
			err = expand(ret, t, t->name);
	}
	for (size_t i = 0; i < listed.len; i++)
		suite_test_deinit(&listed.data[i]);
	vec_deinit(&listed);
	ret->what = xstrdup(folder);
	return err;
}

static struct err *find_in_binary(char *const *words, struct suite *ret)
{
	_cleanup_(xfreep) char *program = file_find_program(words[0]);
	struct suite_test model = { 0 };
	struct err *err;

	if (!program)
		return err_new(ERR_ENV, "%s: no such program or build folder", words[0]);
	for (; *words; words++)
		words_push(&model.command, *words);
	recognise(&model);
	err = expand(ret, &model, NULL);
	ret->what = model.framework
			    ? xasprintf("%s (%s)", model.command.data[0], model.framework->name)
			    : xstrdup(model.command.data[0]);
	suite_test_deinit(&model);
	return err;
}

/* The folder itself, or its build/. */
static struct err *find_folder(const char *folder, struct suite *ret)
{
	_cleanup_(xfreep) char *below = xasprintf("%s/build", folder);

	if (!folder_has_tests(folder) && folder_has_tests(below))
		return find_in_folder(below, ret);
	return find_in_folder(folder, ret);
}

struct err *suite_find(char *const *words, struct suite *ret)
{
	struct stat st;
	struct err *err;

	if (!words[0])
		err = find_folder(".", ret);
	else if (stat(words[0], &st) == 0 && S_ISDIR(st.st_mode))
		err = words[1] ? err_new(ERR_USAGE, "a build folder takes no arguments")
			       : find_folder(words[0], ret);
	else
		err = find_in_binary(words, ret);
	if (!err && !ret->tests.len)
		err = err_new(ERR_ENV, "%s has no tests", ret->what);
	return err;
}

/* ---- choosing ---- */

static bool matches(const char *name, const struct strings *patterns, const struct strings *names)
{
	for (size_t i = 0; i < patterns->len; i++)
		if (fnmatch(patterns->data[i], name, 0) == 0)
			return true;
	for (size_t i = 0; i < names->len; i++)
		if (strcmp(names->data[i], name) == 0)
			return true;
	return false;
}

void suite_keep_matching(struct suite *s, const struct strings *patterns,
			 const struct strings *names)
{
	size_t kept = 0;

	for (size_t i = 0; i < s->tests.len; i++)
		if (matches(s->tests.data[i].name, patterns, names))
			s->tests.data[kept++] = s->tests.data[i];
		else
			suite_test_deinit(&s->tests.data[i]);
	s->tests.len = kept;
}
