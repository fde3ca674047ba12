/* report/deadlock-term.c - deadlocks for people: a fingerprint, many of them by bucket, a process
 * without the watch library. */
#include "report/formats.h"

#include "base/log.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "base/path.h"
#include "deadlock/fingerprint.h"
#include "deadlock/foreign.h"
#include "deadlock/merge.h"

#include <string.h>

static void add_frame(struct strbuf *out, const struct fp_frame *fr)
{
	if (fr->function && fr->file)
		strbuf_addf(out, "%s  %s:%u%s", fr->function, fr->file, fr->line,
			    fr->inlined ? "  (inlined)" : "");
	else if (fr->function)
		strbuf_addf(out, "%s  (%s)", fr->function, path_name(fr->module));
	else if (fr->module)
		strbuf_addf(out, "%s+0x%llx", path_name(fr->module),
			    (unsigned long long)fr->offset);
	else
		strbuf_addf(out, "code at 0x%llx, in no file", (unsigned long long)fr->offset);
}

static void add_stack(struct strbuf *out, const struct fp_stack *s, const char *indent)
{
	for (size_t i = 0; i < s->n; i++) {
		strbuf_adds(out, indent);
		add_frame(out, &s->frames[i]);
		strbuf_addc(out, '\n');
	}
	if (s->n == 0)
		strbuf_addf(out, "%s(no stack)\n", indent);
	else if (s->truncated)
		strbuf_addf(out, "%s...\n", indent);
}

static void add_site(struct strbuf *out, const struct fp_stack *s)
{
	const struct fp_frame *fr = fp_site(s);

	if (fr)
		add_frame(out, fr);
	else
		strbuf_adds(out, "(no stack)");
}

static const char *mode(uint8_t kind)
{
	return kind == WATCH_READ ? " for reading" : kind == WATCH_WRITE ? " for writing" : "";
}

static void add_holds(struct strbuf *out, const struct fingerprint *f, const struct fp_use *u)
{
	char lock[256];

	strbuf_addf(out, "  holds %s%s%s%s, taken at\n", color(COLOR_BOLD),
		    fp_lock_text(f, u->lock, lock, sizeof(lock)), color(COLOR_OFF), mode(u->kind));
	add_stack(out, &u->stack, "      ");
}

/* What a wait is for, in words. */
static void add_wish(struct strbuf *out, const struct fingerprint *f, const struct fp_thread *t,
		     const struct fp_use *u)
{
	const struct fp_thread *holder = fp_holder(f, t, u);
	char lock[256];

	fp_lock_text(f, u->lock, lock, sizeof(lock));
	switch (u->kind) {
	case WATCH_COND:
		strbuf_addf(out, "waits for a signal on %s", lock);
		break;
	case WATCH_JOIN:
		if (u->joined)
			strbuf_addf(out, "waits for thread %s to end", u->joined);
		else
			strbuf_adds(out, "waits for a thread to end");
		break;
	case WATCH_SEM:
	case WATCH_BARRIER:
		strbuf_addf(out, "waits at %s", lock);
		break;
	default:
		strbuf_addf(out, "wants %s%s", lock, mode(u->kind));
		if (holder && holder->state == WATCH_EXITED)
			strbuf_addf(out, ", held by thread %s, which has ended", holder->name);
		else if (holder && holder->state == WATCH_GHOST)
			strbuf_addf(out,
				    ", held by thread %s of the parent process when this one was "
				    "forked",
				    holder->name);
		else if (holder && holder == t)
			strbuf_adds(out, ", which it holds itself");
		else if (holder)
			strbuf_addf(out, ", held by thread %s", holder->name);
	}
	if (u->flags & WATCH_TIMED)
		strbuf_adds(out, " (for a limited time)");
	if (u->flags & WATCH_SHARED)
		strbuf_adds(out, " (another process may end that)");
}

static void add_cycle_thread(struct strbuf *out, const struct fingerprint *f,
			     const struct fp_cycle *c, size_t i)
{
	const struct wait_edge *e = &c->edges[i], *before = &c->edges[(i + c->len - 1) % c->len];
	const struct fp_thread *t = &f->threads[e->thread];
	const struct fp_use *held = &f->threads[before->holder].uses[before->held];
	char lock[256];

	strbuf_addf(out, "\n%sthread %s%s (tid %u)\n", color(COLOR_CYAN), t->name, color(COLOR_OFF),
		    t->tid);
	if (held->state == WATCH_HELD)
		add_holds(out, f, held);
	strbuf_addf(out, "  wants %s%s%s%s, %s thread %s, at\n", color(COLOR_BOLD),
		    fp_lock_text(f, t->uses[e->want].lock, lock, sizeof(lock)), color(COLOR_OFF),
		    mode(t->uses[e->want].kind),
		    f->threads[e->holder].uses[e->held].state == WATCH_WANT ? "queueing behind"
		    : e->holder == e->thread				    ? "held by this very"
									    : "held by",
		    f->threads[e->holder].name);
	add_stack(out, &t->uses[e->want].stack, "      ");
}

