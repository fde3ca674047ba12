/* predict/digest.h - private to predict/: what tells recordings apart, from their records alone. */
#ifndef PREDICT_DIGEST_H
#define PREDICT_DIGEST_H

#include "base/vec.h"

#include <stdint.h>

struct err;
struct strbuf;
struct trace;
struct trace_meta;
struct trace_module;

/* The program itself: the module whose sites come first. NULL: it was not built with `unplait cc`. */
const struct trace_module *predict_program(const struct trace_meta *meta);
/* Which program, arguments and input: runs with equal keys can be asked about together. Owned. */
struct err *predict_key(struct trace *t, char **ret);
/* Equal ones are of equal paths, wherever the heap, the stacks and the program were. */
struct err *predict_digest(struct trace *t, uint64_t *ret);
/* The recorded sides of branches, '0' or '1', per thread. The caller frees the array and its texts. */
struct err *predict_bits(struct trace *t, struct strbuf **ret);

/* The plaits in a folder, by name. */
struct predict_files VEC_FIELDS(char *);
struct err *predict_list(const char *folder, struct predict_files *ret);
void predict_files_deinit(struct predict_files *f);

#endif
