/* base/json-read.c - see json-read.h. */
#include "base/json-read.h"

#include "base/mem.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <stdlib.h>

double json_get_real(const cJSON *o, const char *key)
{
	const cJSON *item = cJSON_GetObjectItemCaseSensitive(o, key);

	return cJSON_IsNumber(item) && isfinite(item->valuedouble) ? item->valuedouble : 0;
}

uint64_t json_get_uint(const cJSON *o, const char *key)
{
	double d = json_get_real(o, key);

	return d >= 0 && d < 9007199254740992.0 ? (uint64_t)d : 0;
}

uint32_t json_get_uint32(const cJSON *o, const char *key)
{
	uint64_t v = json_get_uint(o, key);

	return v <= UINT32_MAX ? (uint32_t)v : 0;
}

int json_get_int(const cJSON *o, const char *key)
{
	double d = json_get_real(o, key);

	return d >= -2147483648.0 && d <= 2147483647.0 ? (int)d : 0;
}

const char *json_get_text(const cJSON *o, const char *key)
{
	const cJSON *item = cJSON_GetObjectItemCaseSensitive(o, key);

	return cJSON_IsString(item) ? item->valuestring : NULL;
}

char *json_get_copy(const cJSON *o, const char *key)
{
	const char *s = json_get_text(o, key);

	return s ? xstrdup(s) : NULL;
}

uint64_t json_get_hex(const cJSON *o, const char *key)
{
	const char *s = json_get_text(o, key);

	return s ? strtoull(s, NULL, 16) : 0;
}

char **json_get_words(const cJSON *o, const char *key)
{
	const cJSON *array = cJSON_GetObjectItemCaseSensitive(o, key), *item;
	size_t n = cJSON_IsArray(array) ? (size_t)cJSON_GetArraySize(array) : 0, i = 0;
	char **ret = xcalloc(n + 1, sizeof(*ret));

	if (n > 0)
		cJSON_ArrayForEach(item, array) ret[i++] =
			xstrdup(cJSON_IsString(item) ? item->valuestring : "");
	return ret;
}
