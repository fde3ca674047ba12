/* cmd/show-ask.c - see show-ask.h. */
#include "cmd/show-ask.h"

#include "base/json.h"
#include "base/printable.h"
#include "base/strbuf.h"
#include "cmd/show-rewind.h"
#include "rewind/rewind.h"

static const char *const verdict_words[] = {
	[ASK_UNKNOWN] = "unknown", [ASK_NONE] = "no", [ASK_SOME] = "in some", [ASK_ALL] = "yes"
};

static void show_found(struct rewind *r, const struct answer *a, const struct ask_found *f,
		       struct strbuf *out)
{
	strbuf_adds(out, "  ");
	if (a->question.kind == ASK_STATE) {
		dump_names_add_place(&r->names, f->insn, out);
		if (f->visits > 1)
			strbuf_addf(out, ", the last of %u times", f->visits);
		strbuf_adds(out, f->visits ? ":\n" : ", in the dump itself:\n");
		for (size_t i = 0; i < f->values.len; i++) {
			strbuf_adds(out, "    ");
			strbuf_add_printable(out, f->values.data[i].name, "");
			strbuf_adds(out, " = ");
			strbuf_add_printable(out, f->values.data[i].text, "");
			strbuf_addc(out, '\n');
		}
	} else {
		strbuf_adds(out, f->text);
	}
	if (a->total > 1 && f->suffixes < a->total)
		strbuf_addf(out, "%s(in %u of %u suffixes)",
			    a->question.kind == ASK_STATE ? "    " : " ", f->suffixes, a->total);
	if (a->question.kind != ASK_STATE || (a->total > 1 && f->suffixes < a->total))
		strbuf_addc(out, '\n');
}

void show_answers(struct rewind *r, struct strbuf *out)
{
	for (size_t i = 0; i < r->answers.len; i++) {
		const struct answer *a = &r->answers.data[i];

		strbuf_add_printable(out, a->question.text, "");
		strbuf_addf(out, "?\n  %s: %s\n", verdict_words[a->verdict], a->text);
		for (size_t k = 0; k < a->found.len; k++)
			show_found(r, a, &a->found.data[k], out);
		if (a->why) {
			strbuf_adds(out, "  note: ");
			strbuf_add_printable(out, a->why, "");
			strbuf_addc(out, '\n');
		}
		strbuf_addc(out, '\n');
	}
}

static void json_found(struct rewind *r, struct json *j, const struct answer *a,
		       const struct ask_found *f)
{
	json_begin_object(j, NULL);
	json_uint(j, "suffixes", f->suffixes);
	json_point(r, j, "at", f->insn);
	if (a->question.kind == ASK_STATE) {
		json_uint(j, "visits", f->visits);
		json_begin_array(j, "values");
		for (size_t i = 0; i < f->values.len; i++) {
			json_begin_object(j, NULL);
			json_str(j, "name", f->values.data[i].name);
			json_str(j, "value", f->values.data[i].text);
			json_bool(j, "known", f->values.data[i].known);
			json_end(j);
		}
		json_end(j);
	} else {
		json_str(j, "text", f->text);
	}
	if (f->call)
		json_str(j, "call", f->call);
	if (f->thread)
		json_str(j, "thread", f->thread);
	json_end(j);
}

void json_answers(struct rewind *r, struct json *j)
{
	json_begin_array(j, "answers");
	for (size_t i = 0; i < r->answers.len; i++) {
		const struct answer *a = &r->answers.data[i];

		json_begin_object(j, NULL);
		json_str(j, "question", a->question.text);
		json_str(j, "answer", ask_verdict_name(a->verdict));
		json_str(j, "text", a->text);
		json_str(j, "why", a->why);
		json_uint(j, "yes", a->yes);
		json_uint(j, "suffixes", a->total);
		json_begin_array(j, "found");
		for (size_t k = 0; k < a->found.len; k++)
			json_found(r, j, a, &a->found.data[k]);
		json_end(j);
		json_end(j);
	}
	json_end(j);
}
