/* cmd/show-threads.c - see show-threads.h. */
#include "cmd/show-threads.h"

#include "base/json.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "cmd/show-rewind.h"
#include "rewind/rewind.h"

#include <inttypes.h>

enum { MOST_SHOWN = 48 };

/* The i-th event of the interleaving, if it is an access that happens; else false. */
static bool access_at(const struct threads *t, size_t i, const struct ahead_event **ret,
		      uint32_t *mate)
{
	uint32_t id = t->weave.answer.order[i];
	const struct woven *k = &t->weave.woven.data[id];

	if (k->track == UINT32_MAX || !weave_happens(&t->weave, id))
		return false;
	*mate = k->track;
	*ret = &t->chosen[k->track]->events.data[k->event];
	return true;
}

static void show_interleaving(struct rewind *r, struct strbuf *out)
{
	const struct threads *t = &r->threads;
	const struct ahead_event *e;
	size_t n = 0, skip;
	uint32_t mate;

	for (size_t i = 0; i < t->weave.answer.len; i++)
		n += access_at(t, i, &e, &mate);
	skip = n > MOST_SHOWN ? n - MOST_SHOWN : 0;
	strbuf_adds(out, "their accesses to shared memory, in an order that fits:\n");
	if (skip)
		strbuf_addf(out, "  ... %zu accesses before these\n", skip);
	for (size_t i = 0; i < t->weave.answer.len; i++) {
		if (!access_at(t, i, &e, &mate))
			continue;
		if (skip) {
			skip--;
			continue;
		}
		strbuf_adds(out, "  ");
		threads_add_name(t, mate, out);
		strbuf_adds(out, e->kind == AHEAD_READ ? " reads " : " writes ");
		dump_names_add_object(&r->names, e->address, out);
		strbuf_adds(out, " at ");
		dump_names_add_place(&r->names, e->insn, out);
		strbuf_addc(out, '\n');
	}
}

static const char *state_of(const struct rewind *r, const struct mate *m)
{
	return m->thread == MATE_ENDED ? "has ended" : m->thread == r->thread ? "failed" : "lives";
}

void show_threads(struct rewind *r, struct strbuf *out)
{
	const struct threads *t = &r->threads;

	if (!t->mates.len)
		return;
	strbuf_adds(out, "\nthreads beside the first:\n");
	for (size_t i = 0; i < t->mates.len; i++) {
		if (t->mates.data[i].from)
			continue;
		strbuf_addf(out, "  thread %zu, which %s, began ", i + 1,
			    state_of(r, &t->mates.data[i]));
		dump_names_add_place(&r->names, t->mates.data[i].entry, out);
		strbuf_addf(out, "; %zu ways to the dump\n", t->tracks[i].all.len);
	}
	if (t->found)
		show_interleaving(r, out);
	if (t->found && t->confirmed)
		strbuf_adds(out, "confirmed: run natively in this order, without the calls of "
				 "libraries, it ends in the same memory\n");
	else if (t->found)
		strbuf_addf(out, "NOT CONFIRMED natively%s%s\n", t->not_confirmed ? ": " : "",
			    t->not_confirmed ? t->not_confirmed : "");
	else
		strbuf_addf(out, "no order of their steps was found; %" PRIu64 " were refuted\n",
			    t->refuted);
	if (t->why) {
		strbuf_addf(out, "left out: %s", t->why);
		if (t->where) {
			strbuf_adds(out, ", at ");
			dump_names_add_place(&r->names, t->where, out);
		}
		strbuf_addc(out, '\n');
	}
}

/* 0: the first thread. */
static uint32_t number_of(const struct threads *t, uint32_t mate)
{
	return t->mates.data[mate].from ? 0 : mate + 1;
}

void json_threads(struct rewind *r, struct json *j)
{
	const struct threads *t = &r->threads;
	const struct between *b = &t->cause;
	const struct ahead_event *e;
	uint32_t mate;

	json_begin_object(j, "threads");
	json_begin_array(j, "others");
	for (size_t i = 0; i < t->mates.len; i++) {
		if (t->mates.data[i].from)
			continue;
		json_begin_object(j, NULL);
		json_str(j, "state", state_of(r, &t->mates.data[i]));
		json_point(r, j, "began", t->mates.data[i].entry);
		json_uint(j, "ways", t->tracks[i].all.len);
		json_end(j);
	}
	json_end(j);
	json_bool(j, "found", t->found);
	json_bool(j, "confirmed", t->confirmed);
	json_bool(j, "complete", t->complete);
	json_str(j, "why", t->why ? t->why : t->not_confirmed);
	json_point(r, j, "where", t->where);
	json_uint(j, "combinations", t->combinations);
	json_uint(j, "contradicted", t->refuted);
	json_begin_array(j, "order");
	for (size_t i = 0; t->found && i < t->weave.answer.len; i++) {
		if (!access_at(t, i, &e, &mate))
			continue;
		json_begin_object(j, NULL);
		json_uint(j, "thread", number_of(t, mate));
		json_str(j, "kind", e->kind == AHEAD_READ ? "read" : "write");
		json_point(r, j, "at", e->insn);
		json_end(j);
	}
	json_end(j);
	json_begin_array(j, "between");
	for (unsigned i = 0; b->x && i < 4; i++) {
		const uint64_t at[] = { b->x, b->y, b->y2, b->z };

		if (!at[i])
			continue;
		json_begin_object(j, NULL);
		json_uint(j, "thread", number_of(t, i == 0 || i == 3 ? b->a : b->b));
		json_point(r, j, "at", at[i]);
		json_end(j);
	}
	json_end(j);
	json_real(j, "seconds", t->seconds, 3);
	json_end(j);
}
