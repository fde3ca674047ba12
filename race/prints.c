/* race/prints.c - do two runs print the same, but for the order in which threads take turns?
 *
 * Prints of different threads that nothing orders come in any order, race or no race. What a race may
 * change is what a thread prints. So where two outputs differ, both runs are replayed with a note of
 * who printed which bytes (PLAIT_CONTROL_PRINTS), and compared thread by thread. */
#include "race/study.h"

#include "base/err.h"
#include "base/file.h"

struct printed VEC_FIELDS(struct strbuf); /* by thread */

static void printed_deinit(struct printed *p)
{
	for (size_t i = 0; i < p->len; i++)
		strbuf_deinit(&p->data[i]);
	vec_deinit(p);
}

static struct strbuf *of_thread(struct printed *p, uint32_t thread)
{
	while (p->len <= thread)
		vec_add(p);
	return &p->data[thread];
}

static void add_piece(struct printed *p, uint32_t thread, const struct file_map *text,
		      uint64_t from, uint64_t to)
{
	if (from < to && to <= text->len)
		strbuf_add(of_thread(p, thread), (const char *)text->data + from, to - from);
}

/* Bytes behind the last note were printed by no thread that we know; they count as the first thread's. */
static struct err *split(const char *path, const struct plait_prints *notes, bool errors,
			 struct printed *ret)
{
	struct file_map text = { 0 };
	uint64_t at = 0;
	struct err *err = file_map_open(path, &text);

	for (uint32_t i = 0; i < notes->n && !err; i++) {
		const struct plait_print *p = &notes->print[i];
		uint64_t to = errors ? p->errors : p->out;

		add_piece(ret, p->thread, &text, at, to);
		at = MAX(at, to);
	}
	if (!err)
		add_piece(ret, 0, &text, at, text.len);
	file_map_close(&text);
	return err;
}

/* *ret_known: every byte is somebody's. */
static struct err *find_printed(struct study *s, uint32_t input, const struct schedule *schedule,
				struct printed ret[2], bool *ret_known)
{
	struct run_request req = schedule_request(schedule);
	struct run_result r = { 0 };
	struct session *session;
	struct err *err = study_session(s, input, &session);

	req.flags |= PLAIT_CONTROL_PRINTS;
	if (!err)
		err = study_run(s, input, &req, &r);
	*ret_known = !err && !r.diverged && !session_prints(session)->lost;
	if (*ret_known)
		err = split(session_stdout(session), session_prints(session), false, &ret[0]);
	if (*ret_known && !err)
		err = split(session_stderr(session), session_prints(session), true, &ret[1]);
	run_result_deinit(&r);
	return err;
}

static bool same(const struct study *s, struct printed *a, struct printed *b)
{
	size_t n = MAX(a->len, b->len);

	for (uint32_t t = 0; t < n; t++) {
		struct strbuf *x = of_thread(a, t), *y = of_thread(b, t);

		text_leave_out(s->o->ignored, x);
		text_leave_out(s->o->ignored, y);
		if (x->len != y->len || (x->len && memcmp(x->data, y->data, x->len)))
			return false;
	}
	return true;
}

struct err *race_prints_alike(struct study *s, uint32_t input, const struct ending *a,
			      const struct ending *b, bool *ret)
{
	struct printed one[2] = { 0 }, other[2] = { 0 };
	bool known[2] = { false };
	struct err *err = NULL;

	*ret = false;
	if (a->run.exit_code != b->run.exit_code)
		return NULL;
	err = find_printed(s, input, &a->run.schedule, one, &known[0]);
	if (!err)
		err = find_printed(s, input, &b->run.schedule, other, &known[1]);
	*ret = !err && known[0] && known[1] && same(s, &one[0], &other[0]) &&
	       same(s, &one[1], &other[1]);
	for (int i = 0; i < 2; i++) {
		printed_deinit(&one[i]);
		printed_deinit(&other[i]);
	}
	return err;
}
