/* report/index.c - gather the findings of a folder, and list them; see index.h. */
#include "report/index.h"

#include "base/err.h"
#include "base/file.h"
#include "base/json.h"
#include "base/printable.h"
#include "base/strbuf.h"
#include "debug/names.h"
#include "run/place.h"
#include "trace/trace.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <fts.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool has_ending(const char *name, const char *ending)
{
	size_t n = strlen(name), m = strlen(ending);

	return n > m && strcmp(name + n - m, ending) == 0;
}

char *index_beside(const char *plait, const char *ending)
{
	size_t n = strlen(plait);

	if (has_ending(plait, ".plait"))
		n -= strlen(".plait");
	return xasprintf("%.*s%s", (int)n, plait, ending);
}

bool index_entry_fails(const struct index_entry *f)
{
	return f->kind != PLAIT_OUTCOME_PASS && f->kind != PLAIT_OUTCOME_UNKNOWN;
}

static char *copy_text(const cJSON *object, const char *key)
{
	const cJSON *v = cJSON_GetObjectItemCaseSensitive(object, key);

	return cJSON_IsString(v) ? xstrdup(v->valuestring) : NULL;
}

/* What explain said about it, if it was asked. */
static void take_explanation(const char *path, struct index_entry *f)
{
	_cleanup_(xfreep) char *name = index_beside(path, ".json");
	_cleanup_(strbuf_deinit) struct strbuf text = { 0 };
	struct err *err = access(name, R_OK) == 0 ? file_read(name, &text) : NULL;
	cJSON *j = err ? NULL : cJSON_Parse(strbuf_str(&text));

	err_free(err);
	f->cause = copy_text(j, "summary");
	f->advice = copy_text(j, "advice");
	f->tried = copy_text(j, "tried");
	cJSON_Delete(j);
}

static char *command_of(const struct trace_meta *m)
{
	struct strbuf sb = { 0 };

	for (char **w = m->command; w && *w; w++) {
		if (sb.len)
			strbuf_addc(&sb, ' ');
		strbuf_add_shell(&sb, *w);
	}
	return strbuf_detach(&sb);
}

/* What the failing run said, or got, and where. */
static char *said(struct trace *t)
{
	const struct trace_outcome *o = &trace_meta(t)->outcome;
	_cleanup_(places_deinit) struct places places = { 0 };
	struct symbols *symbols = NULL;
	const struct place *at;
	const char *what = o->message	? o->message
			   : o->signal	? strsignal(o->signal)
			   : o->nframes ? outcome_name(o->kind)
					: NULL;
	char *text;

	if (!what || o->message)
		return what ? xstrdup(what) : NULL;
	err_free(symbols_open(t, &symbols)); /* best effort: the program may be gone */
	if (symbols)
		places_of_outcome(symbols, o, &places);
	at = places_at(&places);
	text = at ? xasprintf("%s, at %s:%u in %s()", what, at->file, at->line, at->function)
		  : xstrdup(what);
	symbols_close(symbols);
	return text;
}

static void add_finding(struct report_index *x, const char *folder, const char *path)
{
	_cleanup_(xfreep) char *page = index_beside(path, ".html");
	size_t skip = strlen(folder);
	struct index_entry f = { 0 };
	struct trace *t = NULL;
	struct err *err = trace_open(path, &t);
	const struct trace_meta *m;

	if (err) {
		err_free(err);
		x->unreadable++;
		return;
	}
	m = trace_meta(t);
	while (path[skip] == '/')
		skip++;
	f = (struct index_entry){ .plait = xstrdup(path + skip),
				  .page = access(page, R_OK) == 0 ? xstrdup(page + skip) : NULL,
				  .command = command_of(m),
				  .message = said(t),
				  .kind = m->outcome.kind,
				  .events = m->nevents,
				  .threads = m->nthreads,
				  .made_here = trace_made_here(t) };
	take_explanation(path, &f);
	vec_push(&x->entries, f);
	trace_close(t);
}

static int by_name(const FTSENT **a, const FTSENT **b)
{
	return strcmp((*a)->fts_name, (*b)->fts_name);
}

struct err *report_index_gather(const char *folder, struct report_index *ret)
{
	char *roots[] = { (char *)folder, NULL };
	FTS *fts;
	FTSENT *e;

	*ret = (struct report_index){ 0 };
	if (access(folder, R_OK | X_OK) < 0)
		return err_errno(errno, "cannot read the folder %s", folder);
	fts = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, by_name);
	if (!fts)
		return err_errno(errno, "cannot read the folder %s", folder);
	while (!ret->cut && (e = fts_read(fts))) {
		if (e->fts_info != FTS_F || !has_ending(e->fts_name, ".plait"))
			continue;
		if (ret->entries.len == INDEX_MOST)
			ret->cut = true;
		else
			add_finding(ret, folder, e->fts_path);
	}
	fts_close(fts);
	return NULL;
}

void report_index_deinit(struct report_index *x)
{
	for (size_t i = 0; i < x->entries.len; i++) {
		struct index_entry *f = &x->entries.data[i];

		free(f->plait);
		free(f->page);
		free(f->command);
		free(f->message);
		free(f->cause);
		free(f->advice);
		free(f->tried);
	}
	vec_deinit(&x->entries);
}

void report_index_json(const struct report_index *x, const char *folder, struct json *j)
{
	json_begin_answer(j);
	json_str(j, "folder", folder);
	json_begin_array(j, "findings");
	for (size_t i = 0; i < x->entries.len; i++) {
		const struct index_entry *f = &x->entries.data[i];

		json_begin_object(j, NULL);
		json_str(j, "plait", f->plait);
		json_str(j, "command", f->command);
		json_str(j, "kind", outcome_name(f->kind));
		json_str(j, "message", f->message);
		json_str(j, "cause", f->cause);
		json_str(j, "advice", f->advice);
		json_str(j, "tried", f->tried);
		json_str(j, "page", f->page);
		json_uint(j, "threads", f->threads);
		json_uint(j, "events", f->events);
		json_bool(j, "made_here", f->made_here);
		json_end(j);
	}
	json_end(j);
	json_uint(j, "unreadable", x->unreadable);
	json_bool(j, "cut", x->cut);
	json_end(j);
}

static void add_text(struct strbuf *out, const char *before, const char *text)
{
	if (!text)
		return;
	strbuf_adds(out, before);
	strbuf_add_printable(out, text, "");
}

void report_index_term(const struct report_index *x, struct strbuf *out)
{
	for (size_t i = 0; i < x->entries.len; i++) {
		const struct index_entry *f = &x->entries.data[i];

		strbuf_addf(out, "%-9s ", outcome_name(f->kind));
		strbuf_add_printable(out, f->plait, "");
		add_text(out, "  ", f->message);
		add_text(out, "\n          cause   ", f->cause);
		strbuf_addc(out, '\n');
	}
	if (x->unreadable)
		strbuf_addf(out, "%zu file%s cannot be read as a plait\n", x->unreadable,
			    x->unreadable == 1 ? "" : "s");
	if (x->cut)
		strbuf_addf(out, "there are more: only the first %d are listed\n", INDEX_MOST);
}
