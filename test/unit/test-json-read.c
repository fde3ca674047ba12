/* Members of JSON objects that somebody else wrote (base/json-read.h). */
#include "base/json-read.h"

#include <cjson/cJSON.h>
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

Test(json_read, types)
{
	cJSON *o = cJSON_Parse(
		"{\"n\": 7, \"low\": -3, \"big\": 5000000000, \"huge\": 1e300, \"s\": \"ab\", "
		"\"x\": \"ff\", \"w\": [\"a\", 1, \"b\"], \"nil\": null}");
	char **words = json_get_words(o, "w"), *copy = json_get_copy(o, "s");

	cr_assert_eq(json_get_uint(o, "n"), 7);
	cr_assert_eq(json_get_uint(o, "low"), 0);
	cr_assert_eq(json_get_int(o, "low"), -3);
	cr_assert_eq(json_get_uint(o, "big"), 5000000000ull);
	cr_assert_eq(json_get_uint32(o, "big"), 0);
	cr_assert_eq(json_get_uint(o, "huge"), 0);
	cr_assert_eq(json_get_hex(o, "x"), 255);
	cr_assert_str_eq(json_get_text(o, "s"), "ab");
	cr_assert_str_eq(copy, "ab");
	cr_assert_null(json_get_text(o, "n"));
	cr_assert_null(json_get_copy(o, "nil"));
	cr_assert_null(json_get_text(o, "absent"));
	cr_assert_null(json_get_text(NULL, "s"));
	cr_assert_str_eq(words[0], "a");
	cr_assert_str_eq(words[1], "");
	cr_assert_str_eq(words[2], "b");
	cr_assert_null(words[3]);
	for (size_t i = 0; words[i]; i++)
		free(words[i]);
	free(words);
	free(copy);
	cJSON_Delete(o);
}
