/* suite/read.h - private: JSON that another program wrote. */
#ifndef SUITE_READ_H
#define SUITE_READ_H

#include <cjson/cJSON.h>
#include <stdint.h>

struct err;

/* The caller frees *ret with cJSON_Delete. */
struct err *read_json(const char *path, cJSON **ret);
/* NULL when there is no such member. */
const cJSON *get(const cJSON *object, const char *key);
/* NULL when absent or no string. Borrowed. */
const char *get_text(const cJSON *object, const char *key);
/* 0 when absent or no number. */
uint64_t get_number(const cJSON *object, const char *key);

#endif
