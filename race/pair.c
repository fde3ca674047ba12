/* race/pair.c - runs behind the racing state, and how their endings are compared.
 *
 * What counts is what leaves the process: every byte to standard output and standard error, the
 * exit status, and whether the run failed. Lines that match --ignore do not count. Nor do lines that
 * two runs of the same schedule print differently (how long it took, a process id): once seen, they
 * are left out of every comparison of that input. */
#include "race/study.h"

#include "base/err.h"
#include "base/file.h"

#include <regex.h>

void ending_deinit(struct ending *e)
{
	run_result_deinit(&e->run);
	free(e->out);
	free(e->errors);
	memset(e, 0, sizeof(*e));
}

/* ---- what was printed ---- */

enum { OUTPUT_MOST = 16 << 20 }; /* bytes of a run that are looked at */

static bool is_ignored(const struct strings *ignored, const char *line)
{
	for (size_t i = 0; ignored && i < ignored->len; i++) {
		regex_t re;
		bool match;

		if (regcomp(&re, ignored->data[i], REG_EXTENDED | REG_NOSUB))
			continue; /* the command has said so already */
		match = !regexec(&re, line, 0, NULL, 0);
		regfree(&re);
		if (match)
			return true;
	}
	return false;
}

void text_leave_out(const struct strings *ignored, struct strbuf *text)
{
	struct strbuf kept = { 0 };
	char *line, *next;

	if (!ignored || !ignored->len || !text->len)
		return;
	for (line = text->data; *line; line = next) {
		char *end = strchrnul(line, '\n');
		bool last = !*end;

		*end = 0;
		next = last ? end : end + 1;
		if (!is_ignored(ignored, line))
			strbuf_addf(&kept, "%s%s", line, last ? "" : "\n");
	}
	strbuf_deinit(text);
	*text = kept;
}

/* Bytes of value 0 would end the text: they become a sign that no program prints by itself. */
static char *read_text(const struct study *s, const char *path)
{
	struct file_map m = { 0 };
	struct strbuf text = { 0 };
	struct err *err = file_map_open(path, &m);

	if (err) {
		err_free(err);
		return xstrdup("");
	}
	strbuf_add(&text, m.data, MIN(m.len, (size_t)OUTPUT_MOST));
	if (m.len > OUTPUT_MOST)
		strbuf_addf(&text, "\n... %016llx of %zu bytes\n",
			    (unsigned long long)hash_bytes(m.data, m.len, 1), m.len);
	file_map_close(&m);
	for (size_t i = 0; i < text.len; i++)
		if (!text.data[i])
			text.data[i] = 1;
	text_leave_out(s->o->ignored, &text);
	return text.data ? strbuf_detach(&text) : xstrdup("");
}

/* ---- lines that change by themselves ---- */

#define VOLATILE "\x02" /* stands for such a line */

static size_t count_lines(const char *text)
{
	size_t n = 0;

	for (; *text; text++)
		n += *text == '\n';
	return n;
}

static bool next_line(const char **text, const char **line, size_t *len)
{
	if (!**text)
		return false;
	*line = *text;
	*len = strcspn(*text, "\n");
	*text += *len + ((*text)[*len] == '\n');
	return true;
}

/* Add the numbers of lines that differ. False: one text has more of them. */
static bool note_volatile(const char *a, const char *b, struct map *ret)
{
	const char *x, *y;
	size_t nx, ny;

	if (count_lines(a) != count_lines(b))
		return false;
	for (uint64_t n = 0; next_line(&a, &x, &nx) && next_line(&b, &y, &ny); n++)
		if (nx != ny || memcmp(x, y, nx))
			map_put(ret, n, 1);
	return true;
}

/* The text with these lines left out. Takes it. */
static char *mask(char *text, const struct map *lines)
{
	struct strbuf out = { 0 };
	const char *at = text, *line;
	size_t len;

	if (!lines->len)
		return text;
	for (uint64_t n = 0; next_line(&at, &line, &len); n++) {
		if (map_find(lines, n))
			strbuf_adds(&out, VOLATILE);
		else
			strbuf_add(&out, line, len);
		strbuf_addc(&out, '\n');
	}
	free(text);
	return out.data ? strbuf_detach(&out) : xstrdup("");
}

