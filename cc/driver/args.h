/* cc/driver/args.h - a compiler command line, understood just well enough to split it.
 * Everything is kept in order, because order matters to linkers; nothing is interpreted that need
 * not be: an unknown option is simply handed to clang. */
#ifndef CC_DRIVER_ARGS_H
#define CC_DRIVER_ARGS_H

#include "base/vec.h"

#include <stdbool.h>

struct err;

enum arg_kind {
	ARG_OPTION,   /* for compiling and linking alike: clang drops what a step does not use */
	ARG_LINKER,   /* -Wl,... -Xlinker X -z X: for the link, in order with the inputs */
	ARG_LIBRARY,  /* -lX */
	ARG_SOURCE,   /* something to compile first */
	ARG_OBJECT,   /* an object, archive, shared library or linker script */
	ARG_LANGUAGE, /* -x L: only for the source steps */
};

struct arg {
	enum arg_kind kind;
	const char *words[2];
	int nwords;
	const char *language; /* of a source: the -x in force, or NULL */
};

struct arg_list VEC_FIELDS(struct arg);

enum args_mode {
	ARGS_PASS, /* nothing of ours: preprocess, syntax check, -S, questions to the compiler ...
		    */
	ARGS_COMPILE, /* -c */
	ARGS_LINK,
};

struct args {
	enum args_mode mode;
	int argc;
	char **argv; /* as it came; borrowed */
	struct arg_list list;
	const char *output;				 /* -o; NULL when not given */
	bool shared, is_static, relocatable, no_runtime; /* -nostdlib and relatives */
	bool no_lto, has_g, gc_sections, other_target;
	bool deps, dep_file, dep_target; /* -MD/-MMD, -MF, -MT/-MQ */
	bool sanitizer;			 /* -fsanitize=... */
	bool sanitizes_twice;		 /* ... one that clang applies twice to fat objects */
	const char *bad_sanitizer;	 /* one that cannot be combined with us */
	bool plain_too;			 /* --unplait-plain */
	bool no_cache;			 /* --unplait-no-cache */
	bool source_bitcode;		 /* --unplait-source-bitcode */
	const char *racing;		 /* --unplait-racing=; NULL */
	char opt_level;			 /* of the last -O: '0'..'3', 's'; 0 = none given */
	VEC(char *) owned;		 /* words from response files */
};

/* argv[1..argc) as a compiler gets it. */
struct err *args_parse(struct args *a, int argc, char **argv);
void args_deinit(struct args *a);
/* Of a source: the compiler only assembles it. */
bool args_is_assembly(const struct arg *source);
/* Is this word for us alone? */
bool args_are_ours(const char *word);

#endif
