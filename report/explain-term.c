/* report/explain-term.c - an explanation for the terminal.
 *
 * The two schedules stand side by side. Each row is one event; the column of dots before it is the
 * threads' lanes, so that an eye running down the page sees who ran when:
 *
 *	FAILING  12 of 143 events               PASSING  11 of 140 events
 *	●··  0    main.c:301  write q->mut      ·●·  0.1  main.c:212  read q->mut = ...
 *	          q->mut = NULL;                          pthread_mutex_lock(q->mut);
 *
 * Rows of one side only are fine: the shorter side is padded with blanks. */
#include "report/formats.h"

#include "base/demangle.h"
#include "base/log.h"
#include "base/path.h"
#include "base/strbuf.h"
#include "base/words.h"
#include "base/mem.h"
#include "explain/explanation.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const enum color lane_colors[] = { COLOR_CYAN, COLOR_YELLOW, COLOR_MAGENTA, COLOR_GREEN,
					  COLOR_BLUE };

static enum color lane_color(uint32_t thread)
{
	return lane_colors[thread % ARRAY_SIZE(lane_colors)];
}

/* Columns a UTF-8 text takes; every code point counts as one. */
static size_t columns(const char *s)
{
	size_t n = 0;

	for (; *s; s++)
		n += (*s & 0xc0) != 0x80;
	return n;
}

/* Append at most `width` columns of text, then pad to exactly that many. */
static void add_cell(struct strbuf *out, const char *text, size_t width)
{
	size_t used = 0;
	const char *p = text;

	while (*p && used < width) {
		bool last = used + 1 == width;
		const char *next = p + 1;

		while ((*next & 0xc0) == 0x80)
			next++;
		if (last && *next) {
			strbuf_adds(out, "…");
			used++;
			break;
		}
		strbuf_add(out, p, (size_t)(next - p));
		used++;
		p = next;
	}
	strbuf_pad(out, ' ', width - used);
}

/* Which lanes to draw: threads that occur in either schedule. */
struct lanes {
	uint32_t lane_of[256]; /* by thread index; UINT32_MAX = not shown */
	uint32_t n;
	size_t name_width;
};

static void add_lanes(struct lanes *l, const struct explanation *x, const struct shown_schedule *s)
{
	for (size_t i = 0; i < s->len; i++) {
		uint32_t t = s->events[i].thread;

		if (t < ARRAY_SIZE(l->lane_of))
			l->lane_of[t] = 1;
		if (t < x->nthreads && columns(x->threads[t]) > l->name_width)
			l->name_width = columns(x->threads[t]);
	}
}

static void find_lanes(struct lanes *l, const struct explanation *x)
{
	memset(l, 0, sizeof(*l));
	add_lanes(l, x, &x->failing);
	add_lanes(l, x, &x->passing);
	for (size_t t = 0; t < ARRAY_SIZE(l->lane_of); t++)
		l->lane_of[t] = l->lane_of[t] ? l->n++ : UINT32_MAX;
	if (l->n > 8)
		l->n = 0; /* too many to draw; the names remain */
}

static void add_dots(struct strbuf *out, const struct lanes *l, uint32_t thread)
{
	for (uint32_t i = 0; i < l->n; i++)
		strbuf_adds(out, thread < 256 && l->lane_of[thread] == i ? "●" : "·");
	if (l->n)
		strbuf_addc(out, ' ');
}

/* The tail of a long path: the line matters more than the folders. */
static const char *short_path(const char *path)
{
	return strlen(path) > 24 ? path_name(path) : path;
}

/* brief: the member without its structure. */
static void describe_event(struct strbuf *text, const struct shown_event *e, bool brief)
{
	const char *member = e->object ? strstr(e->object, "::") : NULL;

	if (e->file && e->line)
		strbuf_addf(text, "%s:%u  ", short_path(e->file), e->line);
	else if (e->function)
		strbuf_addf(text, "%s%s  ", e->function, call_brackets(e->function));
	strbuf_adds(text, e->op ? e->op : "event");
	if (e->object)
		strbuf_addf(text, " %s", brief && member ? member + 2 : e->object);
	if (e->value)
		strbuf_addf(text, " = %s", e->value);
	if (e->repeats)
		strbuf_addf(text, "  (and %u more)", e->repeats);
}

