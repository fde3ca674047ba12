/* run/ends.c - see ends.h. */
#include "run/ends.h"

#include "base/environment.h"
#include "base/err.h"
#include "base/file.h"
#include "debug/binary.h"
#include "debug/dump.h"
#include "debug/stack.h"
#include "run/debug-turns.h"
#include "run/place.h"
#include "run/run.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- ends ---- */

/* frames: up to a zero. */
static bool same_frames(const uint64_t *frames, const struct stack *have, const char *program)
{
	size_t n = 0;

	for (size_t i = 0; i < have->frames.len; i++) {
		const struct stack_frame *f = &have->frames.data[i];

		if (f->inlined || !f->module || strcmp(f->module, program) != 0)
			continue;
		if (frames[n] != f->offset)
			return false;
		n++;
	}
	return n > 0 && !frames[n];
}

/* Is there, for each thread of the end, another one that has its stack? */
static bool all_there(const struct script_end *end, struct stacks *stacks, size_t nthreads)
{
	bool *used = xcalloc(nthreads + 1, sizeof(*used));
	bool all = end->frames.len > 0;

	for (size_t i = 0; i < end->frames.len && all; i++) {
		bool found = false;

		for (size_t t = 0; t < nthreads && !found; t++) {
			found = !used[t] && same_frames(&end->frames.data[i], stacks_get(stacks, t),
							stacks_program(stacks));
			used[t] |= found;
		}
		all = found;
		while (end->frames.data[i])
			i++;
	}
	free(used);
	return all;
}

struct err *dump_ends_so(const char *core, const struct stack_options *o,
			 const struct script_end *end, bool *ret)
{
	struct stacks *stacks = NULL;
	struct dump d;
	struct err *err = dump_open(core, &d);

	*ret = false;
	if (!err)
		err = stacks_open(&d, o, &stacks);
	if (!err && end->signal)
		*ret = end->frames.len && d.signal == end->signal &&
		       same_frames(end->frames.data, stacks_get(stacks, 0), stacks_program(stacks));
	else if (!err)
		*ret = all_there(end, stacks, d.threads.len);
	stacks_close(stacks);
	dump_close(&d);
	return err;
}

/* ---- playing ---- */

static struct err *check_build(const struct script *s)
{
	char id[BUILD_ID_CHARS] = "";
	struct err *err = binary_build_id(s->program, id);

	if (!err && s->build_id[0] && strcmp(id, s->build_id) != 0)
		err = err_new(ERR_ENV, "%s is another build than the one that the plait is of",
			      s->program);
	return err;
}

/* How the director runs the script's binary with the target's arguments. */
struct setting {
	struct director_options o;
	struct environment env;
	char *input; /* a file for standard input, ours; NULL */
};

static void setting_deinit(struct setting *g)
{
	environment_deinit(&g->env);
	if (g->input)
		unlink(g->input);
	free(g->input);
}

/* input: a path for its standard input. */
static struct err *setting_init(struct setting *g, const struct target *t, const struct script *s,
				const char *input)
{
	struct err *err = check_build(s);

	environment_copy(&g->env);
	for (size_t i = 0; t->env && t->env[i]; i++)
		environment_put(&g->env, t->env[i]);
	if (s->loader)
		environment_put(&g->env, s->loader);
	g->o.argv = t->argv;
	g->o.program = s->program;
	g->o.env = g->env.data;
	g->o.folder = t->folder;
	g->o.in = t->input;
	g->o.timeout = t->timeout > 0 ? t->timeout : 10;
	if (err || !t->input_data)
		return err;
	g->o.in = g->input = xstrdup(input);
	return file_write(input, t->input_data, t->input_len);
}

static struct err *play(const struct target *t, const struct script *s, const char *core,
			const struct director_options *how, struct played *ret)
{
	_cleanup_(setting_deinit) struct setting g = { .o = *how };
	_cleanup_(xfreep) char *input = xasprintf("%s.input", core);
	struct stack_options from = { .program = s->program };
	struct err *err = setting_init(&g, t, s, input);

	g.o.core = core;
	*ret = (struct played){ 0 };
	if (!err)
		err = director_run(&g.o, &ret->result);
	if (!err && ret->result.dumped)
		err = dump_ends_so(core, &from, &s->end, &ret->same);
	return err;
}

struct err *script_play(const struct target *t, const struct script *s, const char *core,
			struct played *ret)
{
	struct director_options o = { .turns = s->turns.data, .nturns = s->turns.len };

	return play(t, s, core, &o, ret);
}

struct err *script_improvise(const struct target *t, const struct script *s, uint64_t seed,
			     const char *core, struct turns_made *made, struct played *ret)
{
	struct director_options o = { .seed = seed, .made = made };

	return play(t, s, core, &o, ret);
}

struct err *script_debug(const struct target *t, const struct script *s, char *const *extra,
			 int *status)
{
	_cleanup_(setting_deinit) struct setting g = {
		.o = { .turns = s->turns.data, .nturns = s->turns.len, .speaks = true }
	};
	_cleanup_(xfreep) char *folder = NULL, *input = NULL;
	struct err *err = file_temp_dir(&folder);

	if (err)
		return err;
	input = xasprintf("%s/input", folder);
	err = setting_init(&g, t, s, input);
	if (!err)
		err = debug_turns(&g.o, folder, extra, status);
	file_remove_tree(folder);
	return err;
}

struct err *places_of_dump(const struct script *s, const char *core, struct places *ret)
{
	struct stack_options from = { .program = s->program };
	struct stacks *stacks = NULL;
	struct dump d;
	struct err *err = dump_open(core, &d);

	if (!err)
		err = stacks_open(&d, &from, &stacks);
	if (!err)
		places_of_stack(stacks_get(stacks, 0), ret);
	for (; ret->len && ret->data[ret->len - 1].library; ret->len--) { /* what calls main */
		free(ret->data[ret->len - 1].file);
		free(ret->data[ret->len - 1].function);
	}
	stacks_close(stacks);
	dump_close(&d);
	return err;
}
