/* cmd/show-rewind.c - see show-rewind.h. */
#include "cmd/show-rewind.h"

#include "base/json.h"
#include "base/mem.h"
#include "base/printable.h"
#include "cmd/show-ask.h"
#include "cmd/show-exploit.h"
#include "cmd/show-threads.h"
#include "crumbs/crumbs.h"
#include "rewind/rewind.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_SHOWN = 40, MOST_WRITES = 30 };

/* ---- helpers ---- */

static void add_value(struct rewind *r, expr_id e, struct strbuf *out)
{
	uint64_t v;

	if (!e || !past_value(&r->h, r->best->past, e, &v))
		strbuf_adds(out, "?");
	else
		strbuf_addf(out, v < 4096 ? "%" PRIu64 : "0x%" PRIx64, v);
}

/* ": line 1, 12": the lines of a step. */
static void add_lines(struct rewind *r, const struct step *s, struct strbuf *out)
{
	unsigned last = 0, shown = 0;

	for (uint32_t i = 0; i < s->npieces; i++)
		for (uint32_t k = 0; k < s->pieces[i].n; k++) {
			const struct piece *p = &s->pieces[i];
			struct source_frames frames = { 0 };
			const struct source_frame *f;

			dump_names_frames(&r->names, p->function->insns.data[p->first + k].address,
					  &frames);
			f = source_frames_own(&frames);
			if (f && f->line && f->line != last && shown < 12) {
				strbuf_addf(out, "%s%u", shown ? ", " : ": line ", f->line);
				last = f->line;
				shown++;
			}
			vec_deinit(&frames);
		}
}

static void add_function(struct rewind *r, uint64_t pc, struct strbuf *out)
{
	struct source_frames frames = { 0 };
	const struct source_frame *f;

	dump_names_frames(&r->names, pc, &frames);
	f = source_frames_own(&frames);
	if (f && f->function)
		strbuf_add_printable(out, f->function, "");
	else
		dump_names_add_place(&r->names, pc, out);
	if (f && f->file) {
		strbuf_adds(out, " (");
		strbuf_add_printable(out, f->file, "");
		strbuf_adds(out, ")");
	}
	vec_deinit(&frames);
}

static const struct effect *skipped(const struct step *s)
{
	const struct piece *p = &s->pieces[s->npieces - 1];

	return p->way == WAY_SKIPPED ? p->effect : NULL;
}

/* ---- text ---- */

static const char *const link_words[] = {
	[LINK_USED] = "used",
	[LINK_READ] = "read from",
	[LINK_WRITTEN] = "written to",
	[LINK_COMPUTED] = "computed",
	[LINK_CONSTANT] = "a constant",
	[LINK_RESULT] = "returned",
	[LINK_BEFORE] = "older than what could be rewound",
	[LINK_CHECKED] = "checked",
	[LINK_KNOWN] = "known by the compiler from what is",
};

static void show_chain(struct rewind *r, struct strbuf *out)
{
	if (r->cause.chain.len)
		strbuf_adds(out, "\nthe value, from the failure back:\n");
	for (size_t i = 0; i < r->cause.chain.len; i++) {
		const struct link *l = &r->cause.chain.data[i];

		strbuf_addf(out, "  %s",
			    l->kind == LINK_RESULT ? "returned by " : link_words[l->kind]);
		if (l->kind == LINK_RESULT)
			strbuf_adds(out, l->function);
		if (l->has_address) {
			strbuf_addc(out, ' ');
			dump_names_add_object(&r->names, l->address, out);
		}
		if (l->has_value)
			strbuf_addf(out, " = 0x%" PRIx64, l->value);
		if (l->kind == LINK_WRITTEN && l->function)
			strbuf_addf(out, " by %s", l->function);
		if (l->insn) {
			strbuf_adds(out, " at ");
			dump_names_add_place(&r->names, l->insn, out);
		}
		if (!l->certain)
			strbuf_adds(out, " (in this suffix)");
		strbuf_addc(out, '\n');
	}
}

static void show_step(struct rewind *r, const struct node *n, struct strbuf *out)
{
	strbuf_addf(out, "  %5d  ", -(int)n->depth);
	add_function(r, n->pc, out);
	add_lines(r, &n->step, out);
	if (skipped(&n->step))
		strbuf_addf(out, "; %s() is skipped", skipped(&n->step)->function);
	if (!tree_is_certain(&r->tree, n))
		strbuf_adds(out, "  [one of several]");
	strbuf_addc(out, '\n');
}

