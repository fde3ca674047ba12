/* cmd/show-predict.h - what `unplait predict` prints: its answer for people, and as JSON. */
#ifndef CMD_SHOW_PREDICT_H
#define CMD_SHOW_PREDICT_H

#include <stdbool.h>

struct explanation;
struct json;
struct predict_result;
struct strbuf;

/* why: the explanation of each prediction; NULL for one that was not explained. published: also tell the steps
 * of the paper's search. */
void show_predict(const struct predict_result *r, struct explanation *const *why, bool published,
		  struct strbuf *out);
void json_predict(const struct predict_result *r, struct explanation *const *why, bool published,
		  struct json *j);

#endif
