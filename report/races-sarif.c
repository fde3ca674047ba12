/* report/races-sarif.c - races as SARIF: one result each, the level by its verdict, both accesses as
 * locations, both stacks as code flows. */
#include "report/formats.h"

#include "base/json.h"
#include "base/mem.h"
#include "race/race.h"
#include "report/sarif.h"

static const char *level_of(const struct race *r)
{
	if (r->known || r->verdict <= RACE_HARMLESS)
		return r->verdict == RACE_UNDECIDED && !r->known ? "warning" : "note";
	return r->verdict >= RACE_OUTPUT_DIFFERS ? "error" : "warning";
}

static char *message_of(const struct race *r)
{
	return xasprintf("data race on %s: %s:%u (%s) and %s:%u (%s): %s", r->object,
			 r->side[0].file, r->side[0].line, r->side[0].writes ? "write" : "read",
			 r->side[1].file, r->side[1].line, r->side[1].writes ? "write" : "read",
			 race_verdict_meaning(r->verdict));
}

static void add_location(struct json *j, const struct race_side *s)
{
	struct sarif_place p = { .path = s->file,
				 .line = s->line ? s->line : 1,
				 .function = s->function,
				 .message = s->writes ? "write" : "read" };

	sarif_location(j, NULL, &p);
}

/* Outermost frame first, as a flow goes. */
static void add_flow(struct json *j, const struct race_side *s)
{
	json_begin_object(j, NULL);
	json_begin_array(j, "locations");
	for (size_t i = s->stack.len; i-- > 0;) {
		const struct place *at = &s->stack.data[i];
		struct sarif_place p = { .path = at->file,
					 .line = at->line ? at->line : 1,
					 .function = at->function };

		json_begin_object(j, NULL);
		sarif_location(j, "location", &p);
		json_end(j);
	}
	json_end(j);
	json_end(j);
}

static void add_race(struct json *j, const struct race *r)
{
	_cleanup_(xfreep) char *message = message_of(r);

	sarif_begin_result(j, race_verdict_name(r->verdict), level_of(r), message);
	json_begin_array(j, "locations");
	add_location(j, &r->side[0]);
	json_end(j);
	json_begin_array(j, "relatedLocations");
	add_location(j, &r->side[1]);
	json_end(j);
	if (r->side[0].stack.len && r->side[1].stack.len) {
		json_begin_array(j, "codeFlows");
		json_begin_object(j, NULL);
		json_begin_array(j, "threadFlows");
		add_flow(j, &r->side[0]);
		add_flow(j, &r->side[1]);
		json_end(j);
		json_end(j);
		json_end(j);
	}
	sarif_fingerprint(j, r->bucket);
	json_begin_object(j, "properties");
	json_bool(j, "known", r->known);
	json_str(j, "orderA", r->order[0].plait);
	json_str(j, "orderB", r->order[1].plait);
	json_end(j);
	json_end(j);
}

void races_sarif(const struct races_result *r, const struct report_view *view, struct strbuf *out)
{
	const char *rules[RACE_SPEC_VIOLATED + 2] = { NULL };
	struct json j;

	(void)view;
	for (int v = 0; v <= RACE_SPEC_VIOLATED; v++)
		rules[v] = race_verdict_name((enum race_verdict)v);
	json_init(&j);
	sarif_begin(&j, rules);
	for (size_t i = 0; i < r->races.len; i++)
		add_race(&j, &r->races.data[i]);
	sarif_end(&j);
	json_finish(&j, out);
}
