/* base/printable.h - text of somebody else's, fit for a terminal.
 * Messages, commands, names and paths come from the program under test or from a file that a
 * stranger made. A terminal obeys what it prints: an escape sequence can hide lines or type for the
 * user. So such text goes through here before it is printed; JSON and HTML have their own way.
 *
 * Control characters (C0, DEL, C1), bytes that are no UTF-8, and marks that reverse the direction
 * of writing are shown as \n, \t, \x1b, \u202e. Everything else stays as it is. */
#ifndef BASE_PRINTABLE_H
#define BASE_PRINTABLE_H

#include <stdio.h>

struct strbuf;

/* `keep`: control characters that may stay, such as "\n\t"; "" for one line. */
void strbuf_add_printable(struct strbuf *out, const char *text, const char *keep);
/* One line, owned by the caller; NULL stays NULL. */
char *printable(const char *text);
/* A report of ours with somebody else's text in it: lines, tabs and our own colours stay. */
void strbuf_add_printable_report(struct strbuf *out, const char *report);
/* A word as a shell reads it back: quoted when it has to be. */
void strbuf_add_shell(struct strbuf *out, const char *word);
/* Print one line's text, without a newline. */
void printable_puts(const char *text, FILE *out);

#endif
