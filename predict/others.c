/* predict/others.c - the same questions with inputs that nobody gave.
 *
 * What a recording has as its input is fixed in all questions about it. So other inputs are found first
 * (sym/inputs.h), each is recorded in a run that passes, and asked about like a given one. */
#include "predict/predict.h"

#include "base/err.h"
#include "base/interrupt.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/printable.h"
#include "base/strbuf.h"
#include "sym/inputs.h"

#include <stdlib.h>
#include <string.h>

enum { INPUTS_MOST = 24, RUNS_EACH = 2 };
#define DEFAULT_SECONDS 60

static bool has_found(const struct predict_result *r)
{
	return r->predictions.len || r->races.len || r->unconfirmed.len;
}

/* The command line, as a shell reads it. */
static char *describe(const struct made_input *in)
{
	struct strbuf out = { 0 };

	for (char **word = in->env; word && *word; word++) {
		strbuf_add_shell(&out, *word);
		strbuf_addc(&out, ' ');
	}
	for (char **word = in->args; *word; word++) {
		if (word != in->args)
			strbuf_addc(&out, ' ');
		strbuf_add_shell(&out, *word);
	}
	if (in->input)
		strbuf_addf(&out, "   with %zu bytes of standard input", in->input_len);
	return strbuf_detach(&out);
}

/* No run that passes, or none that can be followed, is no error here: the next input may do better. */
static bool ask(const struct predict_options *given, const struct made_input *in, double seconds,
		struct predict_result *ret)
{
	struct predict_options o = *given;
	struct predict *p = NULL;
	struct err *err;

	o.seconds = seconds;
	o.store = NULL;
	o.target = target_borrow(&given->target);
	o.target.argv = in->args;
	o.target.input = NULL;
	o.target.input_data = in->input;
	o.target.input_len = in->input_len;
	o.target.env = in->env;
	err = predict_open(&o, &p);
	if (!err)
		err = predict_record(p, RUNS_EACH);
	if (!err)
		err = predict_run(p, ret);
	predict_close(p);
	if (err)
		log_verbose("%s", err_message(err));
	err_free(err);
	return !err && has_found(ret);
}

struct err *predict_others(const struct predict_options *o, double began, struct predict_result *r)
{
	struct given_input given = { .args = o->target.argv,
				     .input = o->target.input_data,
				     .input_len = o->target.input_len,
				     .more = true };
	double end = began + (o->seconds > 0 ? o->seconds : DEFAULT_SECONDS);
	struct made_inputs all = { 0 };
	char *gap = NULL;
	struct err *err = has_found(r) ? NULL : made_inputs_find(&given, &all, &gap);

	for (size_t i = 0; i < all.len && i < INPUTS_MOST && !err && !interrupted(); i++) {
		double left = end - clock_seconds();
		struct predict_result other = { 0 };

		if (left <= 0)
			break;
		progress("other inputs: %zu of %zu", i + 1, MIN(all.len, (size_t)INPUTS_MOST));
		r->others++;
		if (ask(o, &all.data[i], MAX(left / 4, 1), &other)) {
			other.others = r->others;
			other.other_input = describe(&all.data[i]);
			predict_result_deinit(r);
			*r = other;
			break;
		}
		predict_result_deinit(&other);
	}
	progress_done();
	if (gap) {
		char *text = xasprintf("other inputs were looked for in part: %s", gap);

		names_intern(&r->gaps, text);
		free(text);
	}
	free(gap);
	made_inputs_deinit(&all);
	return err;
}