static void show_steps(struct rewind *r, bool all, struct strbuf *out)
{
	uint32_t total = r->best->depth;

	strbuf_adds(out, "\nthe last blocks before the dump, oldest first:\n");
	for (const struct node *n = r->best; n->parent; n = n->parent) {
		if (!n->step.npieces)
			continue;
		if (!all && total > MOST_SHOWN && n->depth == MOST_SHOWN)
			strbuf_addf(out, "  ... %u blocks before these: --all shows them\n",
				    total - MOST_SHOWN);
		if (all || n->depth <= MOST_SHOWN)
			show_step(r, n, out);
	}
}

/* Each object once, the last access first. */
static void show_set(struct rewind *r, bool writes, struct strbuf *out)
{
	struct map seen = { 0 };
	const struct node *way[4096];
	size_t n = 0, shown = 0;

	for (const struct node *k = r->best; k->parent && n < ARRAY_SIZE(way); k = k->parent)
		if (k->step.npieces)
			way[n++] = k;
	strbuf_addf(out, "\n%s:\n", writes ? "written, the last write of each first" : "read");
	while (n-- > 0 && shown < MOST_WRITES)
		for (uint32_t i = way[n]->step.naccesses; i-- > 0 && shown < MOST_WRITES;) {
			const struct access *a = &way[n]->step.accesses[i];
			uint64_t at;

			if (a->is_write != writes || !a->w ||
			    !past_value(&r->h, r->best->past, a->address, &at) ||
			    map_find(&seen, at))
				continue;
			map_put(&seen, at, 1);
			shown++;
			strbuf_adds(out, "  ");
			dump_names_add_object(&r->names, at, out);
			strbuf_adds(out, " = ");
			add_value(r, a->value, out);
			if (writes) {
				strbuf_adds(out, ", before: ");
				add_value(r, a->before, out);
			}
			strbuf_adds(out, " at ");
			dump_names_add_place(&r->names, a->insn, out);
			strbuf_addc(out, '\n');
		}
	map_deinit(&seen);
}

static void show_verdict(struct rewind *r, struct strbuf *out)
{
	static const char *const words[] = {
		[NOT_TRIED] = "not run",
		[CONFIRMED] = "confirmed: run natively, it ends in the same dump, in all registers "
			      "and every dumped byte",
		[CONFIRMED_BUT_GAPS] = "confirmed but for the skipped calls: run natively without "
				       "them, it ends in the same dump",
		[DIFFERS] = "NOT CONFIRMED: run natively, ",
		[NOT_RUNNABLE] = "NOT CONFIRMED: ",
	};

	strbuf_addf(out, "%u blocks, %u instructions; ", r->best->depth, r->best->insns);
	if (r->at_call && r->confirmed.verdict == CONFIRMED)
		strbuf_adds(out, "confirmed up to the call of libc: run natively, it comes there "
				 "with all that is known of that moment\n");
	else
		strbuf_addf(out, "%s%s%s\n", words[r->confirmed.verdict], r->confirmed.why,
			    r->may_run ? "" : " (see below)");
	if (!r->may_run)
		strbuf_addf(out, "not run: %s\n", r->may_not_run);
}

static void show_end(struct rewind *r, struct strbuf *out)
{
	const struct node *leaf = NULL;

	for (size_t i = 0; i < r->tree.nodes.len; i++)
		if (r->tree.nodes.data[i]->state == NODE_ENDED &&
		    (!leaf || r->tree.nodes.data[i]->depth > leaf->depth))
			leaf = r->tree.nodes.data[i];
	if (leaf) {
		strbuf_addf(out, "the walk ends there: %s, at ", leaf->why);
		dump_names_add_place(&r->names, leaf->where ? leaf->where : leaf->pc, out);
		strbuf_addc(out, '\n');
	}
	strbuf_addf(out,
		    "%" PRIu64 " steps tried, %" PRIu64
		    " contradict the dump; %zu suffixes left%s\n",
		    r->tree.tried, r->tree.refuted, tree_alive(&r->tree),
		    r->tree.interrupted	  ? "; interrupted"
		    : r->tree.out_of_time ? "; the time was over"
					  : "");
}

static uint32_t records_followed(const struct rewind *r)
{
	return r->best && r->route.n ? r->best->passed - r->route.first : 0;
}

static void show_notes(const struct rewind *r, struct strbuf *out)
{
	const struct names *code = code_notes(r->code);

	if (r->route_problem)
		strbuf_addf(out, "note: the branch records were not used: %s\n", r->route_problem);
	else if (r->route.n)
		strbuf_addf(out, "along %u of %u branch records\n", records_followed(r),
			    r->route.n - r->route.first);
	for (size_t i = 0; i < code->len; i++)
		strbuf_addf(out, "note: %s\n", code->text[i]);
	for (size_t i = 0; i < r->dump.gaps.len; i++)
		strbuf_addf(out, "note: %s\n", r->dump.gaps.text[i]);
}

