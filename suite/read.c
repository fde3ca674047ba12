#include "suite/read.h"

#include "base/err.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/strbuf.h"

struct err *read_json(const char *path, cJSON **ret)
{
	_cleanup_(strbuf_deinit) struct strbuf text = { 0 };
	struct err *err = file_read(path, &text);

	if (err)
		return err;
	*ret = cJSON_ParseWithLength(strbuf_str(&text), text.len);
	return *ret ? NULL : err_new(ERR_ENV, "%s is not JSON", path);
}

const cJSON *get(const cJSON *object, const char *key)
{
	return cJSON_GetObjectItemCaseSensitive(object, key);
}

const char *get_text(const cJSON *object, const char *key)
{
	return cJSON_GetStringValue(get(object, key));
}

uint64_t get_number(const cJSON *object, const char *key)
{
	const cJSON *n = get(object, key);

	return cJSON_IsNumber(n) && n->valuedouble > 0 ? (uint64_t)n->valuedouble : 0;
}
