#include "order/model/build-cells.h"

static int by_address(const void *a, const void *b)
{
	const struct byte_range *x = a, *y = b;

	return x->address < y->address ? -1 : x->address > y->address;
}

static int by_number(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* Cut the bytes of ranges [from, to), which hang together, at every edge one of them has. */
static void cut(const struct byte_range *ranges, size_t from, size_t to, struct pieces *ret)
{
	VEC(uint64_t) edges = { 0 };

	for (size_t i = from; i < to; i++) {
		vec_push(&edges, ranges[i].address);
		vec_push(&edges, ranges[i].address + ranges[i].bytes);
	}
	vec_sort(&edges, by_number);
	for (size_t i = 1; i < edges.len; i++)
		if (edges.data[i] != edges.data[i - 1])
			vec_push(ret, (struct piece){ .address = edges.data[i - 1],
						      .bytes = (uint32_t)(edges.data[i] -
									  edges.data[i - 1]),
						      .thread = UINT32_MAX });
	vec_deinit(&edges);
}

static void touch(struct pieces *p, const struct byte_range *r)
{
	struct piece *x = pieces_find(p, r->address), *end = p->data + p->len;

	for (; x < end && x->address < r->address + r->bytes; x++) {
		if (x->thread == UINT32_MAX)
			x->thread = r->thread;
		x->shared |= x->thread != r->thread;
		x->written |= r->writes;
	}
}

void pieces_make(struct byte_range *ranges, size_t n, struct pieces *ret)
{
	*ret = (struct pieces){ 0 };
	if (n)
		qsort(ranges, n, sizeof(*ranges), by_address);
	for (size_t from = 0, to; from < n; from = to) {
		uint64_t end = ranges[from].address + ranges[from].bytes;

		for (to = from + 1; to < n && ranges[to].address < end; to++)
			end = MAX(end, ranges[to].address + ranges[to].bytes);
		cut(ranges, from, to, ret);
	}
	for (size_t i = 0; i < n; i++)
		touch(ret, &ranges[i]);
}

struct piece *pieces_find(const struct pieces *p, uint64_t address)
{
	size_t low = 0, high = p->len;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (p->data[middle].address < address)
			low = middle + 1;
		else
			high = middle;
	}
	return p->data + low;
}
