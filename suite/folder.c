/* suite/folder.c - the tests of a build folder, from CTest (`ctest --show-only=json-v1`) or Meson
 * (meson-info/intro-tests.json, which every build folder has). */
#include "suite/framework.h"

#include "base/err.h"
#include "base/file.h"
#include "base/process.h"
#include "suite/read.h"

#include <stdio.h>
#include <sys/stat.h>

enum { CTEST_SECONDS = 60, MESON_SKIPS = 77 };

static char *in_folder(const char *folder, const char *file)
{
	return xasprintf("%s/%s", folder, file);
}

static bool has(const char *folder, const char *file)
{
	_cleanup_(xfreep) char *path = in_folder(folder, file);

	return file_exists(path);
}

#define CTEST_FILE "CTestTestfile.cmake"
#define MESON_FILE "meson-info/intro-tests.json"

bool folder_has_tests(const char *folder)
{
	return has(folder, CTEST_FILE) || has(folder, MESON_FILE);
}

/* ---- JSON ---- */

static void push_all(const cJSON *array, struct words *ret)
{
	const cJSON *item;

	cJSON_ArrayForEach(item, array) if (cJSON_IsString(item))
		words_push(ret, item->valuestring);
}

/* Hunts inside hunts make no sense. */
static bool is_ours(const struct suite_test *t)
{
	const char *name = t->command.len ? t->command.data[0] : "", *slash = strrchr(name, '/');

	return strcmp(slash ? slash + 1 : name, "unplait") == 0;
}

/* Started where we are: nothing to be said about it. */
static void forget_own_folder(struct suite_test *t)
{
	struct stat here, there;

	if (!t->folder || stat(".", &here) < 0 || stat(t->folder, &there) < 0 ||
	    here.st_dev != there.st_dev || here.st_ino != there.st_ino)
		return;
	free(t->folder);
	t->folder = NULL;
}

static void keep(struct suite_tests *tests, struct suite_test *t)
{
	forget_own_folder(t);
	if (is_ours(t))
		suite_test_deinit(t);
	else
		vec_push(tests, *t);
}

/* ---- CTest ---- */

/* False: CTest does not run it either. */
static bool take_property(struct suite_test *t, const char *name, const cJSON *value)
{
	if (!strcmp(name, "DISABLED"))
		return !cJSON_IsTrue(value);
	if (!strcmp(name, "WORKING_DIRECTORY") && cJSON_IsString(value)) {
		free(t->folder);
		t->folder = xstrdup(value->valuestring);
	} else if (!strcmp(name, "ENVIRONMENT")) {
		push_all(value, &t->environment);
	} else if (!strcmp(name, "SKIP_RETURN_CODE") && cJSON_IsNumber(value)) {
		t->skip_status = value->valueint;
	} else if (!strcmp(name, "WILL_FAIL") && cJSON_IsTrue(value)) {
		t->unable = "CTest expects it to fail (WILL_FAIL)";
	} else if (!strcmp(name, "PASS_REGULAR_EXPRESSION") ||
		   !strcmp(name, "FAIL_REGULAR_EXPRESSION")) {
		t->unable = "CTest judges it by its output, with a regular expression";
	}
	return true;
}

static void ctest_test(const cJSON *test, struct suite_tests *ret)
{
	const cJSON *properties = get(test, "properties"), *p;
	const char *name = get_text(test, "name");
	struct suite_test t = { .name = xstrdup(name ? name : "?") };
	bool enabled = true;

	push_all(get(test, "command"), &t.command);
	cJSON_ArrayForEach(p, properties)
	{
		const char *key = get_text(p, "name");

		if (key && !take_property(&t, key, get(p, "value")))
			enabled = false;
	}
	if (!t.command.len)
		t.unable = "its program has not been built";
	if (enabled)
		keep(ret, &t);
	else
		suite_test_deinit(&t);
}

static struct err *run_ctest(const char *folder, const char *out)
{
	char *argv[] = { "ctest", "--show-only=json-v1", NULL };
	struct process_options o = { .argv = argv,
				     .folder = folder,
				     .in = "/dev/null",
				     .out = out,
				     .timeout = CTEST_SECONDS };
	struct process p;
	struct err *err = process_run(&o, &p);

	if (!err && p.exit_code != 0)
		err = err_new(ERR_ENV, "ctest --show-only failed in %s", folder);
	return err;
}

static struct err *list_ctest(const char *folder, struct suite_tests *ret)
{
	char *dir = NULL;
	struct err *err = file_temp_dir(&dir);
	_cleanup_(xfreep) char *out = xasprintf("%s/tests.json", dir ? dir : "");
	cJSON *json = NULL;
	const cJSON *test;

	if (!err)
		err = run_ctest(folder, out);
	if (!err)
		err = read_json(out, &json);
	cJSON_ArrayForEach(test, get(json, "tests")) ctest_test(test, ret);
	cJSON_Delete(json);
	if (dir)
		file_remove_tree(dir);
	free(dir);
	return err;
}

/* ---- Meson ---- */

static void meson_test(const cJSON *test, struct suite_tests *ret)
{
	const char *name = get_text(test, "name"), *folder = get_text(test, "workdir");
	const cJSON *variable;
	struct suite_test t = { .name = xstrdup(name ? name : "?"),
				.folder = folder ? xstrdup(folder) : NULL,
				.skip_status = MESON_SKIPS };

	push_all(get(test, "cmd"), &t.command);
	cJSON_ArrayForEach(variable, get(test, "env")) if (cJSON_IsString(variable)) words_take(
		&t.environment, xasprintf("%s=%s", variable->string, variable->valuestring));
	if (!t.command.len || !file_exists(t.command.data[0]))
		t.unable = "its program has not been built";
	keep(ret, &t);
}

static struct err *list_meson(const char *folder, struct suite_tests *ret)
{
	_cleanup_(xfreep) char *path = in_folder(folder, MESON_FILE);
	cJSON *json = NULL;
	const cJSON *test;
	struct err *err = read_json(path, &json);

	cJSON_ArrayForEach(test, json) meson_test(test, ret);
	cJSON_Delete(json);
	return err;
}

struct err *folder_list(const char *folder, struct suite_tests *ret)
{
	if (has(folder, CTEST_FILE))
		return list_ctest(folder, ret);
	if (has(folder, MESON_FILE))
		return list_meson(folder, ret);
	return err_new(ERR_ENV,
		       "%s is not a build folder with tests: it has neither " CTEST_FILE
		       " (CMake with enable_testing()) nor " MESON_FILE
		       "; name a test program or its build folder",
		       folder);
}
