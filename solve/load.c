/* solve/load.c - follow a recording's paths and collect what the order engine needs.
 *
 * What comes in: a plait of mode path (or a full one, of which only the decisions are used). The
 * symbolic machine runs each thread along its path and hands out steps; each becomes a step of the
 * builder (build.h), each decision a condition.
 *
 * Three things need thought.
 *
 * Where a thread ends. A run that failed stopped all threads in the middle, and a path recording
 * says where only by the last decision taken. Steps behind that are `beyond`: perhaps they
 * happened. The failing thread certainly got to its failure. The others keep such steps as far as
 * nothing can hold them up: if they did not happen before the failure, they fit in behind it. In a
 * deadlock the threads wait: load-blocked.c finds out where.
 *
 * What the failure is (000 section 4.1.3). An assertion: the last decision of the failing thread
 * that unknown values made. A crash: the last value that became an address and was none. Without
 * such a thing the failure is that the run came to its end.
 *
 * Initial values. The machine's memory before the first step that touches a place: what is not
 * instrumented (constructors, the C library, accesses that are not shared) has written there. */
#include "solve/load.h"

#include "base/err.h"
#include "base/log.h"
#include "solve/load-blocked.h"
#include "solve/load-expr.h"
#include "solve/load-kinds.h"
#include "sym/value/expr.h"
#include "sym/sym.h"
#include "debug/names.h"
#include "trace/trace.h"

#include <inttypes.h>

enum { NULL_PAGES = 65536 };

/* A condition, where it arose. */
struct taken {
	uint32_t thread;
	size_t position;
	uint64_t site;
	uint32_t was, bit;
	uint64_t node, writes;
	uint8_t doom;
	term_id term;
	bool address; /* a value that became an address ... */
	bool bad;     /* ... of nothing */
	bool number;  /* ... that is no pointer but part of one, an index */
	bool unknown; /* depends on what was read */
};

struct word {
	uint8_t bytes[8], known;
};

struct loader {
	struct trace *trace;
	const struct trace_outcome *outcome;
	struct order_build *b;
	struct expr_terms x;
	struct loaded *out;
	struct load_thread *threads;
	VEC(struct taken) taken;
	struct map words; /* address / 8 -> index */
	VEC(struct word) contents;
	struct map names; /* address -> site that first touched it */
	struct symbols *symbols;
	uint64_t inexpressible, rounds;
	const struct load_options *options;
};

void loaded_deinit(struct loaded *l)
{
	order_built_deinit(&l->built);
	for (size_t i = 0; i < l->ntrails; i++)
		vec_deinit(&l->trails[i]);
	free(l->trails);
	for (size_t i = 0; l->paths && i < l->ntrails; i++)
		strbuf_deinit(&l->paths[i]);
	free(l->paths);
	map_deinit(&l->sides);
	names_deinit(&l->gaps);
	free(l->unsupported);
	*l = (struct loaded){ 0 };
}

static bool fails_in_a_thread(const struct trace_outcome *o)
{
	return o->kind == PLAIT_OUTCOME_ASSERT || o->kind == PLAIT_OUTCOME_SIGNAL;
}

/* ---- memory before the first step ---- */

static void remember(struct loader *l, const struct sym_step *s, uint64_t address, uint64_t n)
{
	for (uint64_t i = 0; i < n; i++) {
		uint64_t at = address + i, value, *w = map_put(&l->words, at / 8, l->contents.len);

		if (*w == l->contents.len)
			vec_add(&l->contents);
		if (l->contents.data[*w].known >> at % 8 & 1)
			continue;
		l->contents.data[*w].known |= (uint8_t)(1u << at % 8);
		if (sym_peek(s, at, &value))
			l->contents.data[*w].bytes[at % 8] = (uint8_t)value;
	}
}

static uint64_t initial_value(void *arg, uint64_t address, unsigned bytes)
{
	struct loader *l = arg;
	uint64_t value = 0;

	for (unsigned i = 0; i < bytes; i++) {
		const uint64_t *w = map_find(&l->words, (address + i) / 8);

		if (w)
			value |= (uint64_t)l->contents.data[*w].bytes[(address + i) % 8] << 8 * i;
	}
	return value;
}

