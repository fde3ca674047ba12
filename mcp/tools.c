/* mcp/tools.c - see tools.h.
 *
 * One table: schema, command line and hints come from it. Values of arguments go to the command as
 * words of their own, never through a shell. A value that begins with a dash cannot become an option:
 * words stand behind `--`, and values of options are written as --option=value. */
#include "mcp/tools.h"

#include "base/err.h"
#include "base/file.h"
#include "base/strbuf.h"
#include "mcp/mcp.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PLAIT                                                                                      \
	{ "plait", MCP_TEXT, true, "a .plait file that hunt, test, races or predict saved", NULL }
#define COMMAND                                                                                    \
	{ "command", MCP_LIST, true, "the program and its arguments, one string each", NULL }
#define SECONDS(n) { "seconds", MCP_NUMBER, false, "how long to search (" #n ")", "--time" }

static const struct mcp_tool tools[] = {
	{ .name = "test",
	  .title = "Hunt through tests",
	  .help = "Run every test of a test binary or a build folder (CTest, Meson) under many "
		  "thread "
		  "schedules. A test that fails under one of them is replayed and explained. The "
		  "program must be built with CC='unplait cc' CXX='unplait c++'.",
	  .command = { "test" },
	  .arguments = { { "target", MCP_TEXT, true, "a test binary or a build folder", NULL },
			 { "filter", MCP_TEXT, false, "only tests whose name matches this pattern",
			   "--filter" },
			 SECONDS(60) },
	  .nothing = "No test failed. Give it more seconds, or hunt the command of one test.",
	  .found = "Call explain with the plait of a failing test for the whole story, and source "
		   "for "
		   "the lines it names. After the fix: build again and call test again.",
	  .open = "Some tests could not be judged: the lines above say why." },
	{ .name = "hunt",
	  .title = "Search for a failing schedule",
	  .help = "Run one command under many thread schedules until it fails (assertion, crash, "
		  "deadlock, hang, failing exit status, misuse of memory). The failing schedule is "
		  "saved "
		  "as a plait and replays exactly. The program must be built with CC='unplait cc'.",
	  .command = { "hunt" },
	  .arguments = { SECONDS(30),
			 { "output", MCP_TEXT, true,
			   "where to save the failing schedule, such as "
			   "fail.plait",
			   "--output" },
			 COMMAND },
	  .nothing = "Nothing failed. If the text says that every schedule was explored, this "
		     "input is "
		     "done; else give it more seconds or another input.",
	  .found = "Call explain with the saved plait: it names the cause and tests a cure.",
	  .open = "The search could not decide: the lines above say why, and what to change." },
	{ .name = "replay",
	  .title = "Replay a failing schedule",
	  .help = "Run a saved schedule again, exactly, and say whether it fails the same way.",
	  .command = { "replay" },
	  .arguments = { { "times", MCP_NUMBER, false, "how often (1)", "--times" }, PLAIT },
	  .nothing = "It passed to its end.",
	  .found = "It fails again. Call explain for the cause, or look for variables at the "
		   "failure.",
	  .open = "The replay took another way: was the program built again? Hunt again." },
	{ .name = "look",
	  .title = "Look at variables in a replay",
	  .help = "Replay a saved schedule under gdb to its failure, or to one event, run gdb "
		  "commands "
		  "there, and leave. Examples: 'bt', 'print queue->size', 'info locals', 'plait "
		  "goto "
		  "120', 'plait who-wrote queue->size', 'plait threads'.",
	  .command = { "replay", "--gdb" },
	  .arguments = { { "gdb", MCP_LIST, true, "gdb commands, in order", "--gdb-command" },
			 PLAIT },
	  .nothing = "",
	  .found = "",
	  .open = "" },
	{ .name = "explain",
	  .title = "Why does this schedule fail?",
	  .help = "Compare a failing schedule with the nearest one that passes: the few events "
		  "that "
		  "matter, the cause, and advice that was tested over many schedules.",
	  .command = { "explain" },
	  .arguments = { PLAIT },
	  .nothing = "It does not fail any more.",
	  .found = "Read the lines it names with source. Apply the advice, build again, and hunt "
		   "again: "
		   "a good fix finds nothing.",
	  .open = "The cause is not known; what differs nearest is shown. Look at those lines." },
	{ .name = "races",
	  .title = "Data races and what they do",
	  .help = "Find the data races of a command and give each a verdict: one order fails, the "
		  "output "
		  "differs, only one order is possible, or no difference was seen. Both orders "
		  "replay.",
	  .command = { "races" },
	  .arguments = { SECONDS(30), COMMAND },
	  .nothing = "No harmful race was seen.",
	  .found = "Call explain with the plait of the order that fails.",
	  .open = "A race was left without verdict: give it more seconds." },
	{ .name = "predict",
	  .title = "Failures predicted from passing runs",
	  .help = "Record a few passing runs of a command, and work out schedules that would fail. "
		  "Each "
		  "is run natively before it is shown.",
	  .command = { "predict", "--record=3" },
	  .arguments = { SECONDS(30), COMMAND },
	  .nothing = "Nothing was predicted.",
	  .found = "Call explain with the saved plait.",
	  .open = "Only unconfirmed proposals, or the program could not be followed: use hunt." },
	{ .name = "info",
	  .title = "Look inside a plait or a binary",
	  .help = "What a plait records (program, outcome, threads, inputs), or what a binary "
		  "built with "
		  "unplait has.",
	  .command = { "info" },
	  .arguments = { { "file", MCP_TEXT, true, "a plait or a binary", NULL } },
	  .nothing = "",
	  .found = "",
	  .open = "" },
	{ .name = "source",
	  .title = "Source around a line",
	  .help = "Lines of a source file, with numbers.",
	  .arguments = { { "file", MCP_TEXT, true, "the file, as a report names it", NULL },
			 { "line", MCP_NUMBER, true, "the line in the middle", NULL },
			 { "around", MCP_NUMBER, false, "lines before and after it (10)",
			   NULL } } },
};

