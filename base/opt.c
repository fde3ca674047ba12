#include "base/opt.h"

#include "base/err.h"
#include "base/strbuf.h"
#include "base/words.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct opt *find_long(const struct opt *table, const char *name, size_t len)
{
	for (const struct opt *o = table; o->type != OPT_IS_END; o++)
		if (o->name && strlen(o->name) == len && strncmp(o->name, name, len) == 0)
			return o;
	return NULL;
}

static const struct opt *find_letter(const struct opt *table, char letter)
{
	for (const struct opt *o = table; o->type != OPT_IS_END; o++)
		if (o->letter == letter)
			return o;
	return NULL;
}

static struct err *bad_number(const struct opt *o, const char *text)
{
	return err_new(ERR_USAGE, "--%s needs a number%s, not '%s'", o->name,
		       o->type == OPT_IS_COUNT ? " from 1 on" : "", text);
}

static struct err *store(const struct opt *o, const char *text)
{
	char *end;

	errno = 0;
	switch (o->type) {
	case OPT_IS_FLAG:
		*(bool *)o->value = true;
		return NULL;
	case OPT_IS_U64:
	case OPT_IS_COUNT:
		*(uint64_t *)o->value = strtoull(text, &end, 0);
		if (errno || *end || end == text || strchr(text, '-') ||
		    (o->type == OPT_IS_COUNT && !*(uint64_t *)o->value))
			return bad_number(o, text);
		return NULL;
	case OPT_IS_REAL:
		*(double *)o->value = strtod(text, &end);
		if (errno || *end || end == text || !isfinite(*(double *)o->value) ||
		    *(double *)o->value < 0)
			return bad_number(o, text);
		return NULL;
	case OPT_IS_STR:
	case OPT_IS_OPTSTR:
		*(const char **)o->value = text;
		return NULL;
	case OPT_IS_LIST:
		vec_push((struct strings *)o->value, text);
		return NULL;
	case OPT_IS_END:
		break;
	}
	BUG("option of unknown type");
}

static bool takes_argument(const struct opt *o)
{
	return o->type != OPT_IS_FLAG && o->type != OPT_IS_OPTSTR;
}

static struct err *unknown_option(const struct opt *table, const char *name, size_t len)
{
	const struct opt *nearest = NULL;
	size_t least = MIN(len / 2 + 1, 4);

	for (const struct opt *o = table; o->type != OPT_IS_END; o++) {
		bool begins = len >= 3 && strncmp(o->name, name, len) == 0;
		size_t d = begins ? 0 : word_distance(name, len, o->name);

		if (d < least) {
			least = d;
			nearest = o;
		}
	}
	return nearest ? err_new(ERR_USAGE, "unknown option --%.*s; do you mean --%s?", (int)len,
				 name, nearest->name)
		       : err_new(ERR_USAGE, "unknown option --%.*s", (int)len, name);
}

/* argv[*i] is "--name" or "--name=value"; a separate value moves *i on. */
static struct err *parse_long(const struct opt *table, char **argv, int argc, int *i)
{
	const char *name = argv[*i] + 2;
	const char *equals = strchr(name, '=');
	size_t len = equals ? (size_t)(equals - name) : strlen(name);
	const struct opt *o = find_long(table, name, len);

	if (!o)
		return unknown_option(table, name, len);
	if (equals && o->type == OPT_IS_FLAG)
		return err_new(ERR_USAGE, "--%s takes no argument", o->name);
	if (equals)
		return store(o, equals + 1);
	if (!takes_argument(o))
		return store(o, "");
	if (*i + 1 >= argc)
		return err_new(ERR_USAGE, "--%s needs %s", o->name, o->arg);
	return store(o, argv[++*i]);
}

/* argv[*i] is "-abc" or "-nVALUE" or "-n VALUE". */
static struct err *parse_letters(const struct opt *table, char **argv, int argc, int *i)
{
	for (const char *p = argv[*i] + 1; *p; p++) {
		const struct opt *o = find_letter(table, *p);
		struct err *err;

		if (!o)
			return err_new(ERR_USAGE, "unknown option -%c", *p);
		if (takes_argument(o)) {
			if (p[1])
				return store(o, p + 1);
			if (*i + 1 >= argc)
				return err_new(ERR_USAGE, "-%c needs %s", *p, o->arg);
			return store(o, argv[++*i]);
		}
		err = store(o, "");
		if (err)
			return err;
	}
	return NULL;
}

static struct err *parse(const struct opt *table, int *argc, char ***argv, bool mixed)
{
	char **words = *argv;
	int n = *argc, kept = 0, i;

	for (i = 0; i < n; i++) {
		struct err *err;

		if (strcmp(words[i], "--") == 0) {
			i++;
			break;
		}
		if (words[i][0] != '-' || !words[i][1]) {
			if (!mixed)
				break;
			words[kept++] = words[i];
			continue;
		}
		err = words[i][1] == '-' ? parse_long(table, words, n, &i)
					 : parse_letters(table, words, n, &i);
		if (err)
			return err;
	}
	if (kept == 0) {
		*argv = words + i;
		*argc = n - i;
		return NULL;
	}
	for (; i < n; i++)
		words[kept++] = words[i];
	words[kept] = NULL;
	*argc = kept;
	return NULL;
}

struct err *opt_parse(const struct opt *table, int *argc, char ***argv)
{
	return parse(table, argc, argv, false);
}

struct err *opt_parse_mixed(const struct opt *table, int *argc, char ***argv)
{
	return parse(table, argc, argv, true);
}

static size_t describe(const struct opt *o, struct strbuf *out)
{
	size_t before = out->len;

	if (o->letter)
		strbuf_addf(out, "  -%c, --%s", o->letter, o->name);
	else
		strbuf_addf(out, "      --%s", o->name);
	if (o->type == OPT_IS_OPTSTR)
		strbuf_addf(out, "[=%s]", o->arg);
	else if (o->arg)
		strbuf_addf(out, " %s", o->arg);
	return out->len - before;
}

void opt_help(const struct opt *table, struct strbuf *out)
{
	for (const struct opt *o = table; o->type != OPT_IS_END; o++) {
		size_t width = describe(o, out);

		if (width < 30)
			strbuf_pad(out, ' ', 30 - width);
		else {
			strbuf_addc(out, '\n');
			strbuf_pad(out, ' ', 30);
		}
		strbuf_adds(out, o->help);
		strbuf_addc(out, '\n');
	}
}
