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

#include <dirent.h>
#include <errno.h>
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

/* A prediction is no race until a run has met it. */
static bool has_seen_a_race(const struct study *s)
{
	for (size_t i = 0; i < s->groups.len; i++)
		if (s->groups.data[i].seen)
			return true;
	return false;
}

struct err *paths_team(struct study *s)
{
	unsigned runs = s->o->runs;
	struct err *err;

	if (!uses_openmp(s) || has_seen_a_race(s) || s->o->target.env ||
	    s->inputs.len >= s->o->paths)
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

#include "sym/inputs.h"

enum {
	CANDIDATES = 24,
	MADE_RUNS = 12, /* that look for races with an input of ours */
};

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

static void add_made(struct study *s, struct made_input *c)
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

static struct err *try_candidates(struct study *s, struct made_inputs *all)
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
	const struct target *t = &s->o->target;
	struct given_input given = { .args = t->argv,
				     .input = t->input_data,
				     .input_len = t->input_len };
	struct made_inputs all = { 0 };
	char *gap = NULL;
	struct err *err;

	if (s->inputs.len >= s->o->paths || s->result->threads < 2)
		return NULL;
	err = made_inputs_find(&given, &all, &gap);
	if (gap && !s->result->note)
		s->result->note = xasprintf("other inputs were looked for in part: %s", gap);
	free(gap);
	if (err && !interrupted()) { /* this is a bonus: the given inputs have been looked at */
		free(s->result->note);
		s->result->note =
			xasprintf("no inputs but the given ones were tried: %s", err_message(err));
		err_free(err);
		err = NULL;
	}
	if (!err)
		err = try_candidates(s, &all);
	made_inputs_deinit(&all);
	return err;
}
#endif
