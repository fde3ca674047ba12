/* base/json.h - write JSON, in the order you say it.
 *
 *	struct json j;
 *	json_init(&j);
 *	json_begin_object(&j, NULL);
 *	json_str(&j, "file", "main.c");
 *	json_end(&j);
 *	puts(strbuf_str(&j.out));
 *	json_deinit(&j);
 *
 * `key` is NULL for the top value and inside arrays. Reading JSON is cJSON's job. */
#ifndef BASE_JSON_H
#define BASE_JSON_H

#include "base/strbuf.h"

#include <stdbool.h>
#include <stdint.h>

struct json {
	struct strbuf out;
	unsigned depth;
	bool compact;	 /* no newlines: for logs and one-line records */
	bool need_comma; /* the current container already has a member */
	char kinds[64];	 /* '{' or '[' per level */
};

void json_init(struct json *j);
void json_deinit(struct json *j);
/* Append what was written to `out`; the same as json_deinit otherwise. */
void json_finish(struct json *j, struct strbuf *out);
void json_begin_object(struct json *j, const char *key);
/* The top object of everything that a command answers: begins with the version of its schema. */
void json_begin_answer(struct json *j);
void json_begin_array(struct json *j, const char *key);
void json_end(struct json *j); /* the innermost object or array */
void json_str(struct json *j, const char *key, const char *value); /* NULL becomes null */
void json_strn(struct json *j, const char *key, const char *value, size_t len);
void json_int(struct json *j, const char *key, int64_t value);
void json_uint(struct json *j, const char *key, uint64_t value);
void json_hex(struct json *j, const char *key, uint64_t value); /* "0x..." as a string */
void json_real(struct json *j, const char *key, double value, int digits);
void json_bool(struct json *j, const char *key, bool value);
void json_null(struct json *j, const char *key);

#endif
