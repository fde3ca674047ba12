/* race/directed.c - from somebody else's report to a race of ours.
 *
 * A report names two places in the source. The sites of our build at these places are looked up by
 * file and line. If the ordinary search has met a race between them, that is it. Otherwise a
 * directed one: runs in which a thread that comes to one of the places waits for another thread to
 * come to the other (PLAIT_CONSTRAINT_MEET with BOTH). Two conflicting accesses pending at once, and
 * nothing between them, are a race that was met, and the run is an instance like any other. Predicted
 * races are looked for in the same way. */
#define LOG_DOMAIN "race"
#include "race/study.h"

#include "base/err.h"
#include "base/log.h"
#include "debug/names.h"
#include "race/reports.h"
#include "trace/trace.h"

enum { RANGES = 6, SEEDS = 10 };

/* Sites that follow one another, as a pattern wants them. */
struct range {
	uint32_t low, high;
};
struct ranges {
	struct range data[RANGES];
	size_t len;
};

static bool is_at(const struct code_point *p, const struct report_place *place, uint32_t site)
{
	if (!p->site || p->site->kind > PLAIT_SITE_ATOMIC_RMW)
		return false;
	return place->file && place->line
		       ? p->line == place->line && report_same_file(p->file, place->file)
		       : site == place->site;
}

static void add_site(struct ranges *r, uint32_t site)
{
	if (r->len && r->data[r->len - 1].high + 1 >= site)
		r->data[r->len - 1].high = site;
	else if (r->len < RANGES)
		r->data[r->len++] = (struct range){ site, site };
}

static void find_sites(struct trace *t, struct symbols *symbols, const struct report_place *place,
		       struct ranges *ret)
{
	const struct trace_meta *m = trace_meta(t);
	struct code_point p;

	ret->len = 0;
	for (size_t i = 0; i < m->nmodules; i++)
		for (uint32_t n = 0; n < m->modules[i].nsites; n++) {
			uint32_t site = m->modules[i].first_site + n;

			if (symbols_site(symbols, site, &p) && is_at(&p, place, site))
				add_site(ret, site);
		}
}

/* ---- a run that meets ---- */

/* The two accesses of a recorded meeting; *both: they are there, and one of them is not atomic. */
static struct err *find_accesses(struct trace *t, uint64_t step, struct instance *ret, bool *both)
{
	_cleanup_(cursor_deinit) struct cursor cur;
	const struct event *ev;
	struct err *err;

	*both = false;
	cursor_init(&cur, t, CURSOR_ALL, 0);
	while (!(err = cursor_next(&cur, &ev)) && ev && ev->clock <= step + 1) {
		if (!plait_is_access(ev->kind) || ev->clock < step)
			continue;
		*(ev->clock == step ? &ret->first : &ret->second) = race_access_of(ev);
	}
	*both = !err && ret->first.step && ret->second.step &&
		ret->first.thread != ret->second.thread &&
		!(ret->first.is_atomic && ret->second.is_atomic);
	ret->address = MAX(ret->first.address, ret->second.address);
	return err;
}

static struct err *add_meeting(struct study *s, uint32_t input, const struct run_request *req,
			       struct group **ret)
{
	struct instance in = { .run = (uint32_t)s->runs.len };
	struct run_result r = { 0 };
	struct symbols *symbols = NULL;
	struct trace *t = NULL;
	bool both = false;
	struct err *err = study_record(s, input, req, &r, &t);

	if (!err && r.constraint_fate[0] == PLAIT_FATE_MET)
		err = find_accesses(t, r.meet_step, &in, &both);
	if (!err && both)
		err = symbols_open(t, &symbols);
	if (!err && both) {
		struct study_run *run = vec_add(&s->runs);

		run->input = input;
		run->points = r.points;
		schedule_copy(&r.schedule, &run->schedule);
		*ret = group_of(s, symbols, &in.first, &in.second, &in.turned);
		vec_push(&(*ret)->instances, in);
	}
	symbols_close(symbols);
	trace_close(t);
	run_result_deinit(&r);
	return err;
}

static struct plait_pattern anybody_at(const struct range *r)
{
	return (struct plait_pattern){
		.thread = PLAIT_ANY, .site_low = r->low, .site_high = r->high, .nth = PLAIT_ANY
	};
}

/* Runs with one input and one pair of ranges, until the two meet. */
static struct err *meet_ranges(struct study *s, uint32_t input, const struct range *a,
			       const struct range *b, struct group **ret)
{
	static const uint32_t strategies[] = { PLAIT_STRATEGY_RANDOM, PLAIT_STRATEGY_POS,
					       PLAIT_STRATEGY_STAY };
	struct plait_constraint c = { .kind = PLAIT_CONSTRAINT_MEET,
				      .flags = PLAIT_CONSTRAINT_BOTH,
				      .a = anybody_at(a),
				      .b = anybody_at(b) };
	struct err *err = NULL;

	for (unsigned i = 0; i < SEEDS && !err && !*ret && !study_out_of_time(s); i++) {
		struct run_request req = { .strategy = strategies[i % ARRAY_SIZE(strategies)],
					   .seed = s->o->seed + i,
					   .points = PLAIT_POINTS_ALL,
					   .constraints = &c,
					   .nconstraints = 1,
					   .point_budget = s->budget };
		struct run_result r = { 0 };

		err = study_run(s, input, &req, &r);
		if (!err && r.constraint_fate[0] == PLAIT_FATE_MET)
			err = add_meeting(s, input, &req, ret);
		run_result_deinit(&r);
	}
	return err;
}

