/* The exception classes of the C++ library that carry a text, and the functions with which the
 * library throws them. An object is a pointer to its table of virtual functions and one to the
 * text; derived classes of the program call constructor and destructor of their base here. */
#include "../libc/model.h"

#include <stdlib.h>
#include <string.h>

struct error {
	void **table;
	char *text;
};

void *__cxa_allocate_exception(size_t n);
_Noreturn void __cxa_throw(void *e, void *type, void (*destroy)(void *));

static void init(struct error *e, void **table, const char *text)
{
	e->table = table;
	e->text = strdup(text);
}
static void destroy(struct error *e)
{
	free(e->text);
	e->text = NULL;
}
static void destroy_delete(struct error *e)
{
	destroy(e);
	free(e);
}
static const char *what(const struct error *e)
{
	return e->text;
}
static void *table[] = { (void *)destroy, (void *)destroy_delete, (void *)what };

/* std::exception itself has no text. */
void exception_end(void *e) __asm__("_ZNSt9exceptionD2Ev");
void exception_end(void *e)
{
	(void)e;
}
void exception_end1(void *e) __asm__("_ZNSt9exceptionD1Ev");
void exception_end1(void *e)
{
	(void)e;
}
void exception_delete(void *e) __asm__("_ZNSt9exceptionD0Ev");
void exception_delete(void *e)
{
	free(e);
}
const char *exception_what(const void *e) __asm__("_ZNKSt9exception4whatEv");
const char *exception_what(const void *e)
{
	(void)e;
	return "std::exception";
}

#define STRING "RKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE"
/* name: "13runtime_error"; id: for our own functions; end: the suffix of who throws it, or none */
#define ERROR(id, name)                                                                            \
	extern char id##_type[] __asm__("_ZTISt" name);                                            \
	void id##_1(struct error *e, const char *t) __asm__("_ZNSt" name "C1EPKc");                \
	void id##_1(struct error *e, const char *t)                                                \
	{                                                                                          \
		init(e, table, t);                                                                 \
	}                                                                                          \
	void id##_2(struct error *e, const char *t) __asm__("_ZNSt" name "C2EPKc");                \
	void id##_2(struct error *e, const char *t)                                                \
	{                                                                                          \
		init(e, table, t);                                                                 \
	}                                                                                          \
	void id##_s1(struct error *e, char **s) __asm__("_ZNSt" name "C1E" STRING);                \
	void id##_s1(struct error *e, char **s)                                                    \
	{                                                                                          \
		init(e, table, *s);                                                                \
	}                                                                                          \
	void id##_s2(struct error *e, char **s) __asm__("_ZNSt" name "C2E" STRING);                \
	void id##_s2(struct error *e, char **s)                                                    \
	{                                                                                          \
		init(e, table, *s);                                                                \
	}                                                                                          \
	void id##_end(struct error *e) __asm__("_ZNSt" name "D1Ev");                               \
	void id##_end(struct error *e)                                                             \
	{                                                                                          \
		destroy(e);                                                                        \
	}                                                                                          \
	void id##_end2(struct error *e) __asm__("_ZNSt" name "D2Ev");                              \
	void id##_end2(struct error *e)                                                            \
	{                                                                                          \
		destroy(e);                                                                        \
	}                                                                                          \
	void id##_delete(struct error *e) __asm__("_ZNSt" name "D0Ev");                            \
	void id##_delete(struct error *e)                                                          \
	{                                                                                          \
		destroy_delete(e);                                                                 \
	}                                                                                          \
	_Noreturn void id##_throw(const char *t) __asm__("sym_throw_" #id);                        \
	_Noreturn void id##_throw(const char *t)                                                   \
	{                                                                                          \
		struct error *e = __cxa_allocate_exception(sizeof(*e));                            \
                                                                                                   \
		init(e, table, t);                                                                 \
		__cxa_throw(e, id##_type, (void (*)(void *))destroy);                              \
	}

ERROR(runtime_error, "13runtime_error")
ERROR(logic_error, "11logic_error")
ERROR(out_of_range, "12out_of_range")
ERROR(length_error, "12length_error")
ERROR(invalid_argument, "16invalid_argument")

const char *runtime_what(const struct error *e) __asm__("_ZNKSt13runtime_error4whatEv");
const char *runtime_what(const struct error *e)
{
	return e->text;
}
const char *logic_what(const struct error *e) __asm__("_ZNKSt11logic_error4whatEv");
const char *logic_what(const struct error *e)
{
	return e->text;
}

/* How the library's own templates throw. */
_Noreturn void std_out_of_range(const char *t) __asm__("_ZSt20__throw_out_of_rangePKc");
_Noreturn void std_out_of_range(const char *t)
{
	out_of_range_throw(t);
}
_Noreturn void std_out_of_range_fmt(const char *t,
				    ...) __asm__("_ZSt24__throw_out_of_range_fmtPKcz");
_Noreturn void std_out_of_range_fmt(const char *t, ...)
{
	out_of_range_throw(t);
}
_Noreturn void std_length_error(const char *t) __asm__("_ZSt20__throw_length_errorPKc");
_Noreturn void std_length_error(const char *t)
{
	length_error_throw(t);
}
_Noreturn void std_logic_error(const char *t) __asm__("_ZSt19__throw_logic_errorPKc");
_Noreturn void std_logic_error(const char *t)
{
	logic_error_throw(t);
}
_Noreturn void std_invalid_argument(const char *t) __asm__("_ZSt24__throw_invalid_argumentPKc");
_Noreturn void std_invalid_argument(const char *t)
{
	invalid_argument_throw(t);
}
