/* cmd/show-run.h - how controlled runs look, for the commands that make them. */
#ifndef CMD_SHOW_RUN_H
#define CMD_SHOW_RUN_H

#include <stdint.h>

struct err;
struct json;
struct run_result;
struct strbuf;
struct target;

/* "deadlock: ..." with one line per waiting thread. */
void show_outcome(const struct run_result *r, struct strbuf *out);
void show_uncontrolled(uint32_t uncontrolled, const char *note, struct strbuf *out);
void json_outcome(struct json *j, const char *key, const struct run_result *r);
/* --fail-on, --gate, --points; NULL = not given. */
struct err *run_options(const char *fail_on, const char *gate, const char *points,
			struct target *target, uint32_t *points_ret);

#endif