static void add_cycle(struct strbuf *out, const struct fingerprint *f, const struct fp_cycle *c)
{
	if (c->timed)
		strbuf_addf(out,
			    "cycle that a timeout will break (not a deadlock): %zu thread%s  "
			    "bucket %s\n",
			    c->len, c->len == 1 ? "" : "s", c->bucket);
	else
		strbuf_addf(out, "%sdeadlock%s: %zu thread%s  bucket %s\n", color(COLOR_RED),
			    color(COLOR_OFF), c->len,
			    c->len == 1 ? " waits for itself" : "s wait for each other", c->bucket);
	for (size_t i = 0; i < c->len; i++)
		add_cycle_thread(out, f, c, i);
	strbuf_addc(out, '\n');
}

static bool in_cycle(const struct fingerprint *f, size_t thread)
{
	for (size_t i = 0; i < f->ncycles; i++)
		for (size_t k = 0; k < f->cycles[i].len; k++)
			if (f->cycles[i].edges[k].thread == thread)
				return true;
	return false;
}

/* The other threads: one line each, or with everything they hold when `all` (or stuck). */
static void add_others(struct strbuf *out, const struct fingerprint *f, bool all)
{
	bool titled = false;

	for (size_t i = 0; i < f->nthreads; i++) {
		const struct fp_thread *t = &f->threads[i];
		const struct fp_use *wish = fp_wants(t);
		bool quiet = !wish && t->nuses == 0;

		if (in_cycle(f, i) || (quiet && !all))
			continue;
		if (!titled)
			strbuf_addf(out, "%s\n", f->ncycles ? "other threads" : "threads");
		titled = true;
		strbuf_addf(out, "  thread %s (tid %u) ", t->name, t->tid);
		if (t->state == WATCH_EXITED)
			strbuf_adds(out, "has ended and left locks behind");
		else if (t->state == WATCH_GHOST)
			strbuf_adds(out, "held locks in the parent process at the fork");
		else if (wish)
			add_wish(out, f, t, wish);
		else
			strbuf_adds(out, t->moving ? "runs" : "is not blocked in a lock");
		if (wish) {
			strbuf_adds(out, " at ");
			add_site(out, &wish->stack);
		}
		strbuf_addc(out, '\n');
		if (all && wish)
			add_stack(out, &wish->stack, "        ");
		for (size_t k = 0; k < t->nuses; k++) {
			char lock[256];

			if (t->uses[k].state != WATCH_HELD)
				continue;
			strbuf_addf(out, "    holds %s%s%s, taken at ",
				    fp_lock_text(f, t->uses[k].lock, lock, sizeof(lock)),
				    mode(t->uses[k].kind),
				    t->uses[k].doubted ? " (doubtful: released elsewhere)" : "");
			add_site(out, &t->uses[k].stack);
			strbuf_addc(out, '\n');
			if (all)
				add_stack(out, &t->uses[k].stack, "        ");
		}
	}
	if (titled)
		strbuf_addc(out, '\n');
}

static void add_inversions(struct strbuf *out, const struct fingerprint *f)
{
	char a[256], b[256];

	if (!f->ninversions)
		return;
	strbuf_adds(out, "potential lock-order inversions (seen in the history; no deadlock)\n");
	for (size_t i = 0; i < f->ninversions; i++) {
		const struct fp_inversion *v = &f->inversions[i];

		for (unsigned k = 0; k < 2; k++) {
			const struct fp_order *o = &v->order[k];

			fp_lock_text(f, o->outer, a, sizeof(a));
			fp_lock_text(f, o->inner, b, sizeof(b));
			strbuf_addf(out, "  %s thread %s: %s at ", k ? "   " : "-  ",
				    f->threads[v->thread[k]].name, a);
			add_site(out, &o->outer_stack);
			strbuf_addf(out, ", then %s at ", b);
			add_site(out, &o->inner_stack);
			strbuf_addc(out, '\n');
		}
	}
	strbuf_addc(out, '\n');
}

