/* report/ci-junit.c - cases as JUnit XML. */
#include "report/formats.h"

#include "base/strbuf.h"
#include "report/ci-cases.h"
#include "report/escape.h"

static bool has_new(const struct ci_case *c)
{
	for (size_t i = 0; i < c->failures.len; i++)
		if (!c->failures.data[i].known)
			return true;
	return false;
}

/* <tag type="..." message="...">text</tag>; type and text may be NULL. */
static void xml_element(struct strbuf *sb, const char *tag, const char *type, const char *message,
			const char *text)
{
	strbuf_addf(sb, "    <%s", tag);
	markup_attribute(sb, "type", type);
	markup_attribute(sb, "message", message);
	strbuf_addc(sb, '>');
	escape_markup(sb, text);
	strbuf_addf(sb, "</%s>\n", tag);
}

static void xml_case(struct strbuf *sb, const struct ci_case *c)
{
	strbuf_adds(sb, "  <testcase classname=\"unplait\" name=\"");
	escape_markup(sb, c->name);
	strbuf_addf(sb, "\" time=\"%.3f\">\n", c->seconds);
	if (c->skipped)
		xml_element(sb, "skipped", NULL, c->skipped, NULL);
	for (size_t i = 0; i < c->failures.len; i++) {
		const struct ci_failure *f = &c->failures.data[i];

		xml_element(sb, f->known ? "skipped" : "failure", f->known ? NULL : f->kind,
			    f->message, f->details);
	}
	strbuf_adds(sb, "  </testcase>\n");
}

void cases_junit(const struct ci_cases *c, const char *suite, struct strbuf *sb)
{
	size_t failing = 0, skipped = 0;
	double seconds = 0;

	for (size_t i = 0; i < c->len; i++) {
		failing += has_new(&c->data[i]);
		skipped += c->data[i].skipped || (c->data[i].failures.len && !has_new(&c->data[i]));
		seconds += c->data[i].seconds;
	}
	strbuf_adds(sb, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"");
	escape_markup(sb, suite);
	strbuf_addf(sb, "\" tests=\"%zu\" failures=\"%zu\" skipped=\"%zu\" time=\"%.3f\">\n",
		    c->len, failing, skipped, seconds);
	for (size_t i = 0; i < c->len; i++)
		xml_case(sb, &c->data[i]);
	strbuf_adds(sb, "</testsuite>\n");
}