const struct mcp_tool *mcp_tool_find(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(tools); i++)
		if (strcmp(tools[i].name, name) == 0)
			return &tools[i];
	return NULL;
}

/* ---- tools/list ---- */

static cJSON *argument_schema(const struct mcp_argument *a)
{
	static const char *const types[] = { "string", "number", "array" };
	cJSON *s = cJSON_CreateObject();

	cJSON_AddStringToObject(s, "type", types[a->kind]);
	cJSON_AddStringToObject(s, "description", a->help);
	if (a->kind == MCP_LIST) {
		cJSON_AddStringToObject(cJSON_AddObjectToObject(s, "items"), "type", "string");
		cJSON_AddNumberToObject(s, "minItems", 1);
	}
	return s;
}

static cJSON *tool_schema(const struct mcp_tool *t)
{
	cJSON *s = cJSON_CreateObject(), *properties, *needed;

	cJSON_AddStringToObject(s, "type", "object");
	properties = cJSON_AddObjectToObject(s, "properties");
	needed = cJSON_AddArrayToObject(s, "required");
	for (const struct mcp_argument *a = t->arguments; a->name; a++) {
		cJSON_AddItemToObject(properties, a->name, argument_schema(a));
		if (a->needed)
			cJSON_AddItemToArray(needed, cJSON_CreateString(a->name));
	}
	cJSON_AddBoolToObject(s, "additionalProperties", false);
	return s;
}

cJSON *mcp_tools_list(void)
{
	cJSON *list = cJSON_CreateObject(), *all = cJSON_AddArrayToObject(list, "tools");

	for (size_t i = 0; i < ARRAY_SIZE(tools); i++) {
		cJSON *t = cJSON_CreateObject();

		cJSON_AddStringToObject(t, "name", tools[i].name);
		cJSON_AddStringToObject(t, "title", tools[i].title);
		cJSON_AddStringToObject(t, "description", tools[i].help);
		cJSON_AddItemToObject(t, "inputSchema", tool_schema(&tools[i]));
		cJSON_AddItemToArray(all, t);
	}
	return list;
}

/* ---- tools/call ---- */

static struct err *wrong(const struct mcp_argument *a, const char *what)
{
	return err_new(ERR_USAGE, "%s must be %s: %s", a->name, what, a->help);
}

static struct err *check_list(const struct mcp_argument *a, const cJSON *v)
{
	const cJSON *word;

	if (!cJSON_IsArray(v) || cJSON_GetArraySize(v) == 0)
		return wrong(a, "a list of strings");
	cJSON_ArrayForEach(word, v) if (!cJSON_IsString(word)) return wrong(a, "a list of strings");
	return NULL;
}

static struct err *check(const struct mcp_argument *a, const cJSON *v)
{
	switch (a->kind) {
	case MCP_TEXT:
		return cJSON_IsString(v) && *v->valuestring ? NULL : wrong(a, "a string");
	case MCP_NUMBER:
		return cJSON_IsNumber(v) && isfinite(v->valuedouble) && v->valuedouble >= 0
			       ? NULL
			       : wrong(a, "a number");
	case MCP_LIST:
		return check_list(a, v);
	}
	return NULL;
}

static struct err *check_all(const struct mcp_tool *t, const cJSON *arguments)
{
	const cJSON *given;

	for (const struct mcp_argument *a = t->arguments; a->name; a++) {
		const cJSON *v = cJSON_GetObjectItemCaseSensitive(arguments, a->name);
		struct err *err = v ? check(a, v) : NULL;

		if (!v && a->needed)
			return err_new(ERR_USAGE, "%s is missing: %s", a->name, a->help);
		if (err)
			return err;
	}
	cJSON_ArrayForEach(given, arguments)
	{
		const struct mcp_argument *a = t->arguments;

		while (a->name && strcmp(a->name, given->string) != 0)
			a++;
		if (!a->name)
			return err_new(ERR_USAGE, "%s takes no argument %s", t->name,
				       given->string);
	}
	return NULL;
}

