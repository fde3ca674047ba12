#include "base/demangle.h"

#include "base/mem.h"
#include "base/strbuf.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST_ARGUMENTS = 24 };

typedef char *(*demangler)(const char *, char *, size_t *, int *);

/* We are C; a C++ runtime is there whenever there are C++ names to read. */
static demangler find_demangler(void)
{
	static demangler found;
	static int looked;

	if (!looked) {
		void *cxx = dlopen("libstdc++.so.6", RTLD_LAZY);

		found = cxx ? (demangler)dlsym(cxx, "__cxa_demangle") : NULL;
		looked = 1;
	}
	return found;
}

/* The bracket that closes the one at p; NULL: none. */
static const char *closing(const char *p)
{
	int depth = 0;

	for (; *p; p++) {
		depth += *p == '<' ? 1 : *p == '>' ? -1 : 0;
		if (!depth)
			return p;
	}
	return NULL;
}

static bool is_operator(const char *start, const char *p)
{
	return p - start >= 8 && strncmp(p - 8, "operator", 8) == 0;
}

/* map<int, …>: nobody reads what std::map spells out. */
static char *shorten(const char *text)
{
	struct strbuf out = { 0 };

	for (const char *p = text; *p; p++) {
		const char *end = *p == '<' && !is_operator(text, p) ? closing(p) : NULL;

		if (!end || end - p <= LONGEST_ARGUMENTS) {
			strbuf_addc(&out, *p);
			continue;
		}
		strbuf_adds(&out, "<…>");
		p = end;
	}
	return strbuf_detach(&out);
}

char *demangle(const char *name)
{
	demangler f = strncmp(name, "_Z", 2) == 0 ? find_demangler() : NULL;
	char *text = f ? f(name, NULL, NULL, NULL) : NULL, *ret;

	if (!text)
		return xstrdup(name);
	ret = shorten(text);
	free(text);
	return ret;
}
