#include "race/baseline.h"

#include "base/err.h"
#include "base/file.h"
#include "base/map.h"
#include "race/race.h"

#include <cjson/cJSON.h>

/* bucket -> the worst verdict that it had */
static struct err *read_known(const char *path, struct map *ret)
{
	_cleanup_(strbuf_deinit) struct strbuf text = { 0 };
	struct err *err = file_read(path, &text);
	cJSON *root = err ? NULL : cJSON_ParseWithLength(strbuf_str(&text), text.len);
	const cJSON *races = cJSON_GetObjectItem(root, "races"), *race;

	if (!err && !cJSON_IsArray(races))
		err = err_new(ERR_ENV, "not what `unplait races --json' writes");
	for (race = err ? NULL : races->child; race; race = race->next) {
		const char *bucket = cJSON_GetStringValue(cJSON_GetObjectItem(race, "bucket"));
		const char *name = cJSON_GetStringValue(cJSON_GetObjectItem(race, "verdict"));
		enum race_verdict v = name ? race_verdict_find(name) : RACE_SPEC_VIOLATED + 1;
		uint64_t *worst;

		if (!bucket || v > RACE_SPEC_VIOLATED)
			continue;
		worst = map_put(ret, hash_bytes(bucket, strlen(bucket), 0), v);
		*worst = MAX(*worst, (uint64_t)v);
	}
	cJSON_Delete(root);
	return err_wrap(err, "%s", path);
}

struct err *baseline_apply(const char *path, struct races_result *r)
{
	_cleanup_(map_deinit) struct map known = { 0 };
	struct err *err = read_known(path, &known);

	for (size_t i = 0; i < r->races.len && !err; i++) {
		struct race *race = &r->races.data[i];
		const uint64_t *worst =
			map_find(&known, hash_bytes(race->bucket, strlen(race->bucket), 0));

		race->known = worst && race->verdict <= *worst;
	}
	return err;
}