static void place_name(void *arg, uint64_t address, struct strbuf *out)
{
	struct loader *l = arg;
	const uint64_t *site = map_find(&l->names, address);
	struct code_point p;

	if (site && l->symbols && symbols_site(l->symbols, (uint32_t)*site, &p) && *p.object)
		strbuf_adds(out, p.object);
}

/* ---- decisions ---- */

uint64_t load_side(uint64_t node, uint64_t side)
{
	return hash_u64(node) ^ hash_u64(side + 77);
}

static void decided(struct loader *l, const struct sym_step *s, uint64_t how)
{
	uint64_t *node = &l->threads[s->thread].node;

	*node = hash_u64(*node ^ hash_u64((uint64_t)s->event << 32 | s->site) ^
			 hash_u64(how + 1) * 3);
}

static term_id put(struct loader *l, uint32_t thread, bool counts, const struct order_step *o)
{
	if (counts)
		vec_push(&l->out->trails[thread], l->threads[thread].node);
	return counts ? order_build_step(l->b, thread, o) : order_build_more(l->b, thread, o);
}

/* The value of an expression; something unknown when terms cannot say it. */
static term_id value_of(struct loader *l, uint32_t expr, unsigned bits)
{
	term_id t = expr_term(&l->x, expr);
	struct terms *ts = order_build_terms(l->b);

	if (t == TERM_NONE) {
		l->inexpressible++;
		return order_build_input(l->b, bits, 0);
	}
	return term_get(ts, t)->width < bits ? term_zext(ts, t, bits) : t;
}

static void take(struct loader *l, const struct sym_step *s, term_id term)
{
	const struct term *t = term_get(order_build_terms(l->b), term);

	vec_push(&l->taken, ((struct taken){ .thread = s->thread,
					     .position = order_build_position(l->b, s->thread),
					     .site = s->site,
					     .was = (uint32_t)s->n,
					     .bit = s->bit,
					     .node = l->threads[s->thread].node,
					     .writes = s->writes,
					     .doom = s->kind == SYM_STEP_BRANCH ? s->doom : 255,
					     .term = term,
					     .unknown = t->op != TERM_CONST }));
}

/* Bind the machine's symbol to what the builder will find out. */
static void bind(struct loader *l, const struct sym_step *s, term_id read)
{
	struct terms *ts = order_build_terms(l->b);
	unsigned bits = term_get(ts, read)->width;

	if (s->symbol != UINT32_MAX)
		expr_terms_bind(&l->x, s->symbol,
				s->w < bits ? term_extract(ts, read, 0, s->w) : read);
	if (s->known) {
		take(l, s,
		     term_binary(ts, TERM_EQ, read,
				 term_const(ts, bits, s->concrete & term_mask(bits))));
		vec_last(&l->taken)->address = true;
		vec_last(&l->taken)->bad = s->concrete < NULL_PAGES;
		vec_last(&l->taken)->number = s->w < 64;
		decided(l, s, s->concrete);
	}
}

static void access_step(struct loader *l, const struct sym_step *s)
{
	unsigned bits = (s->w + 7u) & ~7u;
	struct order_step o = { .kind = load_step_kind(s->event),
				.site = s->site,
				.address = s->address,
				.bits = bits,
				.value = TERM_NONE,
				.held = TERM_NONE };
	term_id read;

	if (!s->part) /* a range is called after its first byte */
		map_put(&l->names, s->address, s->site);
	if (s->kind == SYM_STEP_WRITE)
		o.value = value_of(l, s->value, bits);
	else if (s->held)
		o.held = value_of(l, s->held, bits);
	read = put(l, s->thread, !s->part, &o);
	if (read != TERM_NONE)
		bind(l, s, read);
	if (s->kind == SYM_STEP_RMW)
		order_build_value(l->b, s->thread, value_of(l, s->value, bits));
}

static void sync_step(struct loader *l, const struct sym_step *s)
{
	struct order_step o = { .kind = load_step_kind(s->event),
				.site = s->site,
				.address = s->address,
				.mutex = s->address2,
				.other = s->other,
				.result = s->result > 0 ? (int)s->result : 0 };

	if (s->event == PLAIT_EV_BARRIER_WAIT || s->event == PLAIT_EV_SEM_INIT)
		o.other = (uint32_t)s->n;
	if (s->event == PLAIT_EV_SEM_WAIT || s->event == PLAIT_EV_SEM_TRYWAIT)
		o.result = s->result != 0;
	map_put(&l->names, s->address, s->site);
	put(l, s->thread, load_is_step(s->event, s->thread), &o);
	decided(l, s, (uint64_t)o.result);
	l->out->open_results |= load_has_open_result(s->event);
}

