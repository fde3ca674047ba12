/* cmd/propose.c - let the symbolic machine search a hunt's target (sym/guide-schedules.c). The two
 * engines know nothing of each other; this is where they meet. */
#include "cmd/propose.h"

#include "base/err.h"
#include "base/file.h"
#include "sym/sym.h"

#define MAX_STATES 12000000ull /* what fits into half a gigabyte */

struct walk_step *propose_steps(const struct sym_end *e)
{
	struct walk_step *w = xcalloc(e->turns.len + 1, sizeof(*w));

	for (size_t i = 0; i < e->turns.len; i++) {
		const struct sym_turn *t = &e->turns.data[i];

		w[i] = (struct walk_step){ .thread = t->thread,
					   .site = t->site,
					   .kind = t->kind,
					   .choice = t->choice,
					   .nchoices = t->nchoices };
	}
	return w;
}

#ifndef NO_SYM

static struct err *open_program(struct sym_proposer *p)
{
	struct err *err = NULL;

	if (p->program)
		return NULL;
	if (p->target->input)
		err = file_read(p->target->input, &p->input);
	return err ? err : sym_open(p->target->argv[0], NULL, &p->program);
}

static bool is_failure(const struct sym_proposer *p, const struct sym_outcome *o)
{
	return sym_kind_is_error(o->kind) ||
	       (p->target->fail_on_exit && o->kind == SYM_EXIT && o->code);
}

static struct err *propose(void *arg, uint64_t work, double seconds, bool all,
			   struct proposals *ret)
{
	extern char **environ;
	struct sym_proposer *p = arg;
	struct sym_config c = { .args = (const char *const *)p->target->argv,
				.env = (const char *const *)environ,
				.max_work = work,
				.max_states = MAX_STATES,
				.max_seconds = seconds,
				.host_files = true,
				.all_errors = all || p->target->fail_on_exit };
	struct sym_schedules r = { 0 };
	struct err *err = open_program(p);

	while (p->target->argv[c.nargs])
		c.nargs++;
	c.input = strbuf_str(&p->input);
	c.input_len = p->input.len;
	if (!err)
		err = sym_schedules(p->program, &c, &r);
	for (size_t i = 0; !err && i < r.ends.len; i++)
		if (is_failure(p, &r.ends.data[i].outcome))
			vec_push(&ret->failing, ((struct proposal){ propose_steps(&r.ends.data[i]),
								    r.ends.data[i].turns.len }));
	ret->complete = r.complete && !r.notes.len; /* a note says what was left out */
	ret->states = r.states;
	sym_schedules_deinit(&r);
	return err;
}

void proposer_init(struct sym_proposer *p, const struct target *target)
{
	*p = (struct sym_proposer){ .proposer = { propose, p },
				    .available = true,
				    .target = target };
}

void proposer_deinit(struct sym_proposer *p)
{
	sym_close(p->program);
	strbuf_deinit(&p->input);
}

#else

void proposer_init(struct sym_proposer *p, const struct target *target)
{
	*p = (struct sym_proposer){ .target = target };
}

void proposer_deinit(struct sym_proposer *p)
{
	(void)p;
}

#endif
