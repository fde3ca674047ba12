#include "base/json.h"

#include "base/mem.h"
#include "base/utf8.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

void json_init(struct json *j)
{
	memset(j, 0, sizeof(*j));
}

void json_deinit(struct json *j)
{
	strbuf_deinit(&j->out);
}

void json_finish(struct json *j, struct strbuf *out)
{
	strbuf_add(out, j->out.data, j->out.len);
	json_deinit(j);
}

static void newline(struct json *j)
{
	if (j->compact)
		return;
	strbuf_addc(&j->out, '\n');
	strbuf_pad(&j->out, ' ', 2 * (size_t)j->depth);
}

static void quote(struct strbuf *out, const char *text, size_t len)
{
	const unsigned char *s = (const unsigned char *)text;

	strbuf_addc(out, '"');
	for (size_t i = 0; i < len;) {
		uint32_t c;
		size_t n = utf8_decode(s + i, len - i, &c);

		if (s[i] == '"' || s[i] == '\\')
			strbuf_addf(out, "\\%c", s[i]);
		else if (s[i] == '\n')
			strbuf_adds(out, "\\n");
		else if (s[i] == '\t')
			strbuf_adds(out, "\\t");
		else if (s[i] < 0x20)
			strbuf_addf(out, "\\u%04x", s[i]);
		else if (!n)
			strbuf_adds(out, "\\ufffd");
		else
			strbuf_add(out, s + i, n);
		i += n ? n : 1;
	}
	strbuf_addc(out, '"');
}

static void begin_value(struct json *j, const char *key)
{
	if (j->need_comma)
		strbuf_addc(&j->out, ',');
	if (j->depth)
		newline(j);
	if (key) {
		assert(j->depth && j->kinds[j->depth - 1] == '{');
		quote(&j->out, key, strlen(key));
		strbuf_adds(&j->out, j->compact ? ":" : ": ");
	}
	j->need_comma = true;
}

static void begin(struct json *j, const char *key, char kind)
{
	begin_value(j, key);
	assert(j->depth < sizeof(j->kinds));
	strbuf_addc(&j->out, kind);
	j->kinds[j->depth++] = kind;
	j->need_comma = false;
}

void json_begin_object(struct json *j, const char *key)
{
	begin(j, key, '{');
}

void json_begin_answer(struct json *j)
{
	json_begin_object(j, NULL);
	json_int(j, "unplait", 1);
}

void json_begin_array(struct json *j, const char *key)
{
	begin(j, key, '[');
}

void json_end(struct json *j)
{
	bool empty = !j->need_comma;

	assert(j->depth);
	j->depth--;
	if (!empty)
		newline(j);
	strbuf_addc(&j->out, j->kinds[j->depth] == '{' ? '}' : ']');
	j->need_comma = true;
	if (!j->depth && !j->compact)
		strbuf_addc(&j->out, '\n');
}

void json_strn(struct json *j, const char *key, const char *value, size_t len)
{
	begin_value(j, key);
	quote(&j->out, value, len);
}

void json_str(struct json *j, const char *key, const char *value)
{
	if (!value)
		json_null(j, key);
	else
		json_strn(j, key, value, strlen(value));
}

void json_int(struct json *j, const char *key, int64_t value)
{
	begin_value(j, key);
	strbuf_addf(&j->out, "%" PRId64, value);
}

void json_uint(struct json *j, const char *key, uint64_t value)
{
	begin_value(j, key);
	strbuf_addf(&j->out, "%" PRIu64, value);
}

void json_hex(struct json *j, const char *key, uint64_t value)
{
	begin_value(j, key);
	strbuf_addf(&j->out, "\"0x%" PRIx64 "\"", value);
}

void json_real(struct json *j, const char *key, double value, int digits)
{
	begin_value(j, key);
	if (isfinite(value))
		strbuf_addf(&j->out, "%.*f", digits, value);
	else
		strbuf_adds(&j->out, "null");
}

void json_bool(struct json *j, const char *key, bool value)
{
	begin_value(j, key);
	strbuf_adds(&j->out, value ? "true" : "false");
}

void json_null(struct json *j, const char *key)
{
	begin_value(j, key);
	strbuf_adds(&j->out, "null");
}
