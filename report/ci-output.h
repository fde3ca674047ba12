/* report/ci-output.h - a hunt's result in the formats that CI systems read. */
#ifndef REPORT_CI_OUTPUT_H
#define REPORT_CI_OUTPUT_H

struct err;
struct hunt_options;
struct hunt_result;

struct err *write_junit(const char *path, const struct hunt_options *o,
			const struct hunt_result *r);
struct err *write_sarif(const char *path, const struct hunt_options *o,
			const struct hunt_result *r);

#endif