/* The failing thread uses a pointer to nothing: here its trace ends. */
static bool is_crash(const struct loader *l, const struct sym_step *s)
{
	return s->thread == l->outcome->thread && l->outcome->kind == PLAIT_OUTCOME_SIGNAL &&
	       s->kind == SYM_STEP_SYNC && s->event != PLAIT_EV_FORK && s->event != PLAIT_EV_JOIN &&
	       s->address < NULL_PAGES;
}

static void add_step(void *arg, const struct sym_step *s)
{
	struct loader *l = arg;
	struct load_thread *t = &l->threads[s->thread];

	if (t->crashed || s->kind == SYM_STEP_END || s->kind == SYM_STEP_INPUT)
		return;
	if (!t->seen && s->thread)
		put(l, s->thread, true, &(struct order_step){ .kind = ORDER_STEP_START });
	t->seen = true;
	if (is_crash(l, s)) {
		t->crashed = true;
		return;
	}
	switch (s->kind) {
	case SYM_STEP_BRANCH: {
		term_id t = expr_term(&l->x, s->value);

		if (t == TERM_NONE)
			l->inexpressible++;
		else
			take(l, s, t);
		l->threads[s->thread].fatal |= s->bit && s->fatal;
		if (s->bit)
			strbuf_addc(&l->out->paths[s->thread], s->n ? '1' : '0');
		map_put(&l->out->sides, load_side(l->threads[s->thread].node, s->n), 1);
		decided(l, s, s->n);
		break;
	}
	case SYM_STEP_RANGE:
		put(l, s->thread, true,
		    &(struct order_step){ .kind = load_step_kind(s->event), .site = s->site });
		break;
	case SYM_STEP_READ:
	case SYM_STEP_WRITE:
	case SYM_STEP_RMW:
		access_step(l, s);
		break;
	default:
		if (load_step_kind(s->event) == ORDER_STEP_FREE) {
			put(l, s->thread, true,
			    &(struct order_step){
				    .kind = ORDER_STEP_FREE,
				    .site = s->site,
				    .address = s->address,
				    .other = s->event == PLAIT_EV_FREE
						     ? (uint32_t)MIN(MAX(s->n, 1u), UINT32_MAX)
						     : 0 });
			break;
		}
		load_blocked_note(t, order_build_position(l->b, s->thread), s);
		sync_step(l, s);
	}
}

/* Memory is looked at now: when a step is added its machine may have gone on. */
static void on_step(void *arg, const struct sym_step *s)
{
	struct loader *l = arg;

	l->x.exprs = s->exprs;
	if (l->threads[s->thread].crashed)
		return;
	if (s->kind == SYM_STEP_RANGE)
		remember(l, s, s->address, s->n);
	else if (s->kind == SYM_STEP_READ || s->kind == SYM_STEP_WRITE || s->kind == SYM_STEP_RMW)
		remember(l, s, s->address, (s->w + 7u) / 8);
	rounds_step(&l->threads[s->thread].rounds, s, add_step, l);
}

/* ---- the end ---- */

/* The condition that stands for the failure, NULL when there is none: the pointer to nothing that
 * made it crash, else the last thing that unknown values decided. (A value that became an address
 * was recorded, so that a decision on it is none any more: then it stands for the decision.) */
static struct taken *find_failure(struct loader *l)
{
	struct taken *last = NULL;

	for (size_t i = l->taken.len; i-- > 0;) {
		struct taken *c = &l->taken.data[i];

		if (c->thread != l->outcome->thread || !c->unknown)
			continue;
		if (c->bad && l->outcome->kind == PLAIT_OUTCOME_SIGNAL)
			return c;
		if (!last)
			last = c;
	}
	return last;
}

/* A decision on numbers of which some became addresses, and so were recorded, is a decision on them
 * all: the failure is that each is what it was. */
