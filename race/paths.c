/* race/paths.c - other inputs: a race that is harmless with one may not be with the next.
 *
 * First what the user has: --try gives arguments, --inputs files or folders for standard input. Then
 * inputs of our own making, when the program carries its bitcode: the symbolic machine explores it
 * with one argument more and with the given arguments and input unknown (001 section 7.2.2, "multi-
 * pre"), and solves an input for every path. Each is run once, natively and under control. One that
 * reaches code which no input before it has reached is kept, up to k inputs in all. Each kept input
 * gets the same search for races as the user's own, and its races become instances like all others,
 * so an input that does not have the race costs a few runs and changes nothing. */
#define LOG_DOMAIN "race"
#include "race/study.h"

#include "base/err.h"
#include "base/file.h"
#include "base/interrupt.h"
#include "base/log.h"
#include "trace/trace.h"

#include <ctype.h>
#include <errno.h>
#include <dirent.h>
#include <wordexp.h>

/* ---- the user's ---- */

/* The program, then the words of a line as a shell splits them. */
static struct err *split(const char *program, const char *line, char ***ret)
{
	wordexp_t words;
	size_t n = 0;

	if (wordexp(line, &words, WRDE_NOCMD | WRDE_UNDEF))
		return err_new(ERR_USAGE,
			       "--try '%s': these are no words for a command line; "
			       "quote what has special characters",
			       line);
	*ret = xcalloc(words.we_wordc + 2, sizeof(**ret));
	(*ret)[n++] = xstrdup(program);
	for (size_t i = 0; i < words.we_wordc; i++)
		(*ret)[n++] = xstrdup(words.we_wordv[i]);
	wordfree(&words);
	return NULL;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Every file of a folder is an input, by name; a file is one. */
static struct err *add_files(struct study *s, const char *path)
{
	VEC(char *) files = { 0 };
	DIR *dir = opendir(path);
	struct dirent *e;

	if (!dir) {
		if (!file_exists(path))
			return err_errno(errno, "--inputs %s", path);
		study_add_input(s, NULL, path);
		return NULL;
	}
	while ((e = readdir(dir)))
		if (e->d_name[0] != '.')
			vec_push(&files, xasprintf("%s/%s", path, e->d_name));
	closedir(dir);
	vec_sort(&files, by_name);
	for (size_t i = 0; i < files.len; i++) {
		study_add_input(s, NULL, files.data[i]);
		vec_push(&s->texts, files.data[i]);
	}
	vec_deinit(&files);
	return NULL;
}

struct err *paths_given(struct study *s)
{
	struct err *err = NULL;

	for (size_t i = 0; i < s->o->tries.len && !err; i++) {
		char **words;

		err = split(s->o->target.argv[0], s->o->tries.data[i], &words);
		if (!err)
			study_add_input(s, words, NULL);
	}
	for (size_t i = 0; i < s->o->inputs.len && !err; i++)
		err = add_files(s, s->o->inputs.data[i]);
	return err;
}

/* ---- a larger team ---- */

/* How OpenMP divides a loop depends on the number of threads: two iterations that depend on each other
 * may be one thread's with two, and not with many. Many threads are slow, so they are tried only if the
 * given inputs have shown no race. */
static char *const larger_team[] = { "OMP_NUM_THREADS=200", NULL };
enum { TEAM_RUNS = 4 };

static bool uses_openmp(const struct study *s)
{
	const struct session *session = s->inputs.data[0]->session;
	const struct plait_run *run = session ? session_process(session) : NULL;

	for (uint32_t i = 0; run && i < run->nmodules; i++)
		if (strstr(run->modules[i].path, "omp.so") ||
		    strstr(run->modules[i].path, "omp5.so"))
			return true;
	return false;
}

struct err *paths_team(struct study *s)
{
	unsigned runs = s->o->runs;
	struct err *err;

	if (!uses_openmp(s) || s->groups.len || s->o->target.env || s->inputs.len >= s->o->paths)
		return NULL;
	study_add_input(s, NULL, s->o->target.input);
	(*vec_last(&s->inputs))->target.env = larger_team;
	s->o->runs = MIN(runs, TEAM_RUNS);
	err = find_races(s, (uint32_t)s->inputs.len - 1);
	s->o->runs = runs;
	return err;
}

#ifdef NO_SYM
struct err *paths_made(struct study *s)
{
	s->result->note = xstrdup("this unplait was built without the symbolic machine: no inputs "
				  "but the given ones were tried");
	return NULL;
}
#else

#include "sym/sym.h"

enum {
	CANDIDATES = 24,
	EXPLORED = 64,	/* paths per exploration */
	EXTRA_LEN = 3,	/* bytes of the argument that is added */
	MADE_RUNS = 12, /* that look for races with an input of ours */
};
#define EXPLORE_SECONDS 3

struct candidate {
	char **args;
	char *input;
	size_t input_len;
	int oddity; /* the less, the more a person would type it */
};
struct candidates VEC_FIELDS(struct candidate);

static void candidate_free(struct candidate *c)
{
	for (char **word = c->args; word && *word; word++)
		free(*word);
	free(c->args);
	free(c->input);
}

static int oddity_of(const char *text, size_t len)
{
	int odd = (int)MIN(len, (size_t)8);

	for (size_t i = 0; i < len; i++)
		odd += isprint((unsigned char)text[i]) ? 0 : 20;
	return odd;
}

static void add_candidate(struct candidates *all, const struct sym_path *p, const char *program)
{
	struct candidate c = { .args = xcalloc(p->nargs + 2, sizeof(*c.args)) };

	c.args[0] = xstrdup(program);
	for (uint32_t i = 1; i < p->nargs; i++) {
		c.args[i] = xstrdup(p->args[i]); /* up to its end, as a program sees it */
		c.oddity += oddity_of(c.args[i], strlen(c.args[i]));
	}
	if (p->input_len) {
		c.input = xmemdup(p->input, p->input_len);
		c.input_len = p->input_len;
		c.oddity += oddity_of(c.input, c.input_len);
	}
	vec_push(all, c);
}

static int by_oddity(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;

	if (x->oddity != y->oddity)
		return x->oddity - y->oddity;
	for (size_t i = 1; x->args[i] && y->args[i]; i++)
		if (strcmp(x->args[i], y->args[i]))
			return strcmp(x->args[i], y->args[i]);
	return (x->input_len > y->input_len) - (x->input_len < y->input_len);
}

/* One exploration: the given words unknown, or one more word. */
static struct err *explore(struct study *s, struct sym_program *p, bool given,
			   struct candidates *ret)
{
	const struct target *t = &s->o->target;
	struct sym_config c = { .args = (const char *const *)t->argv,
				.input = t->input_data,
				.input_len = t->input_len,
				.max_seconds = EXPLORE_SECONDS,
				.max_paths = EXPLORED,
				.max_states = 1000,
				.max_ops = 20000000,
				.interrupted = interrupted,
				.query_ms = 1000,
				.order = "cover",
				.keep_paths = true,
				.all_errors = true };
	struct sym_result r = { 0 };
	struct err *err;

