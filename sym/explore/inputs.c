/* sym/explore/inputs.c - see sym/inputs.h. */
#include "sym/inputs.h"

#include "base/err.h"
#include "base/interrupt.h"
#include "base/mem.h"
#include "sym/sym.h"

#include <ctype.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum {
	EXPLORED = 64, /* paths per exploration */
	EXTRA_LEN = 3, /* bytes of the argument, or of the variable, that is added */
	EXTRA_INPUT = 4,
};
#define EXPLORE_SECONDS 3

static void free_words(char **words)
{
	for (char **word = words; word && *word; word++)
		free(*word);
	free(words);
}

void made_inputs_deinit(struct made_inputs *m)
{
	for (size_t i = 0; i < m->len; i++) {
		free_words(m->data[i].args);
		free_words(m->data[i].env);
		free(m->data[i].input);
	}
	vec_deinit(m);
}

static int oddity_of(const char *text, size_t len)
{
	int odd = (int)MIN(len, (size_t)8);

	for (size_t i = 0; i < len; i++)
		odd += isprint((unsigned char)text[i]) ? 0 : 20;
	return odd;
}

static int by_oddity(const void *a, const void *b)
{
	const struct made_input *x = a, *y = b;

	if (x->oddity != y->oddity)
		return x->oddity - y->oddity;
	for (size_t i = 1; x->args[i] && y->args[i]; i++)
		if (strcmp(x->args[i], y->args[i]))
			return strcmp(x->args[i], y->args[i]);
	return (x->input_len > y->input_len) - (x->input_len < y->input_len);
}

static void add_path(struct made_inputs *all, const struct sym_path *p, const char *program)
{
	struct made_input m = { .args = xcalloc(p->nargs + 2, sizeof(*m.args)) };

	m.args[0] = xstrdup(program);
	for (uint32_t i = 1; i < p->nargs; i++) {
		m.args[i] = xstrdup(p->args[i]); /* up to its end, as a program sees it */
		m.oddity += oddity_of(m.args[i], strlen(m.args[i]));
	}
	if (p->input_len) {
		m.input = xmemdup(p->input, p->input_len);
		m.input_len = p->input_len;
		m.oddity += oddity_of(m.input, m.input_len);
	}
	if (p->nenv)
		m.env = xcalloc(p->nenv + 1, sizeof(*m.env));
	for (uint32_t i = 0; i < p->nenv; i++) {
		m.env[i] = xstrdup(p->env[i]);
		m.oddity += oddity_of(m.env[i], strlen(m.env[i]));
	}
	vec_push(all, m);
}

/* What is unknown in one exploration. */
struct unknown {
	bool given;
	bool word;  /* one more */
	bool world; /* standard input, variables of the environment */
};

static struct err *explore(struct sym_program *p, const struct given_input *g, struct unknown u,
			   const struct names *env, struct made_inputs *ret, char **gap)
{
	struct sym_config c = { .args = (const char *const *)g->args,
				.input = g->input,
				.input_len = g->input_len,
				.sym_given = u.given,
				.sym_args = u.word,
				.sym_arg_len = EXTRA_LEN,
				.sym_stdin = u.world && !g->input_len ? EXTRA_INPUT : 0,
				.sym_env =
					u.world && env->len ? (const char *const *)env->text : NULL,
				.sym_env_len = EXTRA_LEN,
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

	while (g->args[c.nargs])
		c.nargs++;
	if (u.given && c.nargs < 2 && !g->input_len)
		return NULL;
	err = sym_explore(p, &c, &r);
	for (size_t i = 0; i < r.paths.len && !err; i++) {
		const struct sym_path *path = &r.paths.data[i];

		if (path->outcome.kind == SYM_UNSUPPORTED && !*gap)
			*gap = xstrdup(path->outcome.message);
		else if (path->outcome.kind != SYM_BUDGET)
			add_path(ret, path, g->args[0]);
	}
	sym_result_deinit(&r);
	return err;
}

struct err *made_inputs_find(const struct given_input *given, struct made_inputs *ret, char **gap)
{
	static const struct unknown ways[] = { { .given = true },
					       { .word = true },
					       { .world = true } };
	size_t n = ARRAY_SIZE(ways) - !given->more;
	struct names env = { 0 };
	struct sym_program *p = NULL;
	struct err *err = sym_open(given->args[0], NULL, &p);

	if (!err && given->more)
		sym_env_names(p, &env);
	for (size_t i = 0; i < n && !err && !interrupted(); i++)
		err = explore(p, given, ways[i], &env, ret, gap);
	sym_close(p);
	names_deinit(&env);
	vec_sort(ret, by_oddity);
	return err;
}
