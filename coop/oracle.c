/* coop/oracle.c - put a candidate to the test: a controlled run that obeys its vectors.
 *
 * The vectors leave choices: elements that no log recorded, vectors that gave way, and in mode
 * block the accesses within blocks. Seven of eight attempts search there, in turn with the two
 * strategies that find most; in the eighth the running thread goes on. No vector ends a run: one
 * that holds every thread back gives way, those of the base log last. How the run ends decides. */
#include "coop/program.h"

#include "base/err.h"
#include "base/strbuf.h"
#include "run/run.h"
#include "trace/trace.h"
#include "unplait/vectors.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Threads by name -> parent and ordinal; every ancestor gets a number too. */
struct name_table {
	VEC(struct plait_vectors_name) names;
	struct names text;
};

static uint32_t name_number(struct name_table *n, const char *name)
{
	uint32_t id = names_find(&n->text, name), parent;
	const char *dot = strrchr(name, '.');
	_cleanup_(xfreep) char *rest = NULL;

	if (id != NAMES_NONE)
		return id;
	if (!dot) { /* "0" */
		id = names_intern(&n->text, name);
		vec_push(&n->names, (struct plait_vectors_name){ 0, 0 });
		return id;
	}
	rest = xstrndup(name, (size_t)(dot - name));
	parent = name_number(n, rest);
	id = names_intern(&n->text, name);
	vec_push(&n->names,
		 (struct plait_vectors_name){ parent, (uint32_t)strtoul(dot + 1, NULL, 10) });
	return id;
}

static void put(struct strbuf *out, const void *data, size_t len)
{
	if (len)
		strbuf_add(out, data, len);
}

/* struct plait_vectors_request and its arrays. */
static void write_request(const struct coop *c, const struct coop_program *p,
			  const struct coop_candidate *x, struct strbuf *out)
{
	struct plait_vectors_request h = { .nelements = (uint32_t)x->n };
	struct name_table names = { 0 };
	VEC(struct plait_vectors_element) elements = { 0 };
	VEC(struct plait_vectors_site) sites = { 0 };
	VEC(struct plait_vectors_run) runs = { 0 };

	name_number(&names, "0");
	for (size_t i = 0; i < x->n; i++) {
		const struct coop_vector *v = &c->vectors.data[x->choices[i].vector];
		uint32_t id = c->elements.data[x->choices[i].element].id;
		uint32_t k = coop_program_find(p, id), strength = x->choices[i].strength;

		if (strength == COOP_HARD)
			strength = PLAIT_VECTORS_HARD - 1;
		vec_push(&elements, (struct plait_vectors_element){ id, strength,
								    (uint32_t)runs.len, v->nruns });
		for (uint32_t r = 0; r < v->nruns; r++)
			vec_push(&runs,
				 (struct plait_vectors_run){
					 name_number(&names, c->threads.text[v->runs[r].thread]),
					 v->runs[r].count });
		for (uint32_t s = 0; k != COOP_NONE && s < p->nsites; s++)
			if (p->of_site[s] == k)
				vec_push(&sites, (struct plait_vectors_site){ s, (uint32_t)i });
	}
	h.nnames = (uint32_t)names.names.len;
	h.nsites = (uint32_t)sites.len;
	h.nruns = (uint32_t)runs.len;
	put(out, &h, sizeof(h));
	put(out, names.names.data, names.names.len * sizeof(*names.names.data));
	put(out, elements.data, elements.len * sizeof(*elements.data));
	put(out, sites.data, sites.len * sizeof(*sites.data));
	put(out, runs.data, runs.len * sizeof(*runs.data));
	vec_deinit(&names.names);
	names_deinit(&names.text);
	vec_deinit(&elements);
	vec_deinit(&sites);
	vec_deinit(&runs);
}

static char *signature_of(const struct coop_replay *r)
{
	const struct plait_failure *f = &r->result->failure;
	struct trace_outcome o = { .kind = r->result->outcome,
				   .signal = r->result->signal,
				   .exit_code = r->result->exit_code,
				   .message = f->text[0] ? (char *)f->text : NULL,
				   .nframes = MIN(f->nframes, PLAIT_MAX_FRAMES) };

	memcpy(o.frames, f->frames, sizeof(o.frames));
	return coop_signature(&o, r->program->path,
			      session_process(r->session)->modules[0].load_address);
}

struct err *coop_replay_oracle(void *context, const struct coop_candidate *c, uint64_t seed,
			       enum coop_verdict *ret)
{
	struct coop_replay *r = context;
	_cleanup_(xfreep) char *signature = NULL;
	struct strbuf vectors = { 0 };
	struct run_request req = {
		.strategy = PLAIT_STRATEGY_STAY,
		.points = PLAIT_POINTS_SYNC,
		.seed = seed,
	};
	struct err *err;

	if (c->open || seed % 8 != 7) {
		req.strategy = seed / 2 % 2 ? PLAIT_STRATEGY_PCT : PLAIT_STRATEGY_POS;
		req.points = PLAIT_POINTS_ALL;
		req.depth = 3;
		req.length = r->result->points ? r->result->points : 1000;
	}

	write_request(r->coop, r->program, c, &vectors);
	req.vectors = vectors.data;
	req.vectors_len = vectors.len;
	err = session_run(r->session, &req, r->result);
	strbuf_deinit(&vectors);
	if (err)
		return err;
	r->dropped = r->result->vectors_dropped;
	signature = signature_of(r);
	if (run_failed(r->result) && signature &&
	    strcmp(signature, r->coop->signatures.text[r->coop->signature]) == 0)
		*ret = COOP_REPRODUCED;
	else if (r->result->end == PLAIT_END_INFEASIBLE || r->dropped)
		*ret = COOP_INFEASIBLE;
	else
		*ret = COOP_OTHER_END;
	return NULL;
}
