/* crumbs/format.h - can this format have printed that line? */
#ifndef CRUMBS_FORMAT_H
#define CRUMBS_FORMAT_H

/* A format of printf, or a plain text, as the program has it; a line of a log without its newline. Something else may
 * stand in front (time, level, name of the program), and behind it if the format does not end the line. Returns
 * how many characters of the format's own text the line has: 0 when it does not fit, or when the format has
 * fewer than three such letters or digits and fits anything. */
unsigned format_fits(const char *format, const char *line);
/* The same for a format one of whose strings (%s) is `text`, as a function that logs prints it: the characters of
 * both. */
unsigned format_fits_with(const char *format, const char *text, const char *line);

#endif
