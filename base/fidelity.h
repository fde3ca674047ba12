/* base/fidelity.h - how much a reproduced failure helps its debugger (001 section 3.2.2).
 *
 *	DF, fidelity    (original + other / n) / (original + other + wrong)
 *	DE, efficiency  seconds of the original execution / seconds until it was reproduced
 *	DU, utility     DF * DE
 *
 * Section 4.7 of the text divides by 1 + n where its own definition gives n; we use the definition. */
#ifndef BASE_FIDELITY_H
#define BASE_FIDELITY_H

struct json;
struct strbuf;

struct fidelity {
	double df, de, du;
};

/* What was reproduced. */
struct executions {
	unsigned original; /* the failure, by the cause of the original execution */
	unsigned other;	   /* the failure, by another cause */
	unsigned wrong;	   /* not the failure */
	unsigned causes;   /* n: that the failure can have; 0 counts as 1 */
};

/* All 0 without executions; DE is 0 when `spent` is not known. */
struct fidelity fidelity_of(const struct executions *e, double original, double spent);
/* "DF 1.00, DE 0.0012, DU 0.0012" */
void fidelity_show(const struct fidelity *f, struct strbuf *out);
/* Members df, de, du of the open object. */
void fidelity_json(const struct fidelity *f, struct json *j);

#endif
