/* base/log.h - what goes to stderr: the error, notes, warnings, debug, progress. Text is made
 * printable (base/printable.h).
 * Results go to stdout and never through here. Each .c that logs debug lines defines
 * LOG_DOMAIN before including this. */
#ifndef BASE_LOG_H
#define BASE_LOG_H

#include <stdbool.h>
#include <stdint.h>

#ifndef LOG_DOMAIN
#define LOG_DOMAIN "main"
#endif

void log_set_level(int level);		 /* -1 quiet, 0 normal, 1 verbose */
void log_set_debug(const char *domains); /* "sym:2,trace" */

/* Shown unless --quiet. */
void log_note(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* Always shown: why the command ends. */
void log_error(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* Always shown, with "unplait: warning:" in front. */
void log_warn(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* Shown with --verbose. */
void log_verbose(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
bool log_debug_on(const char *domain, int level);
void log_debug_line(const char *domain, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
#define log_debug(level, ...)                                                                      \
	do {                                                                                       \
		if (log_debug_on(LOG_DOMAIN, level))                                               \
			log_debug_line(LOG_DOMAIN, __VA_ARGS__);                                   \
	} while (0)

/* A single line on stderr, rewritten in place, at most ten times a second, only on a terminal and
 * only after the work has taken a second. Call progress_done before printing anything else. */
void progress(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void progress_done(void);

/* Colours: "" unless colour is on. set: "auto" (terminal and no NO_COLOR), "always", "never". */
bool color_set(const char *when);
enum color {
	COLOR_OFF,
	COLOR_BOLD,
	COLOR_DIM,
	COLOR_RED,
	COLOR_GREEN,
	COLOR_YELLOW,
	COLOR_BLUE,
	COLOR_MAGENTA,
	COLOR_CYAN
};
const char *color(enum color c);

/* Monotonic seconds, for budgets and progress; never part of a result. */
double clock_seconds(void);
/* The processor time of this process so far: a budget that does not depend on what else runs. */
double work_seconds(void);

#endif
