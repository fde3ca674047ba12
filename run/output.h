/* run/output.h - private to run/: what a program printed, and what that says about its failure. */
#ifndef RUN_OUTPUT_H
#define RUN_OUTPUT_H

#include <stdint.h>
#include <sys/types.h>

/* The end of a file, at most OUTPUT_MOST bytes, beginning with a whole line. "" when it is empty or
 * cannot be read. Owned. */
enum { OUTPUT_MOST = 64 << 10 };
char *output_read(int fd);
char *output_read_file(const char *path);

/* Copy what a file has from *at on to our standard error, and move *at on. */
void output_follow(int fd, off_t *at);

/* The line that tells most about a failure: a sanitizer's summary, an uncaught exception with its
 * type and text, the message of glibc's or GLib's abort, the name of a failed test, else the last
 * line. Standard error comes first. NULL when nothing was printed. Owned. Texts may be NULL. */
char *output_headline(const char *out, const char *errors);
/* ... only when it speaks of the failure itself: for a crash, whose last line may be about anything
 * else. */
char *output_report(const char *out, const char *errors);

/* A number for a headline that stays the same from run to run: times, addresses and values that
 * stand alone do not count; names, files and their lines do. */
uint64_t output_fingerprint(const char *headline);

#endif
