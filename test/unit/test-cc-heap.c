/* cc/driver/heap.c: blocks are as large as asked for, apart from each other, aligned, and used again. */
#include "base/mem.h"
#include "cc/driver/heap.h"

#include <criterion/criterion.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>

static const size_t sizes[] = { 0,    1,    15,	  16,	 17,	100,   1023,  1024,   1025,
				1280, 1281, 4096, 21000, 65400, 65472, 65473, 200000, 5000000 };

Test(cc_heap, blocks_hold_what_was_asked_for)
{
	enum { EACH = 6 };
	unsigned char *blocks[ARRAY_SIZE(sizes)][EACH];

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++)
		for (size_t k = 0; k < EACH; k++) {
			unsigned char *p = heap_alloc(sizes[i]);

			cr_assert_not_null(p);
			cr_assert_eq((uintptr_t)p % 16, 0);
			cr_assert_geq(heap_size(p), sizes[i]);
			memset(p, (int)(i * EACH + k), heap_size(p));
			blocks[i][k] = p;
		}
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++)
		for (size_t k = 0; k < EACH; k++) {
			const unsigned char *p = blocks[i][k];
			size_t n = heap_size(p);

			for (size_t at = 0; at < n; at += n > 4096 ? 997 : 1)
				cr_assert_eq(p[at], (unsigned char)(i * EACH + k));
			cr_assert_eq(p[n - 1], (unsigned char)(i * EACH + k));
		}
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++)
		for (size_t k = 0; k < EACH; k++)
			heap_free(blocks[i][k]);
}

Test(cc_heap, a_freed_block_is_the_next_of_its_class)
{
	void *p = heap_alloc(100), *q;

	heap_free(p);
	cr_expect_eq(heap_alloc(112), p, "both are 112 bytes long");
	q = heap_alloc(112);
	cr_expect_neq(q, p);
	heap_free(NULL);
}

Test(cc_heap, alignment)
{
	for (size_t a = 1; a <= 32768; a *= 2)
		for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
			char *p = heap_alloc_aligned(a, sizes[i]);

			cr_assert_not_null(p);
			cr_assert_eq((uintptr_t)p % a, 0, "%zu bytes at %zu", sizes[i], a);
			cr_assert_geq(heap_size(p), sizes[i]);
			memset(p, 1, sizes[i]);
			heap_free(p);
		}
	cr_expect_null(heap_alloc_aligned(65536, 1));
	cr_expect_null(heap_alloc_aligned(64, SIZE_MAX - 10));
}

Test(cc_heap, what_there_cannot_be)
{
	cr_expect_null(heap_alloc(SIZE_MAX));
	cr_expect_null(heap_alloc(SIZE_MAX - 4096));
	cr_expect_null(heap_alloc(SIZE_MAX - (1 << 21)));
	cr_expect_null(heap_alloc(SIZE_MAX / 2));
}

Test(cc_heap, resizing_keeps_the_contents)
{
	unsigned char *p = heap_resize(NULL, 10);

	for (unsigned i = 0; i < 10; i++)
		p[i] = (unsigned char)i;
	for (size_t size = 10; size < 20000000; size = size * 3 / 2) {
		p = heap_resize(p, size);
		cr_assert_not_null(p);
		p[size - 1] = 7;
		for (unsigned i = 0; i < 9; i++)
			cr_assert_eq(p[i], i);
	}
	p = heap_resize(p, 9);
	cr_expect_lt(heap_size(p), 100);
	for (unsigned i = 0; i < 9; i++)
		cr_assert_eq(p[i], i);
	cr_expect_null(heap_resize(p, SIZE_MAX));
	heap_free(p);
}

static void *free_and_take(void *arg)
{
	void **blocks = arg;

	for (int i = 0; i < 1000; i++)
		heap_free(blocks[i]);
	for (int i = 0; i < 1000; i++) {
		blocks[i] = heap_alloc(64);
		memset(blocks[i], i, 64);
	}
	return NULL;
}

Test(cc_heap, another_thread_may_free)
{
	void *blocks[1000];
	pthread_t t;

	for (int i = 0; i < 1000; i++)
		blocks[i] = heap_alloc(64);
	cr_assert_not(pthread_create(&t, NULL, free_and_take, blocks));
	for (int i = 0; i < 1000; i++)
		memset(heap_alloc(64), 255, 64);
	pthread_join(t, NULL);
	for (int i = 0; i < 1000; i++)
		cr_assert_eq(((unsigned char *)blocks[i])[63], (unsigned char)i);
}