static term_id whole_failure(struct loader *l, const struct taken *c)
{
	struct terms *ts = order_build_terms(l->b);
	term_id t = c->term;

	for (struct taken *x = (struct taken *)c; x-- > l->taken.data;) {
		if (x->thread != c->thread)
			continue;
		if (!x->address || !x->number || c->address)
			break;
		t = term_binary(ts, TERM_AND, t, x->term);
		x->unknown = x->address = false; /* part of the failure now */
		x->term = TERM_NONE;
	}
	return t;
}

static void set_failure(struct loader *l)
{
	bool crash = l->outcome->kind == PLAIT_OUTCOME_SIGNAL;
	struct taken *c = NULL;
	term_id failure = TERM_NONE;

	if (fails_in_a_thread(l->outcome)) {
		l->out->failing = l->outcome->thread;
		c = find_failure(l);
	}
	if (c)
		failure = whole_failure(l, c);
	for (size_t i = 0; i < l->taken.len; i++) {
		const struct taken *x = &l->taken.data[i];
		struct order_taken at;

		if (x == c || x->term == TERM_NONE ||
		    x->position > order_build_position(l->b, x->thread))
			continue;
		at = (struct order_taken){ .thread = x->thread,
					   .position = x->position,
					   .site = x->site,
					   .was = x->was,
					   .bit = x->bit,
					   .node = x->node,
					   .writes = x->writes,
					   .doom = x->doom };
		if (x->address)
			order_build_recorded(l->b, x->term, &at);
		else
			order_build_condition(l->b, x->term, &at);
	}
	l->out->conditions = l->taken.len;
	if (l->outcome->kind == PLAIT_OUTCOME_PASS && l->out->failing == ORDER_NONE)
		return;
	order_build_failure(l->b, l->out->failing == ORDER_NONE ? 0 : l->out->failing, failure);
	l->out->condition = l->out->stuck     ? "every thread waits"
			    : !c	      ? "the recorded steps are all done"
			    : c->bad && crash ? "a pointer to nothing was read"
			    : c->address      ? "the last recorded value of the failing thread"
					      : "the last decision of the failing thread";
}

static void end_threads(struct loader *l, const struct sym_follow_result *r)
{
	bool waits = l->outcome->kind == PLAIT_OUTCOME_DEADLOCK ||
		     l->outcome->kind == PLAIT_OUTCOME_HANG;

	for (size_t i = 0; i < r->threads.len; i++) {
		const struct sym_thread_end *e = &r->threads.data[i];
		struct load_thread *t = &l->threads[e->thread];

		/* a deadlock stopped it behind its last record, however far we can follow it */
		t->ended = e->outcome.kind == SYM_EXIT &&
			   (!waits || trace_meta(l->trace)->threads[e->thread].ended);
		if (t->ended && e->thread)
			put(l, e->thread, true, &(struct order_step){ .kind = ORDER_STEP_EXIT });
	}
	for (size_t i = 0; i < l->out->ntrails; i++)
		vec_push(&l->out->trails[i], l->threads[i].node);
	if (waits)
		l->out->stuck = load_blocked_cut(l->b, l->threads, trace_meta(l->trace)->nthreads,
						 l->options->skip);
	for (uint32_t i = 0; i < trace_meta(l->trace)->nthreads && !waits; i++)
		if (i != l->out->failing &&
		    !(fails_in_a_thread(l->outcome) && i == l->outcome->thread))
			load_free_cut(l->b, &l->threads[i], i);
}

/* Parts of the trace that rest on nothing: said, and enough to doubt the answer. */
static void note_gaps(struct loader *l, const struct sym_follow_result *r)
{
	_cleanup_(strbuf_deinit) struct strbuf text = { 0 };

	for (size_t i = 0; i < r->gaps.len; i++) {
		strbuf_clear(&text);
		strbuf_addf(&text, "%s (%" PRIu64 ")", r->gaps.text[i], r->gap_counts.data[i]);
		names_intern(&l->out->gaps, strbuf_str(&text));
	}
	if (l->rounds) {
		strbuf_clear(&text);
		strbuf_addf(&text, "%" PRIu64 " rounds of busy waiting", l->rounds);
		names_intern(&l->out->gaps, strbuf_str(&text));
	}
	if (l->inexpressible) {
		strbuf_clear(&text);
		strbuf_addf(&text, "%" PRIu64 " values that terms cannot express",
			    l->inexpressible);
		names_intern(&l->out->gaps, strbuf_str(&text));
	}
}

