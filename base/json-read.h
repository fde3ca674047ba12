/* base/json-read.h - members of a JSON object that somebody else may have written.
 * A member that is absent or has another type is 0 or NULL; so are numbers out of range. o may be NULL. */
#ifndef BASE_JSON_READ_H
#define BASE_JSON_READ_H

#include <stdint.h>

struct cJSON;

double json_get_real(const struct cJSON *o, const char *key);
uint64_t json_get_uint(const struct cJSON *o, const char *key); /* below 2^53 */
uint32_t json_get_uint32(const struct cJSON *o, const char *key);
int json_get_int(const struct cJSON *o, const char *key);
const char *json_get_text(const struct cJSON *o, const char *key); /* borrowed from o */
char *json_get_copy(const struct cJSON *o, const char *key);	   /* owned by the caller */
uint64_t json_get_hex(const struct cJSON *o, const char *key); /* a text of hexadecimal digits */
/* An array of texts, ended by NULL; the caller frees each and the array. */
char **json_get_words(const struct cJSON *o, const char *key);

#endif
