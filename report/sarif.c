#include "report/sarif.h"

#include "base/json.h"
#include "report/escape.h"

static void put_text(struct json *j, const char *text)
{
	json_begin_object(j, "message");
	json_str(j, "text", text);
	json_end(j);
}

void sarif_begin(struct json *j, const char *const *rules)
{
	json_begin_object(j, NULL);
	json_str(j, "$schema", "https://json.schemastore.org/sarif-2.1.0.json");
	json_str(j, "version", "2.1.0");
	json_begin_array(j, "runs");
	json_begin_object(j, NULL);
	json_begin_object(j, "tool");
	json_begin_object(j, "driver");
	json_str(j, "name", "unplait");
	json_str(j, "version", UNPLAIT_VERSION);
	if (rules) {
		json_begin_array(j, "rules");
		for (; *rules; rules++) {
			json_begin_object(j, NULL);
			json_str(j, "id", *rules);
			json_end(j);
		}
		json_end(j);
	}
	json_end(j);
	json_end(j);
	json_begin_array(j, "results");
}

void sarif_end(struct json *j)
{
	json_end(j); /* results */
	json_end(j); /* the run */
	json_end(j); /* runs */
	json_end(j);
}

void sarif_begin_result(struct json *j, const char *rule, const char *level, const char *message)
{
	json_begin_object(j, NULL);
	json_str(j, "ruleId", rule);
	json_str(j, "level", level);
	put_text(j, message);
}

void sarif_location(struct json *j, const char *key, const struct sarif_place *p)
{
	struct strbuf uri = { 0 };

	escape_uri(&uri, p->path ? p->path : "unknown");
	json_begin_object(j, key);
	json_begin_object(j, "physicalLocation");
	json_begin_object(j, "artifactLocation");
	json_str(j, "uri", strbuf_str(&uri));
	json_end(j);
	if (p->line) {
		json_begin_object(j, "region");
		json_uint(j, "startLine", p->line);
		json_end(j);
	}
	json_end(j);
	if (p->function) {
		json_begin_array(j, "logicalLocations");
		json_begin_object(j, NULL);
		json_str(j, "fullyQualifiedName", p->function);
		json_end(j);
		json_end(j);
	}
	if (p->message)
		put_text(j, p->message);
	json_end(j);
	strbuf_deinit(&uri);
}

void sarif_fingerprint(struct json *j, const char *bucket)
{
	json_begin_object(j, "partialFingerprints");
	json_str(j, "unplaitBucket/v1", bucket);
	json_end(j);
}
