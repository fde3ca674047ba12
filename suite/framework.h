/* suite/framework.h - private: test frameworks, and how each is asked for its tests. */
#ifndef SUITE_FRAMEWORK_H
#define SUITE_FRAMEWORK_H

#include "suite/suite.h"

struct framework {
	const char *name;
	/* Bytes that a program built with it has and others do not: names of its functions in the
	 * symbol table, or of its options. Any of them is enough. */
	const char *markers[4];
	const char *list[4];		 /* the arguments that make it list its tests */
	const char *list_environment[3]; /* ... or the variables */
	const char *environment[2];	 /* what every test needs to be under control */
	const char *unable;		 /* why its tests never can be; NULL */
	const char *failed; /* what it prints behind the place of a failure; NULL = not known */
	/* Names out of that list. */
	void (*parse)(char *text, struct words *ret);
	/* Add what makes the program run this test alone. */
	void (*select)(struct suite_test *t, const char *name);
	/* It runs tests in children, or may: how to prevent that. NULL = it does not. */
	const char *forks;
};

/* The framework a program was built with; NULL = none that we know. Looks at the file only. */
const struct framework *framework_of(const char *program);
/* The tests of one command, by asking its program. model: everything but the name. */
struct err *framework_list(const struct suite_test *model, struct words *ret);

/* suite/said.c: what was wrong and where, from what a failing test printed. False when nothing like
 * it is there. *message and *file are owned by the caller. */
bool framework_said(const struct framework *f, const char *text, char **message, char **file,
		    unsigned *line);

/* suite/folder.c: the tests of a build folder, from CTest or Meson. */
bool folder_has_tests(const char *folder);
struct err *folder_list(const char *folder, struct suite_tests *ret);

#endif
