/* report/ci-sarif.c - cases as SARIF: one result for each failure. */
#include "report/formats.h"

#include "base/json.h"
#include "report/ci-cases.h"
#include "report/sarif.h"

static void put_failure(struct json *j, const struct ci_case *c, const struct ci_failure *f)
{
	sarif_begin_result(j, f->kind, f->known ? "note" : "error", f->message);
	json_begin_array(j, "locations");
	if (f->file)
		sarif_location(
			j, NULL,
			&(struct sarif_place){ .path = f->file, .line = f->line ? f->line : 1 });
	json_end(j);
	json_begin_object(j, "properties");
	json_str(j, "test", c->name);
	json_str(j, "details", f->details);
	json_end(j);
	json_end(j);
}

void cases_sarif(const struct ci_cases *c, const char *suite, struct strbuf *out)
{
	struct json j;

	(void)suite;
	json_init(&j);
	sarif_begin(&j, NULL);
	for (size_t i = 0; i < c->len; i++)
		for (size_t n = 0; n < c->data[i].failures.len; n++)
			put_failure(&j, &c->data[i], &c->data[i].failures.data[n]);
	sarif_end(&j);
	json_finish(&j, out);
}