static void add_releases(struct strbuf *out, const struct fingerprint *f)
{
	char a[256];

	for (size_t i = 0; i < f->nthreads; i++) {
		const struct fp_thread *t = &f->threads[i];

		if (!t->nreleases)
			continue;
		strbuf_addf(out, "last releases of thread %s, newest last\n", t->name);
		for (size_t k = 0; k < t->nreleases; k++) {
			strbuf_addf(out, "  %s, taken at ",
				    fp_lock_text(f, t->releases[k].inner, a, sizeof(a)));
			add_site(out, &t->releases[k].inner_stack);
			if (t->releases[k].outer != UINT32_MAX)
				strbuf_addf(out, ", while holding %s",
					    fp_lock_text(f, t->releases[k].outer, a, sizeof(a)));
			strbuf_addc(out, '\n');
		}
		strbuf_addc(out, '\n');
	}
}

static void add_caveats(struct strbuf *out, const struct fingerprint *f)
{
	if (f->problem)
		strbuf_addf(out, "note: %s; its places are shown as offsets\n", f->problem);
	if (f->lost_threads)
		strbuf_addf(out,
			    "note: %u threads found no room in the area and were not watched\n",
			    f->lost_threads);
	for (size_t i = 0; i < f->nthreads; i++)
		if (f->threads[i].lost)
			strbuf_addf(out, "note: thread %s nested %u locks too deeply to record\n",
				    f->threads[i].name, f->threads[i].lost);
}

void fingerprint_term(const struct fingerprint *f, const struct report_view *view,
		      struct strbuf *out)
{
	strbuf_addf(out, "%s (pid %u)\n", f->program, f->pid);
	for (size_t i = 0; i < f->ncycles; i++)
		add_cycle(out, f, &f->cycles[i]);
	if (f->stuck)
		strbuf_addf(out,
			    "%sstuck%s: every thread waits, and no lock cycle explains it  bucket "
			    "%s\n",
			    color(COLOR_RED), color(COLOR_OFF), f->bucket);
	add_others(out, f, view->all || f->stuck);
	if (!f->ncycles && !f->stuck)
		strbuf_adds(out, "no deadlock\n");
	add_inversions(out, f);
	if (view->all)
		add_releases(out, f);
	add_caveats(out, f);
}

/* ---- many ---- */

void merge_term(struct merge *m, const struct report_view *view, struct strbuf *out)
{
	(void)view;
	merge_sort(m);
	strbuf_addf(out, "%zu fingerprint%s, %zu bucket%s\n", m->read, m->read == 1 ? "" : "s",
		    m->buckets.len, m->buckets.len == 1 ? "" : "s");
	if (m->skipped)
		strbuf_addf(out, "%zu other JSON files skipped\n", m->skipped);
	for (size_t i = 0; i < m->buckets.len; i++) {
		const struct merge_bucket *b = &m->buckets.data[i];

		strbuf_addf(out, "\n%s  %s  seen %zu time%s  %s\n%s", b->id, b->kind, b->count,
			    b->count == 1 ? "" : "s", b->program, b->summary);
	}
}

/* ---- without the library ---- */

void foreign_term(const struct foreign *f, const struct report_view *view, struct strbuf *out)
{
	(void)view;
	if (f->ncycle) {
		strbuf_addf(out,
			    "deadlock: %zu thread%s (by the owners in the mutexes; where they were "
			    "taken is not known)\n",
			    f->ncycle,
			    f->ncycle == 1 ? " waits for itself" : "s wait for each other");
		for (size_t i = 0; i < f->ncycle; i++)
			strbuf_addf(out, "  thread %d wants a mutex that thread %d holds\n",
				    f->threads[f->cycle[i]].tid, f->threads[f->cycle[i]].owner);
		strbuf_addc(out, '\n');
	}
	for (size_t i = 0; i < f->nthreads; i++) {
		const struct foreign_thread *t = &f->threads[i];

		strbuf_addf(out, "thread %d %s", t->tid,
			    t->owner   ? "waits for a mutex"
			    : t->futex ? "sleeps on a futex"
				       : "is not in a futex");
		if (t->owner)
			strbuf_addf(out, " held by thread %d", t->owner);
		strbuf_adds(out, ", at\n");
		for (size_t k = 0; k < t->nframes; k++) {
			const struct foreign_frame *fr = &t->frames[k];

			strbuf_addf(out, "      %s", fr->function ? fr->function : "?");
			if (fr->file)
				strbuf_addf(out, "  %s:%u", fr->file, fr->line);
			strbuf_addc(out, '\n');
		}
	}
}
