/* base/fidelity.c - see fidelity.h. */
#include "base/fidelity.h"

#include "base/json.h"
#include "base/strbuf.h"

struct fidelity fidelity_of(const struct executions *e, double original, double spent)
{
	unsigned all = e->original + e->other + e->wrong;
	struct fidelity f = { 0 };

	if (!all)
		return f;
	f.df = (e->original + (double)e->other / (e->causes ? e->causes : 1)) / all;
	f.de = spent > 0 ? original / spent : 0;
	f.du = f.df * f.de;
	return f;
}

void fidelity_show(const struct fidelity *f, struct strbuf *out)
{
	strbuf_addf(out, "DF %.2f, DE %.4f, DU %.4f", f->df, f->de, f->du);
}

void fidelity_json(const struct fidelity *f, struct json *j)
{
	json_real(j, "df", f->df, 3);
	json_real(j, "de", f->de, 5);
	json_real(j, "du", f->du, 5);
}