/* First row of an event: lanes, thread, place, operation. */
static void add_event_row(struct strbuf *out, const struct explanation *x, const struct lanes *l,
			  const struct shown_event *e, size_t width)
{
	_cleanup_(strbuf_deinit) struct strbuf text = { 0 };
	const char *mark = e->failure ? "✗ " : e->reordered ? "↕ " : e->only_here ? "+ " : "  ";
	bool strong = e->failure || e->reordered || e->only_here;
	size_t begin;

	strbuf_adds(&text, mark);
	add_dots(&text, l, e->thread);
	strbuf_adds(&text, e->thread < x->nthreads ? x->threads[e->thread] : "?");
	if (e->thread < x->nthreads)
		strbuf_pad(&text, ' ', l->name_width - columns(x->threads[e->thread]) + 2);
	begin = text.len;
	describe_event(&text, e, false);
	if (columns(strbuf_str(&text)) > width) {
		text.len = begin;
		describe_event(&text, e, true);
	}
	strbuf_adds(out, color(e->failure ? COLOR_RED : lane_color(e->thread)));
	if (strong)
		strbuf_adds(out, color(COLOR_BOLD));
	add_cell(out, strbuf_str(&text), width);
	strbuf_adds(out, color(COLOR_OFF));
}

static bool is_word(char c)
{
	return c == '_' || (c & 0x80) || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
	       (c >= 'A' && c <= 'Z');
}

/* Where the line names the object: its last word, "mut" of "queue::mut", "log" of "log[]". NULL: it
 * does not. */
static const char *find_object(const char *line, const char *object)
{
	const char *end = object + strlen(object), *begin, *at = line;
	size_t n;

	while (end > object && !is_word(end[-1]))
		end--;
	for (begin = end; begin > object && is_word(begin[-1]);)
		begin--;
	n = (size_t)(end - begin);
	while (n && (at = memmem(at, strlen(at), begin, n))) {
		if ((at == line || !is_word(at[-1])) && !is_word(at[n]))
			return at;
		at += n;
	}
	return NULL;
}

/* A line that is too long: from a little before the object on, when it would not be seen. */
static const char *part_that_matters(const struct shown_event *e, size_t room)
{
	const char *at = e->object ? find_object(e->source, e->object) : NULL;
	size_t before = room / 3;

	if (!at || room < 12 || columns(e->source) <= room ||
	    (size_t)(at - e->source) + strlen(e->object) < room)
		return e->source;
	while (before-- && at > e->source)
		at--;
	while ((*at & 0xc0) == 0x80)
		at++;
	return at;
}

static void add_source_row(struct strbuf *out, const struct lanes *l, const struct shown_event *e,
			   size_t width)
{
	_cleanup_(strbuf_deinit) struct strbuf text = { 0 };
	size_t indent = 2 + l->n + (l->n > 0) + l->name_width + 2;
	const char *shown = "";

	strbuf_pad(&text, ' ', indent);
	if (e->source)
		shown = part_that_matters(e, width > indent + 1 ? width - indent - 1 : 0);
	strbuf_addf(&text, "%s%s", e->source && shown > e->source ? "…" : "", shown);
	strbuf_adds(out, color(COLOR_DIM));
	add_cell(out, strbuf_str(&text), width);
	strbuf_adds(out, color(COLOR_OFF));
}

static void add_side(struct strbuf *out, const struct explanation *x, const struct lanes *l,
		     const struct shown_schedule *s, size_t row, bool source, size_t width)
{
	if (row >= s->len)
		strbuf_pad(out, ' ', width);
	else if (source)
		add_source_row(out, l, &s->events[row], width);
	else
		add_event_row(out, x, l, &s->events[row], width);
}

/* Both sides of one row, trailing blanks cut. */
static void add_row(struct strbuf *out, const struct explanation *x, const struct lanes *l,
		    size_t row, bool source, size_t width)
{
	add_side(out, x, l, &x->failing, row, source, width);
	if (x->passing.len) {
		strbuf_adds(out, "  ");
		add_side(out, x, l, &x->passing, row, source, width);
	}
	while (out->len && out->data[out->len - 1] == ' ')
		out->data[--out->len] = '\0';
	strbuf_addc(out, '\n');
}

static bool row_has_source(const struct shown_schedule *s, size_t row)
{
	return row < s->len && s->events[row].source;
}

static void add_heading(struct strbuf *out, const char *name, const struct shown_schedule *s,
			enum color c, size_t width)
{
	_cleanup_(strbuf_deinit) struct strbuf text = { 0 };