void show_rewind(struct rewind *r, bool all, struct strbuf *out)
{
	show_answers(r, out);
	if (r->cause.text)
		strbuf_addf(out, "%s (%s): %s\n",
			    r->cause.certain				? "cause"
			    : r->cause.passed_over || r->cause.inferred ? "likely cause"
									: "cause in this suffix",
			    cause_kind_name(r->cause.kind), r->cause.text);
	else if (r->live)
		strbuf_adds(out, "the process had not failed when it was dumped: there is no cause "
				 "to look for; --ask answers questions\n");
	else
		strbuf_adds(out, "no cause found\n");
	for (size_t i = 0; i < r->other_causes.len; i++)
		strbuf_addf(out, "or, in another suffix (%s): %s\n",
			    cause_kind_name(r->other_causes.data[i].kind),
			    r->other_causes.data[i].text);
	if (!r->best) {
		strbuf_adds(out, r->threads.mates.len
					 ? "every way of the failing thread alone contradicts the "
					   "dump: others have changed what it read\n"
					 : "every way to this dump contradicts it\n");
		show_threads(r, out);
		show_notes(r, out);
		return;
	}
	show_verdict(r, out);
	if (r->cause.text && r->cause.passed_over)
		strbuf_addf(out,
			    "likely: %" PRIu64
			    " parts of the program were not walked through; by their "
			    "code they did not write what broke it\n",
			    r->tree.passed_over);
	if (r->cause.text && r->cause.inferred)
		strbuf_adds(out,
			    "likely: the failing instruction has its address as a number; only "
			    "what is named below can have told the compiler so\n");
	show_chain(r, out);
	show_exploit(r, out);
	show_threads(r, out);
	if (r->best->parent) {
		show_steps(r, all, out);
		show_set(r, true, out);
		show_set(r, false, out);
	}
	strbuf_addc(out, '\n');
	show_end(r, out);
	show_notes(r, out);
}

/* ---- JSON ---- */

void json_point(struct rewind *r, struct json *j, const char *key, uint64_t pc)
{
	struct source_frames frames = { 0 };
	const struct source_frame *f;

	dump_names_frames(&r->names, pc, &frames);
	f = source_frames_own(&frames);
	json_begin_object(j, key);
	json_str(j, "file", f ? f->file : NULL);
	json_uint(j, "line", f ? f->line : 0);
	json_str(j, "function", f ? f->function : NULL);
	json_hex(j, "pc", pc);
	json_end(j);
	vec_deinit(&frames);
}

static void json_value(struct rewind *r, struct json *j, const char *key, expr_id e)
{
	uint64_t v;

	if (e && past_value(&r->h, r->best->past, e, &v))
		json_hex(j, key, v);
	else
		json_null(j, key);
}

static void json_thread(struct rewind *r, struct json *j)
{
	char name[16];

	snprintf(name, sizeof(name), "%zu", r->thread + 1);
	json_str(j, "thread", name);
}

static void json_steps(struct rewind *r, struct json *j)
{
	json_begin_array(j, "steps");
	for (const struct node *n = r->best; n->parent; n = n->parent) {
		if (!n->step.npieces)
			continue;
		json_begin_object(j, NULL);
		json_thread(r, j);
		json_point(r, j, "at", n->pc);
		json_bool(j, "certain", tree_is_certain(&r->tree, n));
		if (skipped(&n->step))
			json_str(j, "skipped", skipped(&n->step)->function);
		json_end(j);
	}
	json_end(j);
}

static void json_accesses(struct rewind *r, struct json *j, bool writes)
{
	json_begin_array(j, writes ? "writes" : "reads");
	for (const struct node *n = r->best; n && n->parent; n = n->parent)
		for (uint32_t i = 0; i < n->step.naccesses; i++) {
			const struct access *a = &n->step.accesses[i];
			_cleanup_(strbuf_deinit) struct strbuf name = { 0 };
			uint64_t at;

			if (a->is_write != writes || !a->w)
				continue;
			if (past_value(&r->h, r->best->past, a->address, &at))
				dump_names_add_object(&r->names, at, &name);
			json_begin_object(j, NULL);
			json_str(j, "object", name.len ? strbuf_str(&name) : NULL);
			json_point(r, j, "at", a->insn);
			if (writes)
				json_value(r, j, "before", a->before);
			json_value(r, j, writes ? "after" : "value", a->value);
			json_bool(j, "certain", tree_is_certain(&r->tree, n));
			json_end(j);
		}
	json_end(j);
}

