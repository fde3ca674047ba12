/* race/reports.h - races that somebody else has seen: ThreadSanitizer, helgrind, a recording.
 *
 *	struct race_reports reports = { 0 };
 *	err = race_reports_read("tsan.log", &reports);
 *
 * A report is two places in the source. It knows nothing of our build: lines that no access of it
 * has are said so, one by one, and the rest goes on (race/directed.c). */
#ifndef RACE_REPORTS_H
#define RACE_REPORTS_H

#include "base/vec.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;

struct report_place {
	char *file; /* as the report has it; NULL = the report does not say */
	char *function;
	uint32_t line, column; /* 0 = unknown */
	uint32_t site;	       /* a site of the program, where the report has one; 0 = none */
	bool writes;
};

struct race_report {
	struct report_place place[2];
	char *object; /* "count"; NULL = unknown */
};

struct race_reports {
	struct race_report *data;
	size_t len, cap;
	const char *tool; /* who has seen them: "ThreadSanitizer" */
	size_t cut;	  /* reports that end in the middle */
	size_t nameless;  /* without a line on one of the sides */
	size_t repeated;  /* the same two lines again */
};
void report_deinit(struct race_report *r);
void race_reports_deinit(struct race_reports *r);

/* By what is in the file: a log of ThreadSanitizer, XML of helgrind or DRD, a plait, a std trace. */
struct err *race_reports_read(const char *path, struct race_reports *ret);

/* ---- the readers: text need not end with a newline; any bytes are fine ---- */

void reports_from_tsan(const char *text, size_t len, struct race_reports *ret);
void reports_from_helgrind(const char *text, size_t len, struct race_reports *ret);
/* thread|operation(operand)|location, as `unplait export --format std' writes it; a location is a
 * site number, or file:line. An error names the line that is none of that. */
struct err *reports_from_std(const char *text, size_t len, struct race_reports *ret);
/* A recorded run of the program itself. */
struct err *reports_from_plait(const char *path, struct race_reports *ret);

/* Takes the report's strings; one whose places are known already is counted and freed. */
void reports_take(struct race_reports *r, struct race_report *report);
/* Do two paths name the same file? "src/a.c" and "/home/u/src/a.c" do, and so do two files of the
 * same name in absolute folders: builds of one program lie in many. */
bool report_same_file(const char *a, const char *b);

#endif