	strbuf_addf(&text, "%s  %zu of %" PRIu64 " events, %" PRIu64 " switch%s", name, s->len,
		    s->events_total, s->switches, s->switches == 1 ? "" : "es");
	strbuf_addf(out, "%s%s", color(COLOR_BOLD), color(c));
	add_cell(out, strbuf_str(&text), width);
	strbuf_adds(out, color(COLOR_OFF));
}

static void add_schedules(struct strbuf *out, const struct explanation *x, unsigned width)
{
	size_t side = x->passing.len ? (width - 2) / 2 : width;
	size_t rows = MAX(x->failing.len, x->passing.len);
	struct lanes lanes;

	find_lanes(&lanes, x);
	add_heading(out, "FAILING", &x->failing, COLOR_RED, side);
	if (x->passing.len) {
		strbuf_adds(out, "  ");
		add_heading(out, "PASSING", &x->passing, COLOR_GREEN, side);
	}
	strbuf_addc(out, '\n');
	for (size_t i = 0; i < rows; i++) {
		add_row(out, x, &lanes, i, false, side);
		if (row_has_source(&x->failing, i) || row_has_source(&x->passing, i))
			add_row(out, x, &lanes, i, true, side);
	}
}

static void add_flow_end(struct strbuf *out, const struct explanation *x,
			 const struct shown_schedule *s, uint32_t i)
{
	const struct shown_event *e;

	if (i >= s->len) {
		strbuf_adds(out, "the initial value");
		return;
	}
	e = &s->events[i];
	strbuf_addf(out, "%s %s:%u", e->thread < x->nthreads ? x->threads[e->thread] : "?",
		    e->file ? short_path(e->file) : "?", e->line);
}

/* Where the same place reads from in the other schedule: an index into flows, or SIZE_MAX. */
static size_t other_flow(const struct explanation *x, size_t i)
{
	const struct shown_flow *f = &x->flows[i];
	const struct shown_event *e = &x->failing.events[f->to];

	for (size_t k = 0; k < x->nflows; k++) {
		const struct shown_flow *g = &x->flows[k];
		const struct shown_event *o;

		if (g->failing || g->to >= x->passing.len)
			continue;
		o = &x->passing.events[g->to];
		if (o->thread == e->thread && o->line == e->line && o->op == e->op &&
		    (!o->object || !e->object || strcmp(o->object, e->object) == 0))
			return k;
	}
	return SIZE_MAX;
}

enum { MAX_FLOWS = 8 };

/* One line per reading place: who wrote what it reads, in either schedule. */
static bool describe_flow(struct strbuf *out, const struct explanation *x, size_t i)
{
	_cleanup_(strbuf_deinit) struct strbuf failing = { 0 }, passing = { 0 };
	const struct shown_flow *f = &x->flows[i];
	const struct shown_event *e = &x->failing.events[f->to];
	bool data = e->op && strstr(e->op, "read");
	size_t k = other_flow(x, i);

	add_flow_end(&failing, x, &x->failing, f->from);
	if (k != SIZE_MAX)
		add_flow_end(&passing, x, &x->passing, x->flows[k].from);
	if (strcmp(strbuf_str(&failing), strbuf_str(&passing)) == 0)
		return false; /* another round of the same loop */
	strbuf_adds(out, "  ");
	add_flow_end(out, x, &x->failing, f->to);
	strbuf_addf(out, " %s %s %s %s%s%s", data ? "reads" : "gets", e->object ? e->object : "it",
		    data ? "from" : "after", color(COLOR_RED), strbuf_str(&failing),
		    color(COLOR_OFF));
	if (k != SIZE_MAX)
		strbuf_addf(out, "; when it passes, %s %s%s%s", data ? "from" : "after",
			    color(COLOR_GREEN), strbuf_str(&passing), color(COLOR_OFF));
	strbuf_addc(out, '\n');
	return true;
}

static void add_flows(struct strbuf *out, const struct explanation *x)
{
	_cleanup_(strbuf_deinit) struct strbuf lines = { 0 };
	size_t n = 0;

	for (size_t i = 0; i < x->nflows; i++) {
		_cleanup_(strbuf_deinit) struct strbuf line = { 0 };

		if (!x->flows[i].failing || x->flows[i].to >= x->failing.len ||
		    !describe_flow(&line, x, i) ||
		    (lines.len && strstr(strbuf_str(&lines), strbuf_str(&line))))
			continue;
		if (n++ < MAX_FLOWS)
			strbuf_adds(&lines, strbuf_str(&line));
	}
	if (!n)
		return;
	strbuf_addf(out, "\n%sdata flow that differs%s\n%s", color(COLOR_BOLD), color(COLOR_OFF),
		    strbuf_str(&lines));
	if (n > MAX_FLOWS)
		strbuf_addf(out, "  and %zu more (--json has them all)\n", n - MAX_FLOWS);
}

