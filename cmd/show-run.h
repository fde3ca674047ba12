/* cmd/show-run.h - how controlled runs look, for the commands that make them. */
#ifndef CMD_SHOW_RUN_H
#define CMD_SHOW_RUN_H

#include <stdbool.h>
#include <stdint.h>

struct err;
struct json;
struct places;
struct run_result;
struct strbuf;
struct target;

/* "deadlock: ..." with one line per waiting thread. */
/* How to see a saved failure again, in a form that a shell reads. */
void show_saved(const char *plait, struct strbuf *out);
void print_saved(const char *plait);
void show_outcome(const struct run_result *r, struct strbuf *out);
void show_uncontrolled(uint32_t uncontrolled, const char *note, struct strbuf *out);
/* What a failing run printed: its last lines, or with `all` everything that was kept. */
void show_output(const struct run_result *r, bool all, struct strbuf *out);
/* "function at file:line" per line, behind `indent`. */
void show_places(const struct places *p, const char *indent, struct strbuf *out);
/* The stack of the thread that failed. The plait says what the addresses mean; NULL: nothing is
 * shown. Deadlocks have show_blocked. */
void show_failure_stack(const struct run_result *r, const char *plait, struct strbuf *out);
/* plait: for "at" and "stack"; NULL leaves them out. */
void json_outcome(struct json *j, const char *key, const struct run_result *r, const char *plait);
/* --fail-on, --gate, --points; NULL = not given. */
/* What --timeouts says; NULL: nothing. */
#define TIMEOUTS_HELP "when waits give up: late (default), never or any (at any time)"
struct err *timeouts_option(const char *timeouts, uint32_t *ret);
struct err *run_options(const char *fail_on, const char *gate, const char *points,
			struct target *target, uint32_t *points_ret);

/* The words of --fail-on: `exit` counts every exit status other than 0, also in the first run; any
 * of assert, signal, deadlock, hang: only the kinds that are named count. */
struct err *fail_on_option(const char *words, bool *fail_on_exit, uint32_t *ignored);
#define FAIL_ON_HELP "exit: any status but 0 fails; or the only kinds: assert,signal,deadlock,hang"

/* Options of all commands that run a program and judge it: the same words, with the same meaning. */
#define OPT_JUDGE(target, fail_on)                                                                 \
	OPT_STR(0, "fail-on", "WHAT", fail_on, FAIL_ON_HELP),                                      \
		OPT_STR(0, "oracle", "CMD", &(target)->oracle,                                     \
			"run CMD after each run; status 0 is good"),                               \
		OPT_STR(0, "expect", "FILE", &(target)->expect, "standard output must equal FILE")
/* ... and of those that run it many times. */
#define OPT_MANY_RUNS(target, gate)                                                                \
	OPT_FLAG(0, "exec", &(target)->exec_each, "start the program anew for each run"),          \
		OPT_FLAG(0, "fresh", &(target)->fresh, "fork the program for each run"),           \
		OPT_STR(0, "gate", "G", gate, "how threads are switched: fiber or futex")

#endif