static void json_chain(struct rewind *r, struct json *j)
{
	static const char *const kinds[] = { "used",	 "read",   "written", "computed",
					     "constant", "result", "before",  "checked" };

	json_begin_array(j, "chain");
	for (size_t i = 0; i < r->cause.chain.len; i++) {
		const struct link *l = &r->cause.chain.data[i];
		_cleanup_(strbuf_deinit) struct strbuf name = { 0 };

		json_begin_object(j, NULL);
		json_str(j, "what", kinds[l->kind]);
		if (l->has_address) {
			dump_names_add_object(&r->names, l->address, &name);
			json_str(j, "object", strbuf_str(&name));
		}
		if (l->has_value)
			json_hex(j, "value", l->value);
		if (l->function)
			json_str(j, "call", l->function);
		if (l->insn)
			json_point(r, j, "at", l->insn);
		json_bool(j, "certain", l->certain);
		json_end(j);
	}
	json_end(j);
}

static void json_cause(struct rewind *r, struct json *j)
{
	if (!r->cause.text) {
		json_null(j, "cause");
		return;
	}
	json_begin_object(j, "cause");
	json_str(j, "kind", cause_kind_name(r->cause.kind));
	json_bool(j, "certain", r->cause.certain);
	json_bool(j, "passed_over", r->cause.passed_over);
	json_bool(j, "inferred", r->cause.inferred);
	json_thread(r, j);
	json_point(r, j, "at", r->cause.insn);
	json_str(j, "text", r->cause.text);
	json_chain(r, j);
	json_end(j);
}

static void json_records(const struct rewind *r, struct json *j)
{
	if (!r->route.n && !r->route_problem)
		return;
	json_begin_object(j, "branch_records");
	json_uint(j, "given", r->o.crumbs->branches.len);
	json_uint(j, "followed", records_followed(r));
	json_str(j, "problem", r->route_problem);
	json_end(j);
}

static void json_notes(const struct rewind *r, struct json *j)
{
	const struct names *both[] = { code_notes(r->code), &r->dump.gaps };

	json_begin_array(j, "notes");
	for (size_t k = 0; k < ARRAY_SIZE(both); k++)
		for (size_t i = 0; i < both[k]->len; i++)
			json_str(j, NULL, both[k]->text[i]);
	json_end(j);
}

void json_rewind(struct rewind *r, struct json *j)
{
	static const char *const verdicts[] = { "not run", "confirmed",
						"confirmed but for skipped calls", "differs",
						"not runnable" };

	json_cause(r, j);
	json_begin_array(j, "other_causes");
	for (size_t i = 0; i < r->other_causes.len; i++) {
		json_begin_object(j, NULL);
		json_str(j, "kind", cause_kind_name(r->other_causes.data[i].kind));
		json_point(r, j, "at", r->other_causes.data[i].insn);
		json_str(j, "text", r->other_causes.data[i].text);
		json_end(j);
	}
	json_end(j);
	json_answers(r, j);
	json_exploit(r, j);
	json_bool(j, "live", r->live);
	json_begin_array(j, "suffixes");
	if (r->best) {
		json_begin_object(j, NULL);
		json_uint(j, "blocks", r->best->depth);
		json_uint(j, "instructions", r->best->insns);
		json_bool(j, "confirmed",
			  r->confirmed.verdict == CONFIRMED ||
				  r->confirmed.verdict == CONFIRMED_BUT_GAPS);
		json_str(j, "verdict", verdicts[r->confirmed.verdict]);
		json_bool(j, "up_to_call", r->at_call);
		json_str(j, "why", *r->confirmed.why ? r->confirmed.why : NULL);
		json_steps(r, j);
		json_end(j);
	}
	json_end(j);
	json_accesses(r, j, false);
	json_accesses(r, j, true);
	json_threads(r, j);
	json_uint(j, "alive", tree_alive(&r->tree));
	json_uint(j, "tried", r->tree.tried);
	json_uint(j, "contradicted", r->tree.refuted);
	json_uint(j, "questions", r->h.questions);
	json_uint(j, "lifted", code_lifted(r->code));
	json_records(r, j);
	json_notes(r, j);
	json_begin_object(j, "seconds");
	json_real(j, "walk", r->walk_seconds, 3);
	json_real(j, "run", r->confirm_seconds, 3);
	json_real(j, "step", r->step_seconds, 6);
	json_end(j);
}