/* "  name     text", the text in lines of at most `width` columns. */
static void add_entry(struct strbuf *out, const char *name, const char *text, enum color c,
		      unsigned width)
{
	size_t room = width > 40 ? width - 11 : 29, used = 0;

	strbuf_addf(out, "  %s%-8s%s %s", color(COLOR_BOLD), name, color(COLOR_OFF), color(c));
	while (*text) {
		size_t bytes = strcspn(text, " \n"), wide;
		char word[512];

		snprintf(word, sizeof(word), "%.*s", (int)bytes, text);
		wide = columns(word);
		if (used && used + 1 + wide > room) {
			strbuf_adds(out, "\n           ");
			used = 0;
		}
		strbuf_addf(out, "%s%s", used ? " " : "", word);
		used += wide + (used > 0);
		text += bytes + strspn(text + bytes, " \n");
	}
	strbuf_addf(out, "%s\n", color(COLOR_OFF));
}

/* What the advice forbids, where nobody forbids it: does it go with the failure? */
static void add_seen(struct strbuf *out, const struct shown_advice *a, unsigned width)
{
	_cleanup_(strbuf_deinit) struct strbuf text = { 0 };

	if (!a->seen_failing)
		return;
	strbuf_addf(&text,
		    "without it, this happens in %" PRIu64 " of %" PRIu64
		    " schedules that fail and in %" PRIu64 " of %" PRIu64 " that pass",
		    a->broken_failing, a->seen_failing, a->broken_passing, a->seen_passing);
	add_entry(out, "seen", strbuf_str(&text), COLOR_OFF, width);
}

static void add_advice(struct strbuf *out, const struct explanation *x, unsigned width)
{
	const struct shown_advice *a = &x->advice;
	_cleanup_(strbuf_deinit) struct strbuf text = { 0 };

	if (!a->text)
		return;
	add_entry(out, "advice", a->text, COLOR_OFF, width);
	if (!a->runs_after) {
		add_entry(out, "tested", "no, the advice was not tried out", COLOR_YELLOW, width);
		return;
	}
	strbuf_addf(&text, "failed %" PRIu64 " of %" PRIu64 " schedules before", a->failed_before,
		    a->runs_before);
	advice_describe_faces(a, &text);
	strbuf_addf(&text, ", %" PRIu64 " of %" PRIu64 " with it enforced", a->failed_after,
		    a->runs_after);
	if (a->failed_after)
		strbuf_adds(&text, "; it helps, but something else leads to the same failure: mend "
				   "this first, then hunt again");
	if (a->other_after || a->other_before)
		strbuf_addf(&text,
			    "; %" PRIu64 " failed in another way (%" PRIu64
			    " before): see unplait hunt --all",
			    a->other_after, a->other_before);
	add_entry(out, "tested", strbuf_str(&text), a->failed_after ? COLOR_YELLOW : COLOR_GREEN,
		  width);
}

/* What was broken before that, and mends it as well. */
static void add_earlier(struct strbuf *out, const struct shown_earlier *e, unsigned width)
{
	_cleanup_(strbuf_deinit) struct strbuf text = { 0 };
	const struct shown_advice *a = &e->advice;

	if (!e->summary)
		return;
	strbuf_addf(&text,
		    "before that, %s. It may be the root: %s. With that enforced %" PRIu64
		    " of %" PRIu64 " schedules fail; without, it happens in %" PRIu64 " of %" PRIu64
		    " that fail and in %" PRIu64 " of %" PRIu64 " that pass",
		    e->summary, a->text, a->failed_after, a->runs_after, a->broken_failing,
		    a->seen_failing, a->broken_passing, a->seen_passing);
	add_entry(out, "earlier", strbuf_str(&text), COLOR_OFF, width);
}

static bool same_frames(const struct shown_wait *a, const struct shown_wait *b)
{
	if (a->nframes != b->nframes)
		return false;
	for (size_t i = 0; i < a->nframes; i++)
		if (strcmp(a->frames[i], b->frames[i]) != 0)
			return false;
	return true;
}