static struct err *meet_report(struct study *s, const struct ranges place[2], struct group **ret)
{
	struct err *err = NULL;

	for (uint32_t input = 0; input < s->inputs.len && !err && !*ret; input++)
		for (size_t i = 0; i < place[0].len && !err && !*ret; i++)
			for (size_t k = 0; k < place[1].len && !err && !*ret; k++)
				err = meet_ranges(s, input, &place[0].data[i], &place[1].data[k],
						  ret);
	return err;
}

/* ---- reports and groups ---- */

static bool side_is(const struct race_side *side, const struct report_place *p)
{
	return side->line == p->line && report_same_file(side->file, p->file);
}

static struct group *group_for(struct study *s, const struct race_report *r)
{
	for (size_t i = 0; i < s->groups.len; i++) {
		const struct race *race = &s->groups.data[i].race;

		for (int turn = 0; turn < 2; turn++)
			if (side_is(&race->side[0], &r->place[turn]) &&
			    side_is(&race->side[1], &r->place[!turn]))
				return &s->groups.data[i];
	}
	return NULL;
}

/* A place that the report knows by its site alone gets its line. */
static void name_place(struct symbols *symbols, struct report_place *p)
{
	struct code_point at;

	if (p->file || !symbols_site(symbols, p->site, &at))
		return;
	p->file = xstrdup(at.file);
	p->function = xstrdup(at.function);
	p->line = at.line;
}

/* A report that became no race of ours is shown as it is. */
static void add_unmet(struct study *s, const struct race_report *r, char *note)
{
	struct group *g = vec_add(&s->groups);
	struct race *race = &g->race;

	race->id = (unsigned)s->groups.len;
	race->failing = -1;
	race->reported = true;
	race->note = note;
	race->object = xstrdup(r->object ? r->object : "");
	for (int i = 0; i < 2; i++)
		race->side[i] = (struct race_side){
			.file = xstrdup(r->place[i].file ? r->place[i].file : ""),
			.function = xstrdup(r->place[i].function ? r->place[i].function : ""),
			.line = r->place[i].line,
			.column = r->place[i].column,
			.writes = r->place[i].writes
		};
	race->bucket =
		xasprintf("%s|%s:%s|%s:%s", race->object, race->side[0].file,
			  race->side[0].function, race->side[1].file, race->side[1].function);
}

static struct err *find_report(struct study *s, struct trace *t, struct symbols *symbols,
			       struct race_report *r)
{
	struct ranges place[2];
	struct group *g;
	struct err *err = NULL;

	name_place(symbols, &r->place[0]);
	name_place(symbols, &r->place[1]);
	g = group_for(s, r);
	for (int i = 0; i < 2 && !g; i++) {
		find_sites(t, symbols, &r->place[i], &place[i]);
		if (place[i].len)
			continue;
		add_unmet(s, r,
			  xasprintf("this build has no shared access at %s:%u: is the report of "
				    "another version?",
				    r->place[i].file ? r->place[i].file : "?", r->place[i].line));
		return NULL;
	}
	if (!g)
		err = meet_report(s, place, &g);
	if (!err && g)
		g->race.reported = true;
	else if (!err)
		add_unmet(s, r,
			  xstrdup("the two accesses were never about to happen at once in "
				  "our runs; --try and --inputs may lead there"));
	return err;
}

/* ---- predictions ---- */

/* The run of a prediction may lead away from it, as where sections of a lock must change places: so
 * the two sites are looked for in other runs as well. */
struct err *directed_predictions(struct study *s)
{
	struct err *err = NULL;

	for (size_t i = 0; i < s->groups.len && !err && !study_is_time_to_judge(s); i++) {
		const struct group *g = &s->groups.data[i];
		const struct instance *in = g->instances.data;
		struct group *met = NULL;

		if (g->seen || !g->instances.len)
			continue;
		progress("predicted race %zu of %zu", i + 1, s->groups.len);
		err = meet_ranges(s, s->runs.data[in->run].input,
				  &(struct range){ in->first.site, in->first.site },
				  &(struct range){ in->second.site, in->second.site }, &met);
		if (met)
			met->seen++;
	}
	return err;
}

struct err *directed_find(struct study *s)
{
	struct run_request req = { .strategy = PLAIT_STRATEGY_STAY, .points = PLAIT_POINTS_ALL };
	struct race_reports *reports = s->o->reports;
	struct run_result r = { 0 };
	struct symbols *symbols = NULL;
	struct trace *t = NULL;
	struct err *err = study_record(s, 0, &req, &r, &t);

	run_result_deinit(&r);
	if (!err)
		err = symbols_open(t, &symbols);
	/* of this recording only the names are used, which stay when others are made */
	for (size_t i = 0; i < reports->len && !err && !study_out_of_time(s); i++) {
		progress("reported race %zu of %zu", i + 1, reports->len);
		err = find_report(s, t, symbols, &reports->data[i]);
	}
	symbols_close(symbols);
	trace_close(t);
	return err;
}
