/* base/demangle.h - C++ names as their authors wrote them. */
#ifndef BASE_DEMANGLE_H
#define BASE_DEMANGLE_H

#include <stddef.h>

/* "ThreadPool::work()" for "_ZN10ThreadPool4workEv", long template arguments left out; a copy of
 * the name when it is no C++ name. Owned. */
char *demangle(const char *name);
/* What a function is called in its own scope: "work" for "_ZN10ThreadPool4workEv", "ThreadPool::work()" and
 * "work", and for copies such as "work.part.0". Compilers differ in how much of the rest they write down.
 * Owned. */
char *function_own_name(const char *name);
/* What to write behind a function's name in a sentence: "()", or "" if it has brackets already. */
const char *call_brackets(const char *function);

/* The name without long template arguments: "map<…>"; nobody reads what std::map spells out. */
struct strbuf;
void name_shorten(const char *name, size_t len, struct strbuf *out);

#endif