/* All that wait at the same place as the first. */
static void add_waiters(struct strbuf *text, const struct explanation *x, size_t first)
{
	_cleanup_(words_deinit) struct words names = { 0 };

	for (size_t i = first; i < x->nwaits; i++) {
		uint32_t t = x->waits[i].thread;

		if (same_frames(&x->waits[i], &x->waits[first]))
			words_push(&names, t < x->nthreads ? x->threads[t] : "?");
	}
	words_add_crowd(&names, "thread", text);
	strbuf_adds(text, ": ");
}

static void add_frames(struct strbuf *text, const char *const *frames, size_t n)
{
	for (size_t k = 0; k < n; k++)
		strbuf_addf(text, "%s%s", k ? " < " : "", frames[k]);
}

static bool told_before(const struct explanation *x, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (same_frames(&x->waits[k], &x->waits[i]))
			return true;
	return false;
}

/* Who called the code in which it failed; of a deadlock, the code in which each thread waits. */
static void add_stacks(struct strbuf *out, const struct explanation *x, unsigned width)
{
	_cleanup_(strbuf_deinit) struct strbuf text = { 0 };

	add_frames(&text, x->stack, x->nstack);
	if (text.len)
		add_entry(out, "stack", strbuf_str(&text), COLOR_OFF, width);
	for (size_t i = 0; i < x->nwaits; i++) {
		if (!x->waits[i].nframes || told_before(x, i))
			continue;
		strbuf_clear(&text);
		add_waiters(&text, x, i);
		add_frames(&text, x->waits[i].frames, x->waits[i].nframes);
		add_entry(out, "stack", strbuf_str(&text), COLOR_OFF, width);
	}
}

/* The cause is not known: what was considered, and what speaks for it. */
static void add_candidates(struct strbuf *out, const struct explanation *x, unsigned width)
{
	for (size_t i = 0; x->kind == BUG_UNKNOWN && i < x->ncandidates; i++) {
		_cleanup_(strbuf_deinit) struct strbuf text = { 0 };

		candidate_describe(&x->candidates[i], &text);
		add_entry(out, "looked", strbuf_str(&text), COLOR_OFF, width);
	}
}

static void add_proof(struct strbuf *out, const struct explanation *x, unsigned width)
{
	_cleanup_(strbuf_deinit) struct strbuf text = { 0 };

	strbuf_addf(&text, "%" PRIu64 " of %" PRIu64 " replays fail the same way", x->replays_same,
		    x->replays_tried);
	if (x->passing.len)
		strbuf_addf(&text, "; the passing schedule was run too (%" PRIu64 " pair%s tried)",
			    x->pairs_tried, x->pairs_tried == 1 ? "" : "s");
	else
		strbuf_addf(&text, "; NO PASSING SCHEDULE was found (%" PRIu64 " pairs tried)",
			    x->pairs_tried);
	add_entry(out, "proof", strbuf_str(&text), x->confirmed ? COLOR_OFF : COLOR_YELLOW, width);
}

void explanation_term(const struct explanation *x, const struct report_view *view,
		      struct strbuf *out)
{
	unsigned width = view->width;
	static const char *const kinds[] = BUG_KIND_NAMES;

	strbuf_addf(out, "%s%s%s\n", color(COLOR_BOLD), x->program, color(COLOR_OFF));
	add_entry(out, "fails", x->outcome_text, COLOR_RED, width);
	if (x->summary)
		add_entry(out, "cause", x->summary, COLOR_OFF, width);
	add_advice(out, x, width);
	if (x->advice.text)
		add_seen(out, &x->advice, width);
	if (x->tried)
		add_entry(out, "tried", x->tried, COLOR_YELLOW, width);
	add_earlier(out, &x->earlier, width);
	add_candidates(out, x, width);
	add_entry(out, "kind", kinds[x->kind], COLOR_OFF, width);
	add_stacks(out, x, width);
	add_proof(out, x, width);
	for (size_t i = 0; i < x->nnotes; i++)
		add_entry(out, "note", x->notes[i].text, COLOR_OFF, width);
	strbuf_addc(out, '\n');
	add_schedules(out, x, width);
	strbuf_addf(out, "%s↕ order differs   + only on this side   ✗ fails here%s\n",
		    color(COLOR_DIM), color(COLOR_OFF));
	if (x->left_out)
		strbuf_addf(out,
			    "%s%" PRIu64 " more event%s of the failing schedule differ%s as a "
			    "consequence: left out%s\n",
			    color(COLOR_DIM), x->left_out, x->left_out == 1 ? "" : "s",
			    x->left_out == 1 ? "s" : "", color(COLOR_OFF));
	add_flows(out, x);
}
