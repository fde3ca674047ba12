/* base/vec.h - a growable array of any type.
 *
 *	VEC(int) v = { 0 };
 *	vec_push(&v, 42);
 *	for (size_t i = 0; i < v.len; i++)
 *		use(v.data[i]);
 *	vec_deinit(&v);
 *
 * Zero-initialised is empty. For a named type: `struct ints VEC_FIELDS(int);`. */
#ifndef BASE_VEC_H
#define BASE_VEC_H

#include "base/mem.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define VEC_FIELDS(T)                                                                              \
	{                                                                                          \
		T *data;                                                                           \
		size_t len, cap;                                                                   \
	}
#define VEC(T) struct VEC_FIELDS(T)

/* Room for at least n elements in all. */
#define vec_reserve(v, n)                                                                          \
	do {                                                                                       \
		size_t vec_need_ = (n);                                                            \
		if (vec_need_ > (v)->cap) {                                                        \
			size_t vec_cap_ = (v)->cap ? (v)->cap * 2 : 8;                             \
			if (vec_cap_ < vec_need_)                                                  \
				vec_cap_ = vec_need_;                                              \
			(v)->data = xreallocarray((v)->data, vec_cap_, sizeof(*(v)->data));        \
			(v)->cap = vec_cap_;                                                       \
		}                                                                                  \
	} while (0)

#define vec_push(v, ...)                                                                           \
	do {                                                                                       \
		typeof(*(v)->data) vec_value_ = __VA_ARGS__;                                       \
		vec_reserve(v, (v)->len + 1);                                                      \
		(v)->data[(v)->len++] = vec_value_;                                                \
	} while (0)

/* Append one zeroed element and point at it; valid until the next growth. */
#define vec_add(v)                                                                                 \
	({                                                                                         \
		vec_reserve(v, (v)->len + 1);                                                      \
		memset(&(v)->data[(v)->len], 0, sizeof(*(v)->data));                               \
		&(v)->data[(v)->len++];                                                            \
	})

/* How many elements have a `field` of at most `key`, in a vector that is sorted by it. */
#define vec_upper(v, field, key)                                                                   \
	({                                                                                         \
		size_t vec_low_ = 0, vec_high_ = (v)->len;                                         \
		while (vec_low_ < vec_high_) {                                                     \
			size_t vec_mid_ = (vec_low_ + vec_high_) / 2;                              \
			if ((v)->data[vec_mid_].field <= (key))                                    \
				vec_low_ = vec_mid_ + 1;                                           \
			else                                                                       \
				vec_high_ = vec_mid_;                                              \
		}                                                                                  \
		vec_low_;                                                                          \
	})

#define vec_pop(v)   (assert((v)->len > 0), (v)->data[--(v)->len])
#define vec_last(v)  (assert((v)->len > 0), &(v)->data[(v)->len - 1])
#define vec_clear(v) ((void)((v)->len = 0))
#define vec_sort(v, cmp)                                                                           \
	do {                                                                                       \
		if ((v)->len)                                                                      \
			qsort((v)->data, (v)->len, sizeof(*(v)->data), cmp);                       \
	} while (0)
#define vec_deinit(v)                                                                              \
	do {                                                                                       \
		free((v)->data);                                                                   \
		(v)->data = NULL;                                                                  \
		(v)->len = (v)->cap = 0;                                                           \
	} while (0)

#endif