	for (char **word = t->argv; *word; word++)
		c.nargs++;
	if (given && c.nargs < 2 && !t->input_len)
		return NULL;
	c.sym_given = given;
	c.sym_args = !given;
	c.sym_arg_len = EXTRA_LEN;
	err = sym_explore(p, &c, &r);
	for (size_t i = 0; i < r.paths.len && !err; i++) {
		const struct sym_path *path = &r.paths.data[i];

		if (path->outcome.kind == SYM_UNSUPPORTED && !s->result->note)
			s->result->note = xasprintf("other inputs were looked for in part: %s",
						    path->outcome.message);
		else if (path->outcome.kind != SYM_BUDGET)
			add_candidate(ret, path, t->argv[0]);
	}
	sym_result_deinit(&r);
	return err;
}

/* ---- which of them are worth a search ---- */

static struct err *note_sites(struct trace *t, struct map *seen, bool *news)
{
	_cleanup_(cursor_deinit) struct cursor cur;
	const struct event *ev;
	struct err *err;
	size_t before = seen->len;

	cursor_init(&cur, t, CURSOR_ALL, 0);
	while (!(err = cursor_next(&cur, &ev)) && ev)
		if (ev->site)
			map_put(seen, ev->site, 1);
	*news = seen->len > before;
	return err;
}

/* Run it once: does it come to places where none before it was? */
static struct err *has_news(struct study *s, uint32_t input, struct map *seen, bool *ret)
{
	struct run_request req = { .strategy = PLAIT_STRATEGY_STAY,
				   .points = PLAIT_POINTS_ALL,
				   .point_budget = s->budget };
	struct run_result r = { 0 };
	struct trace *t = NULL;
	struct err *err = study_record(s, input, &req, &r, &t);

	*ret = false;
	if (!err && r.nthreads > 1)
		err = note_sites(t, seen, ret);
	trace_close(t);
	run_result_deinit(&r);
	return err;
}

static void add_made(struct study *s, struct candidate *c)
{
	study_add_input(s, c->args, NULL);
	c->args = NULL;
	if (!c->input)
		return;
	(*vec_last(&s->inputs))->target.input = NULL;
	(*vec_last(&s->inputs))->target.input_data = c->input;
	(*vec_last(&s->inputs))->target.input_len = c->input_len;
	vec_push(&s->texts, c->input);
	c->input = NULL;
}

static struct err *try_candidates(struct study *s, struct candidates *all)
{
	_cleanup_(map_deinit) struct map seen = { 0 };
	unsigned runs = s->o->runs;
	struct err *err = NULL;
	bool news;

	for (uint32_t i = 0; i < s->inputs.len && !err; i++)
		err = has_news(s, i, &seen, &news);
	for (size_t i = 0; i < all->len && i < CANDIDATES && !err; i++) {
		if (s->inputs.len >= s->o->paths || study_out_of_time(s))
			break;
		progress("trying other inputs: %zu of %zu", i + 1, MIN(all->len, CANDIDATES));
		add_made(s, &all->data[i]);
		err = has_news(s, (uint32_t)s->inputs.len - 1, &seen, &news);
		if (err || !news) {
			study_drop_input(s);
			continue;
		}
		s->o->runs = MIN(runs, MADE_RUNS);
		err = find_races(s, (uint32_t)s->inputs.len - 1);
		s->o->runs = runs;
	}
	return err;
}

struct err *paths_made(struct study *s)
{
	struct candidates all = { 0 };
	struct sym_program *p = NULL;
	struct err *err;

	if (s->inputs.len >= s->o->paths || s->result->threads < 2)
		return NULL;
	err = sym_open(s->o->target.argv[0], NULL, &p);
	if (!err)
		err = explore(s, p, true, &all);
	if (!err)
		err = explore(s, p, false, &all);
	sym_close(p);
	if (err && !interrupted()) { /* this is a bonus: the given inputs have been looked at */
		s->result->note =
			xasprintf("no inputs but the given ones were tried: %s", err_message(err));
		err_free(err);
		err = NULL;
	}
	vec_sort(&all, by_oddity);
	if (!err)
		err = try_candidates(s, &all);
	for (size_t i = 0; i < all.len; i++)
		candidate_free(&all.data[i]);
	vec_deinit(&all);
	return err;
}
#endif
