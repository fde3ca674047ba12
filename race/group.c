/* race/group.c - one race, many pairs of sites.
 *
 * A loop that was unrolled, a function that was inlined at several places, and the load and the
 * store of `n++` give many sites with the same source line. People think of them as one race: the
 * same element, and the same two lines. A site whose line the optimiser has dropped takes the line
 * of the nearest site of its function that has one, or that of the call it was inlined at. */
#include "race/study.h"

#include "base/err.h"
#include "debug/names.h"
#include "unplait/abi.h"

static uint64_t distance(const struct plait_site *a, const struct plait_site *b)
{
	return a->ir_instruction > b->ir_instruction ? a->ir_instruction - b->ir_instruction
						     : b->ir_instruction - a->ir_instruction;
}

/* The nearest site in the same function that has a line; else the line of the inlined call. */
static void find_line(struct code_point *p)
{
	const struct plait_site *near = NULL;

	if (p->line || !p->site || !p->sites)
		return;
	for (uint32_t i = 0; i < p->sites->header.nsites; i++) {
		const struct plait_site *c = &p->sites->sites[i];

		if (c->line && c->ir_function == p->site->ir_function &&
		    (!near || distance(c, p->site) < distance(near, p->site)))
			near = c;
	}
	if (near) {
		p->line = near->line;
	} else if (p->site->inlined_at_line) {
		p->line = p->site->inlined_at_line;
		p->file = sites_string(p->sites, p->site->inlined_at_file);
	}
}

static const char *element_of(const struct code_point *p)
{
	if (p->site && p->site->element < p->sites->header.nelements)
		return sites_string(p->sites, p->sites->elements[p->site->element].name);
	return "";
}

static struct race_side side_of(const struct code_point *p, const struct race_access *a)
{
	return (struct race_side){ .file = xstrdup(p->file),
				   .function = xstrdup(p->function),
				   .line = p->line,
				   .column = p->column,
				   .writes = a->is_write,
				   .atomic = a->is_atomic };
}

static int compare(const struct code_point *a, const struct code_point *b)
{
	int files = strcmp(a->file, b->file);

	return files ? files : (a->line > b->line) - (a->line < b->line);
}

/* What to call the object: the source's words for the access that writes, else the element. */
static const char *object_of(const struct code_point *a, const struct code_point *b)
{
	const char *element = *element_of(a) ? element_of(a) : element_of(b);

	return *a->object ? a->object : *b->object ? b->object : element;
}

static const char *freed_object(const struct code_point *user)
{
	return *user->object ? user->object : *element_of(user) ? element_of(user) : "freed memory";
}

static char *key_of(const struct code_point *a, const struct code_point *b, const char *object)
{
	const char *element = *element_of(a) ? element_of(a) : element_of(b);

	return xasprintf("%s|%s:%u|%s:%u", *element ? element : object, a->file, a->line, b->file,
			 b->line);
}

/* Lines move from build to build; what people call the places does not. */
static char *bucket_of(const struct code_point *a, const struct code_point *b, const char *object)
{
	return xasprintf("%s|%s:%s|%s:%s", object, a->file, a->function, b->file, b->function);
}

static struct group *make(struct study *s, const char *object, char *bucket)
{
	struct group *g = vec_add(&s->groups);

	memset(g, 0, sizeof(*g));
	g->race.id = (unsigned)s->groups.len;
	g->race.object = xstrdup(object);
	g->race.bucket = bucket;
	g->race.failing = -1;
	return g;
}

struct group *group_of(struct study *s, struct symbols *symbols, const struct race_access *first,
		       const struct race_access *second, bool *turned)
{
	uint64_t pair = hash_u64((uint64_t)first->site << 32 | second->site);
	const uint64_t *known = map_find(&s->by_sites, pair);
	struct code_point a, b;
	const char *object;
	struct group *g;
	uint64_t *id;
	char *key;

	if (known) {
		*turned = *known & 1;
		return &s->groups.data[*known >> 1];
	}
	symbols_site(symbols, first->site, &a);
	symbols_site(symbols, second->site, &b);
	find_line(&a);
	find_line(&b);
	*turned = compare(&a, &b) > 0;
	object = first->is_write ? object_of(&a, &b) : object_of(&b, &a);
	/* where memory is given back the source names the function, not the object */
	if (first->kind == PLAIT_EV_FREE || second->kind == PLAIT_EV_FREE)
		object = freed_object(first->kind == PLAIT_EV_FREE ? &b : &a);
	key = *turned ? key_of(&b, &a, object) : key_of(&a, &b, object);
	id = map_put(&s->by_key, hash_bytes(key, strlen(key), 0), s->groups.len);
	g = *id < s->groups.len
		    ? &s->groups.data[*id]
		    : make(s, object,
			   *turned ? bucket_of(&b, &a, object) : bucket_of(&a, &b, object));
	if (!g->race.side[0].file) {
		g->race.side[*turned] = side_of(&a, first);
		g->race.side[!*turned] = side_of(&b, second);
	}
	g->race.side[*turned].writes |= first->is_write;
	g->race.side[!*turned].writes |= second->is_write;
	map_put(&s->by_sites, pair, *id << 1 | *turned);
	free(key);
	return g;
}