static bool is_detour(const struct loader *l, uint32_t thread)
{
	for (size_t i = 0; i < l->options->ndetours; i++)
		if (l->options->detours[i].thread == thread)
			return true;
	return false;
}

/* A thread that could not be followed to its end leaves no model. */
static void find_unsupported(struct loader *l, const struct sym_follow_result *r)
{
	for (size_t i = 0; i < r->threads.len && !l->out->unsupported; i++) {
		const struct sym_thread_end *e = &r->threads.data[i];
		const struct sym_outcome *o = &e->outcome;

		if (is_detour(l, e->thread) && o->kind == SYM_RECORDING_END && !e->bits_left)
			l->out->open_path = true;
		else if (is_detour(l, e->thread) && sym_kind_is_error(o->kind) &&
			 !l->threads[e->thread].fatal && l->out->failing == ORDER_NONE)
			l->out->failing = e->thread;
		else if (is_detour(l, e->thread) && o->kind != SYM_EXIT)
			l->out->unsupported =
				xasprintf("thread %s does not end well on that path", e->name);
		else if (o->kind == SYM_UNSUPPORTED || o->kind == SYM_DIVERGED ||
			 o->kind == SYM_BUDGET)
			l->out->unsupported = xasprintf("thread %s cannot be followed: %s at %s",
							e->name, o->message, o->where);
	}
}

static struct err *finish(struct loader *l, const struct sym_follow_result *r)
{
	struct order_memory memory = { initial_value, place_name, l };
	struct err *err;

	for (size_t i = 0; i < l->out->ntrails; i++) {
		rounds_flush(&l->threads[i].rounds, add_step, l);
		l->rounds += l->threads[i].rounds.dropped;
	}
	find_unsupported(l, r);
	note_gaps(l, r);
	l->out->steps = r->steps;
	l->out->symbols = r->symbols;
	l->out->seconds = r->stats.seconds;
	if (l->out->unsupported || l->out->open_path)
		return NULL;
	end_threads(l, r);
	set_failure(l);
	err = symbols_open(l->trace, &l->symbols);
	if (err) { /* names are nice to have */
		err_free(err);
		l->symbols = NULL;
	}
	err = order_build_finish(l->b, &memory, &l->out->built);
	if (err) {
		l->out->unsupported = xstrdup(err_message(err));
		err_free(err);
	}
	symbols_close(l->symbols);
	return NULL;
}

struct err *load_recording(struct trace *t, const struct load_options *options, struct loaded *ret)
{
	struct sym_follow_options follow = { .max_seconds = options->seconds,
					     .program = options->program,
					     .detours = options->detours,
					     .ndetours = options->ndetours };
	struct sym_follow_result result = { 0 };
	const struct trace_meta *meta = trace_meta(t);
	struct loader l = { .trace = t, .outcome = &meta->outcome, .out = ret, .options = options };
	struct err *err;

	*ret = (struct loaded){ .failing = ORDER_NONE };
	l.b = order_build_new();
	l.x.ts = order_build_terms(l.b);
	if (options->keep)
		order_build_keep(l.b);
	l.threads = xcalloc(meta->nthreads + 1, sizeof(*l.threads));
	ret->trails = xcalloc(meta->nthreads + 1, sizeof(*ret->trails));
	ret->paths = xcalloc(meta->nthreads + 1, sizeof(*ret->paths));
	ret->ntrails = meta->nthreads;
	for (size_t i = 0; i < meta->nthreads; i++) {
		order_build_thread(l.b, meta->threads[i].name);
		l.threads[i].node =
			hash_bytes(meta->threads[i].name, strlen(meta->threads[i].name), 1);
	}
	err = sym_follow_plait(t, &follow, on_step, &l, &result);
	if (!err)
		err = finish(&l, &result);
	for (size_t i = 0; i < meta->nthreads; i++) {
		vec_deinit(&l.threads[i].syncs);
		rounds_deinit(&l.threads[i].rounds);
	}
	free(l.threads);
	vec_deinit(&l.taken);
	vec_deinit(&l.contents);
	map_deinit(&l.words);
	map_deinit(&l.names);
	expr_terms_deinit(&l.x);
	order_build_free(l.b);
	sym_follow_result_deinit(&result);
	if (err)
		loaded_deinit(ret);
	return err;
}
