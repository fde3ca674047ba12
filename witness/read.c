/* witness/read.c - a violation witness from YAML (libyaml).
 *
 * Of versions 2.0 to 2.2. Waypoints with the action `avoid` are left out: they say where an execution
 * does not come, and we look at one execution at a time. Constraints are left out, too: a run has the
 * values that it has. */
#include "witness/witness.h"

#include "base/err.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/strbuf.h"

#include <stdlib.h>
#include <string.h>
#include <yaml.h>

void witness_deinit(struct witness *w)
{
	for (size_t i = 0; i < w->waypoints.len; i++) {
		free(w->waypoints.data[i].file);
		free(w->waypoints.data[i].function);
	}
	vec_deinit(&w->waypoints);
	free(w->specification);
	w->specification = NULL;
}

/* The value of a key; NULL when it is not there, or this is no mapping. */
static yaml_node_t *find(yaml_document_t *d, const yaml_node_t *map, const char *key)
{
	if (!map || map->type != YAML_MAPPING_NODE)
		return NULL;
	for (yaml_node_pair_t *p = map->data.mapping.pairs.start; p < map->data.mapping.pairs.top;
	     p++) {
		yaml_node_t *k = yaml_document_get_node(d, p->key);

		if (k && k->type == YAML_SCALAR_NODE &&
		    strcmp((const char *)k->data.scalar.value, key) == 0)
			return yaml_document_get_node(d, p->value);
	}
	return NULL;
}

static const char *find_text(yaml_document_t *d, const yaml_node_t *map, const char *key)
{
	const yaml_node_t *n = find(d, map, key);

	return n && n->type == YAML_SCALAR_NODE ? (const char *)n->data.scalar.value : "";
}

/* none: what to return when it is not there, or is no number. */
static uint32_t find_number(yaml_document_t *d, const yaml_node_t *map, const char *key,
			    uint32_t none)
{
	const char *text = find_text(d, map, key);
	char *end;
	unsigned long n = strtoul(text, &end, 10);

	return *text < '0' || *text > '9' || *end || n >= PLAIT_ANY ? none : (uint32_t)n;
}

/* The n-th item of a sequence; NULL behind its end. */
static yaml_node_t *item(yaml_document_t *d, const yaml_node_t *sequence, size_t n)
{
	if (!sequence || sequence->type != YAML_SEQUENCE_NODE ||
	    sequence->data.sequence.items.start + n >= sequence->data.sequence.items.top)
		return NULL;
	return yaml_document_get_node(d, sequence->data.sequence.items.start[n]);
}

static struct err *add_waypoint(yaml_document_t *d, const yaml_node_t *n, struct witness *w)
{
	const yaml_node_t *at = find(d, n, "location");
	const char *type = find_text(d, n, "type"), *action = find_text(d, n, "action");
	struct waypoint p = { .thread = find_number(d, n, "thread_id", PLAIT_ANY),
			      .line = find_number(d, at, "line", 0),
			      .column = find_number(d, at, "column", 0) };

	if (strcmp(action, "follow") != 0)
		return NULL;
	if (!p.line)
		return err_new(ERR_ENV, "a waypoint of the witness has no line");
	p.type = strcmp(type, "target") == 0	       ? WAYPOINT_TARGET
		 : strcmp(type, "function_enter") == 0 ? WAYPOINT_CREATE
						       : WAYPOINT_PASS;
	p.file = xstrdup(find_text(d, at, "file_name"));
	p.function = xstrdup(find_text(d, at, "function"));
	vec_push(&w->waypoints, p);
	return NULL;
}

static struct err *add_segments(yaml_document_t *d, const yaml_node_t *content, struct witness *w)
{
	const yaml_node_t *segment, *n;
	struct err *err = NULL;

	for (size_t i = 0; !err && (segment = item(d, content, i)); i++)
		for (size_t k = 0; !err && (n = item(d, find(d, segment, "segment"), k)); k++)
			err = add_waypoint(d, find(d, n, "waypoint"), w);
	if (!err && !w->waypoints.len)
		err = err_new(ERR_ENV, "the witness has no waypoints");
	return err;
}

static struct err *take_entry(yaml_document_t *d, struct witness *w)
{
	const yaml_node_t *root = yaml_document_get_root_node(d), *entry;

	for (size_t i = 0; (entry = item(d, root, i)); i++) {
		const yaml_node_t *task = find(d, find(d, entry, "metadata"), "task");

		if (strcmp(find_text(d, entry, "entry_type"), "violation_sequence") != 0)
			continue;
		w->specification = xstrdup(find_text(d, task, "specification"));
		return add_segments(d, find(d, entry, "content"), w);
	}
	return err_new(ERR_ENV, "this YAML file has no entry of type violation_sequence");
}

struct err *witness_parse(const void *text, size_t len, struct witness *ret)
{
	yaml_parser_t parser;
	yaml_document_t d;
	struct err *err;

	*ret = (struct witness){ 0 };
	if (!yaml_parser_initialize(&parser))
		return err_new(ERR_ENV, "cannot read YAML");
	yaml_parser_set_input_string(&parser, text, len);
	if (!yaml_parser_load(&parser, &d)) {
		err = err_new(ERR_ENV, "line %zu: not YAML: %s", parser.problem_mark.line + 1,
			      parser.problem ? parser.problem : "?");
		yaml_parser_delete(&parser);
		return err;
	}
	err = take_entry(&d, ret);
	yaml_document_delete(&d);
	yaml_parser_delete(&parser);
	if (err)
		witness_deinit(ret);
	return err;
}

struct err *witness_read(const char *path, struct witness *ret)
{
	_cleanup_(strbuf_deinit) struct strbuf text = { 0 };
	struct err *err = file_read(path, &text);

	*ret = (struct witness){ 0 };
	if (!err)
		err = witness_parse(strbuf_str(&text), text.len, ret);
	return err_wrap(err, "%s", path);
}

bool witness_is(const char *path)
{
	const char *dot = strrchr(path, '.');

	return dot && (strcmp(dot, ".yml") == 0 || strcmp(dot, ".yaml") == 0);
}
