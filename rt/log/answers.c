/* rt/log/answers.c - the answers of a log, thread by thread, as a replay takes them (unplait/log.h). */
#include "rt/log/passing.h"

#include "rt/control/control.h"

#include <stdio.h>
#include <string.h>

static const struct plait_log_thread *log_threads;
static const struct plait_log_answer *answers;
static const uint8_t *bytes;
/* How many of its answers each thread of the log has got. */
static struct {
	uint64_t hard, soft;
} taken[PLAIT_MAX_THREADS];

void answers_init(const struct plait_log *log)
{
	struct plait_log_arrays a = plait_log_arrays(log);

	log_threads = a.threads;
	answers = a.answers;
	bytes = a.bytes;
}

void answers_begin(void)
{
	memset(taken, 0, sizeof(taken));
}

const struct plait_log_answer *answers_next(uint32_t thread)
{
	const struct plait_log_part *part = &log_threads[thread].answers;

	return taken[thread].hard < part->n ? &answers[part->first + taken[thread].hard] : NULL;
}

static void hand_out(const struct plait_log_answer *a, struct passing *x)
{
	x->result = a->result;
	x->next = bytes + a->bytes;
	x->end = x->next + a->nbytes;
}

static const char *name_of(uint32_t call)
{
	static const char *const names[] = {
		"?",
#define CALL(how, name) #name,
#include "unplait/answers.def"
#undef CALL
	};

	return call < PLAIT_CALL_COUNT ? names[call] : "?";
}

static _Noreturn void other_call(uint32_t call, uint32_t recorded)
{
	char why[128];

	snprintf(why, sizeof(why), "it calls %s(), the recorded run called %s()", name_of(call),
		 name_of(recorded));
	control_diverged(why);
}

void answers_take(uint32_t thread, struct passing *x)
{
	const struct plait_log_answer *a = answers_next(thread);

	if (!a)
		control_diverged("it asks for more than the recorded run got from outside");
	if (a->call != x->call)
		other_call(x->call, a->call);
	taken[thread].hard++;
	control_log_answered(thread, a->clock);
	hand_out(a, x);
}

bool answers_take_soft(uint32_t thread, struct passing *x)
{
	const struct plait_log_part *part = &log_threads[thread].soft;
	const struct plait_log_answer *a = &answers[part->first + taken[thread].soft];

	if (taken[thread].soft >= part->n || a->call != x->call)
		return false;
	taken[thread].soft++;
	hand_out(a, x);
	return true;
}
