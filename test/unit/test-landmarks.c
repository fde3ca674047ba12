/* Landmarks in the code of a binary: this one's own. */
#include "base/err.h"
#include "debug/landmarks.h"

#include <criterion/criterion.h>
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static __attribute__((noinline)) const char *callee(const char *name)
{
	const char *found = getenv(name);

	return found ? found : "a text that callee returns";
}

static __attribute__((noinline)) size_t caller(void)
{
	return strlen(callee(getenv("NO_SUCH_VARIABLE") ? "HOME" : "NO_SUCH_OTHER")) +
	       (size_t)getpagesize();
}

static uint64_t file_address(size_t (*f)(void))
{
	Dl_info info;

	return dladdr((void *)(uintptr_t)f, &info)
		       ? (uint64_t)(uintptr_t)f - (uint64_t)info.dli_fbase
		       : 0;
}

/* The number of landmarks of that kind and text in the function that begins at `in`; the last one in *ret. */
static unsigned count(const struct landmarks *l, uint64_t in, enum landmark_kind kind,
		      const char *text, const struct landmark **ret)
{
	unsigned n = 0;

	for (size_t i = 0; i < l->all.len; i++) {
		const struct landmark *m = &l->all.data[i];

		if (landmarks_function(l, m->address - 1) != in || m->kind != kind ||
		    (text && strcmp(m->text, text) != 0))
			continue;
		*ret = m;
		n++;
	}
	return n;
}

Test(landmarks, calls_and_texts_of_this_binary)
{
	const struct landmark *m = NULL;
	struct landmarks l;
	uint64_t in;

	cr_assert_eq(caller(), 26 + (size_t)getpagesize());
	cr_assert_null(landmarks_open("/proc/self/exe", &l));
	in = landmarks_function(&l, file_address(caller));
	cr_assert_eq(in, file_address(caller));
	cr_assert_eq(count(&l, in, LANDMARK_IMPORT, "getpagesize", &m), 1);
	if (!m->jump)
		cr_assert_eq(landmarks_call_before(&l, m->address), m);
	cr_assert_eq(count(&l, in, LANDMARK_TEXT, "NO_SUCH_VARIABLE", &m), 1);
	cr_assert_geq(count(&l, in, LANDMARK_CALL, NULL, &m), 1);
	for (size_t i = 0; i < l.all.len; i++) /* a call of callee leads to its texts */
		if (l.all.data[i].kind == LANDMARK_CALL &&
		    landmarks_function(&l, l.all.data[i].address - 1) == in &&
		    count(&l, l.all.data[i].target, LANDMARK_IMPORT, "getenv", &m) == 1)
			cr_assert_eq(count(&l, l.all.data[i].target, LANDMARK_TEXT,
					   "a text that callee returns", &m),
				     1);
	landmarks_close(&l);
}

Test(landmarks, no_binary)
{
	struct landmarks l;
	struct err *err = landmarks_open("/dev/null", &l);

	cr_assert(err);
	err_free(err);
	landmarks_close(&l);
}