static void push_value(const struct mcp_argument *a, const char *value, struct words *ret)
{
	words_take(ret, a->option ? xasprintf("%s=%s", a->option, value) : xstrdup(value));
}

/* A search must end before its call does, so that it can tell what it has. */
static double clamp(const struct mcp_argument *a, double v, const struct mcp_options *o)
{
	return a->option && strcmp(a->option, "--time") == 0 ? MIN(v, o->seconds * 0.8) : v;
}

static void push_argument(const struct mcp_argument *a, const cJSON *v, const struct mcp_options *o,
			  struct words *ret)
{
	const cJSON *word;

	if (a->kind == MCP_LIST) {
		cJSON_ArrayForEach(word, v) push_value(a, word->valuestring, ret);
	} else if (a->kind == MCP_NUMBER) {
		_cleanup_(xfreep) char *number = xasprintf("%.15g", clamp(a, v->valuedouble, o));

		push_value(a, number, ret);
	} else {
		push_value(a, v->valuestring, ret);
	}
}

static void push_all(const struct mcp_tool *t, const cJSON *arguments, bool options,
		     const struct mcp_options *o, struct words *ret)
{
	for (const struct mcp_argument *a = t->arguments; a->name; a++) {
		const cJSON *v = cJSON_GetObjectItemCaseSensitive(arguments, a->name);

		if (v && (a->option != NULL) == options)
			push_argument(a, v, o, ret);
	}
}

struct err *mcp_tool_command(const struct mcp_tool *t, const cJSON *arguments,
			     const struct mcp_options *o, struct words *ret)
{
	struct err *err = check_all(t, arguments);

	if (err)
		return err;
	words_push(ret, o->program);
	for (size_t i = 0; i < ARRAY_SIZE(t->command) && t->command[i]; i++)
		words_push(ret, t->command[i]);
	push_all(t, arguments, true, o, ret);
	words_push(ret, "--");
	push_all(t, arguments, false, o, ret);
	return NULL;
}

/* ---- source ---- */

static unsigned number(const cJSON *arguments, const char *name, unsigned otherwise)
{
	const cJSON *v = cJSON_GetObjectItemCaseSensitive(arguments, name);

	return cJSON_IsNumber(v) ? (unsigned)MIN(MAX(v->valuedouble, 0), 1e9) : otherwise;
}

/* A file below root, whatever links and dots the name has. */
static struct err *find_below(const char *root, const char *name, char **ret)
{
	_cleanup_(xfreep) char *path =
		*name == '/' ? xstrdup(name) : xasprintf("%s/%s", root, name);
	_cleanup_(xfreep) char *real_root = realpath(root, NULL);
	char *real = realpath(path, NULL);
	size_t n = real_root ? strlen(real_root) : 0;

	if (!real)
		return err_new(ERR_ENV, "there is no file %s", name);
	if (!real_root || strncmp(real, real_root, n) != 0 || (n > 1 && real[n] != '/')) {
		free(real);
		return err_new(ERR_ENV, "%s lies outside of the folder that this server shows",
			       name);
	}
	*ret = real;
	return NULL;
}

static void add_lines(const char *text, unsigned middle, unsigned around, struct strbuf *ret)
{
	unsigned line = 1, first = middle > around ? middle - around : 1;

	for (const char *p = text; *p && line <= middle + around; line++) {
		size_t n = strcspn(p, "\n");

		if (line >= first)
			strbuf_addf(ret, "%c%5u  %.*s\n", line == middle ? '>' : ' ', line,
				    (int)MIN(n, (size_t)400), p);
		p += n + (p[n] == '\n');
	}
}

struct err *mcp_source(const cJSON *arguments, const char *root, struct strbuf *ret)
{
	_cleanup_(strbuf_deinit) struct strbuf text = { 0 };
	_cleanup_(xfreep) char *path = NULL;
	const cJSON *name = cJSON_GetObjectItemCaseSensitive(arguments, "file");
	unsigned middle = number(arguments, "line", 1);
	struct err *err = check_all(mcp_tool_find("source"), arguments);

	if (!err)
		err = find_below(root, name->valuestring, &path);
	if (!err)
		err = file_read(path, &text);
	if (err)
		return err;
	if (memchr(strbuf_str(&text), '\0', text.len))
		return err_new(ERR_ENV, "%s is not a text file", name->valuestring);
	add_lines(strbuf_str(&text), middle, MIN(number(arguments, "around", 10), 200u), ret);
	if (!ret->len)
		return err_new(ERR_ENV, "%s has fewer than %u lines", name->valuestring, middle);
	return NULL;
}
