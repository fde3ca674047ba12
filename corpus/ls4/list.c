/* list.c - choose, sort, print. */
#include <stdio.h>
#include <string.h>

#include "ls.h"

enum { MOST = 64 };

#ifdef FIXED
#define PRESENT(p) ((p) != NULL)
#else
#define PRESENT(p) 1
#endif

/* A pattern is a name, perhaps with a star at its end. */
static const char *match(const char *pattern, const char *name)
{
	size_t n = strcspn(pattern, "*");

	if (strncmp(pattern, name, n))
		return NULL;
	return pattern[n] == '*' || !name[n] ? name + n : NULL;
}

static __attribute__((noinline)) char follow(const char *p)
{
	return *p; /* BUG:b */
}

static int is_hidden(const struct entry *e, const struct options *o)
{
	const char *ignored = o->ignore ? match(o->ignore, e->name) : NULL;
	const char *hidden = o->hide ? match(o->hide, e->name) : NULL;

	if (o->ignore && o->hide && PRESENT(ignored)) /* the fourth */
		return follow(ignored) != '\0' || hidden != NULL;
	return ignored || hidden;
}

static int group_order(const struct entry *a, const struct entry *b)
{
	if (!PRESENT(a->group) || !PRESENT(b->group))
		return 0;
	return follow(a->group) - follow(b->group); /* the second */
}

static int order(const struct entry *a, const struct entry *b, const struct options *o)
{
	switch (o->sort) {
	case SORT_TIME:
		return b->time - a->time;
	case SORT_SIZE:
		return b->size - a->size;
	case SORT_GROUP:
		return o->recursive ? group_order(a, b) : strcmp(a->name, b->name);
	default:
		return strcmp(a->name, b->name);
	}
}

static const char *color_of(enum type t)
{
	switch (t) {
	case T_DIR:
		return "\033[34m";
	case T_FILE:
		return "\033[0m";
	default:
		return NULL;
	}
}

static void print(const struct entry *e, const struct options *o)
{
	const char *color = color_of(e->type);

	if (o->color && o->classify && PRESENT(color) && follow(color)) /* the third */
		fputs(color, stdout);
	if (o->format_long)
		printf("%c %-6s %6d %4d ", "-dc"[e->type], e->owner, e->size, e->time);
	printf("%s%s%s", e->name, o->classify && e->type == T_DIR ? "/" : "",
	       o->one_per_line || o->format_long ? "\n" : "  ");
}

static void print_author(const struct entry *first)
{
	const char *owner = first ? first->owner : NULL;

	if (PRESENT(owner) && follow(owner)) /* BUG:a */
		printf("first author: %s\n", owner);
}

static void sort_entries(const struct entry **e, int n, const struct options *o)
{
	int i, k;

	for (i = 1; i < n; i++)
		for (k = i; k > 0 && order(e[k - 1], e[k], o) > 0; k--) {
			const struct entry *swap = e[k];

			e[k] = e[k - 1];
			e[k - 1] = swap;
		}
}

void list(const char *dir, const struct options *o)
{
	const struct entry *chosen[MOST];
	char path[128];
	int i, n = 0;

	for (i = 0; i < tree_size && n < MOST; i++)
		if (!strcmp(tree[i].dir, dir) && !is_hidden(&tree[i], o))
			chosen[n++] = &tree[i];
	sort_entries(chosen, n, o);
	if (o->format_long && o->author)
		print_author(n ? chosen[0] : NULL);
	for (i = 0; i < n; i++)
		print(chosen[i], o);
	putchar('\n');
	for (i = 0; o->recursive && i < n; i++)
		if (chosen[i]->type == T_DIR) {
			snprintf(path, sizeof(path), "%s/%s", strcmp(dir, "/") ? dir : "",
				 chosen[i]->name);
			list(path, o);
		}
}
