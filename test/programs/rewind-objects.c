/* Failures whose cause is about objects: who freed a block, what was written past its end, what nobody has written. The
 * first argument chooses one; the comments say what is to be found. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct hooks {
	void *(*allocate)(size_t);
	void (*release)(void *);
};
static struct hooks hooks = { malloc, free };

struct item {
	struct item *next, *prev;
	char *text;
	struct item *child;
};

static __attribute__((noinline)) struct item *new_item(const struct hooks *h)
{
	struct item *i = h->allocate(sizeof(*i));

	if (i)
		memset(i, 0, sizeof(*i)); /* never written: its prev is still 0 */
	return i;
}

static __attribute__((noinline)) char *copy_of(const char *text, const struct hooks *h)
{
	size_t n = strlen(text) + 1;
	char *s = h->allocate(n);

	return s ? memcpy(s, text, n) : NULL;
}

static __attribute__((noinline)) struct item *text_item(const char *text)
{
	struct item *i = new_item(&hooks);

	if (i)
		i->text = copy_of(text, &hooks);
	return i;
}

static __attribute__((noinline)) void append(struct item *list, struct item *i)
{
	struct item *last = list->child;

	if (!last) {
		list->child = i;
		return;
	}
	while (last->next)
		last = last->next;
	last->next = i;
	i->prev = last;
}

static __attribute__((noinline)) void detach(struct item *i)
{
	i->prev->next = i->next;
}

static int stray(void)
{
	struct item *list = new_item(&hooks);

	append(list, text_item("a"));
	append(list, text_item("b"));
	detach(text_item("c"));
	return list->child != NULL;
}

static __attribute__((noinline)) void drop(struct item *i)
{
	free(i); /* freed here */
}

static int freed(void)
{
	struct item *a = text_item("a"), *b = text_item("b");

	a->next = b;
	drop(b);
	return a->next->prev->text[0];
}

static int twice(void)
{
	struct item *a = text_item("a");

	drop(a);
	free(a); /* given again */
	return 0;
}

static int no_block(void)
{
	char *text = copy_of("  words", &hooks);

	while (*text == ' ')
		text++;
	free(text); /* no block */
	return 0;
}

static __attribute__((noinline)) int in_frame(const char *from)
{
	struct {
		long length;
		char name[16];
		struct item *next;
	} line = { 0, "", NULL };

	for (int i = 0; from[i]; i++)
		line.name[i] = from[i]; /* past the end of name */
	return line.next ? line.next->text[0] : 0;
}

static __attribute__((noinline)) void fill(int *to, int n)
{
	for (int i = 0; i < n; i++)
		to[i] = 0x41414141; /* past the end of a block */
}

static int on_heap(void)
{
	int *numbers = malloc(24);
	struct item *i = new_item(&hooks);

	i->next = i;
	fill(numbers, 12);
	return i->next->text != NULL;
}

static int too_long(const char *text)
{
	char *room = malloc(64);

	memcpy(room, text, strlen(text) - 100000); /* too long */
	return room[0];
}

static __attribute__((noinline)) int cell(const char *frame, int width, int x, int y)
{
	return frame[y * width + x];
}

static int far_index(int zoom)
{
	char *frame = calloc(37, 37);
	int row = 2 * zoom * 100000; /* the row */

	return cell(frame, 37, 1, row);
}

int main(int argc, char **argv)
{
	switch (argc > 1 ? argv[1][0] : 0) {
	case 's':
		return stray();
	case 'f':
		return freed();
	case 't':
		return twice();
	case 'n':
		return no_block();
	case 'l':
		return in_frame("a name that is too long for it");
	case 'h':
		return on_heap();
	case 'c':
		return too_long("short");
	case 'i':
		return far_index(argc + 1);
	}
	return 0;
}