static void mask_ending(const struct study_input *in, struct ending *e)
{
	e->out = mask(e->out, &in->volatile_out);
	e->errors = mask(e->errors, &in->volatile_errors);
}

/* ---- runs ---- */

/* A run that used up its budget hangs only if a fair schedule does not end either. */
static struct err *judge_hang(struct study *s, uint32_t input, struct run_result *r)
{
	struct run_request req = fair_request(r, s->budget);
	struct run_result fair = { 0 };
	struct err *err;

	if (r->outcome != PLAIT_OUTCOME_HANG || r->timed_out)
		return NULL;
	err = study_run(s, input, &req, &fair);
	if (!err && fair.outcome != PLAIT_OUTCOME_HANG)
		r->outcome = r->schedule.outcome = PLAIT_OUTCOME_UNKNOWN;
	run_result_deinit(&fair);
	return err;
}

static struct err *finish(struct study *s, uint32_t input, struct ending *ret)
{
	struct session *session;
	struct err *err = study_session(s, input, &session);

	if (err)
		return err;
	ret->out = read_text(s, session_stdout(session));
	ret->errors = read_text(s, session_stderr(session));
	mask_ending(s->inputs.data[input], ret);
	err = judge_hang(s, input, &ret->run);
	ret->failed = run_failed(&ret->run);
	ret->signature = run_signature(&ret->run);
	return err;
}

struct err *pair_run(struct study *s, uint32_t input, const struct decisions *way,
		     const struct run_request *behind, struct ending *ret)
{
	struct run_request req = *behind;
	struct err *err;

	memset(ret, 0, sizeof(*ret));
	req.points = PLAIT_POINTS_ALL;
	req.flags |= PLAIT_CONTROL_PREFIX | PLAIT_CONTROL_AGAIN;
	req.decisions = way->data;
	req.ndecisions = way->len;
	req.point_budget = s->budget;
	err = study_run(s, input, &req, &ret->run);
	return err ? err : finish(s, input, ret);
}

static bool cannot_be_judged(const struct ending *e)
{
	const struct run_result *r = &e->run;

	return r->diverged || r->outcome == PLAIT_OUTCOME_UNKNOWN || r->timed_out ||
	       r->end == PLAIT_END_FULL || r->end == PLAIT_END_BROKEN;
}

static bool prints_the_same(const struct ending *a, const struct ending *b)
{
	return a->run.exit_code == b->run.exit_code && !strcmp(a->out, b->out) &&
	       !strcmp(a->errors, b->errors);
}

enum difference ending_compare(const struct ending *a, const struct ending *b)
{
	if (cannot_be_judged(a) || cannot_be_judged(b))
		return DIFFERENCE_UNKNOWN;
	if (a->failed != b->failed)
		return DIFFERENCE_FAILURE;
	if (a->failed)
		return DIFFERENCE_BOTH;
	return prints_the_same(a, b) ? DIFFERENCE_NONE : DIFFERENCE_OUTPUT;
}

void ending_mask(struct study *s, uint32_t input, struct ending *e)
{
	mask_ending(s->inputs.data[input], e);
}

/* What differs between two runs of one schedule is noted; *stable: that is all there is to it. */
static void compare_equal_runs(struct study_input *in, struct ending *e, struct ending *again,
			       bool *stable)
{
	*stable &= e->run.exit_code == again->run.exit_code &&
		   note_volatile(e->out, again->out, &in->volatile_out) &&
		   note_volatile(e->errors, again->errors, &in->volatile_errors);
	mask_ending(in, e);
}

struct err *ending_confirm(struct study *s, uint32_t input, struct ending *e, unsigned n,
			   unsigned *same, bool *stable)
{
	struct run_request req = schedule_request(&e->run.schedule);
	struct err *err = NULL;

	*same = 0;
	*stable = true;
	for (unsigned i = 0; i < n && !err; i++) {
		struct ending again = { 0 };

		err = study_run(s, input, &req, &again.run);
		if (!err)
			err = finish(s, input, &again);
		if (!err) {
			*same += again.run.outcome == e->run.outcome &&
				 again.run.steps == e->run.steps && again.run.hash == e->run.hash;
			if (!again.failed)
				compare_equal_runs(s->inputs.data[input], e, &again, stable);
		}
		ending_deinit(&again);
	}
	return err;
}
