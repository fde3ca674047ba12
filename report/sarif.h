/* report/sarif.h - private: the parts of a SARIF 2.1.0 file, which code scanners read.
 *
 *	sarif_begin(j, rules);
 *	sarif_begin_result(j, "deadlock", "error", "two threads wait for each other");
 *	json_begin_array(j, "locations");
 *	sarif_location(j, NULL, &place);
 *	json_end(j);
 *	json_end(j);                    of the result
 *	sarif_end(j); */
#ifndef REPORT_SARIF_H
#define REPORT_SARIF_H

struct json;

/* rules: ids, NULL-terminated; may be NULL. */
void sarif_begin(struct json *j, const char *const *rules);
void sarif_end(struct json *j);
/* level: "error", "warning" or "note". */
void sarif_begin_result(struct json *j, const char *rule, const char *level, const char *message);

struct sarif_place {
	const char *path; /* of a source file, or of a module when nothing else is known */
	unsigned line;	  /* 0 = unknown */
	const char *function, *message; /* NULL = none */
};
void sarif_location(struct json *j, const char *key, const struct sarif_place *place);
/* The bucket: the same finding in another run has the same. */
void sarif_fingerprint(struct json *j, const char *bucket);

#endif
