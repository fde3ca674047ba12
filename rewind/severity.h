/* rewind/severity.h - what other tools would call a crash: the rules of gdb's plugin `exploitable' and of CASR, applied to
 * a dump. Their names say what kind of instruction failed and how, not that somebody can make use of it. */
#ifndef REWIND_SEVERITY_H
#define REWIND_SEVERITY_H

struct rewind;

struct severity {
	const char *class; /* "EXPLOITABLE", ...; constants */
	const char *name;  /* "ReturnAv", ... */
};

void severity_of(struct rewind *r, struct severity *exploitable, struct severity *casr);

#endif
