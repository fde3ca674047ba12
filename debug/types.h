/* debug/types.h - private: types as debug information has them, as far as an expression needs them. */
#ifndef DEBUG_TYPES_H
#define DEBUG_TYPES_H

#include "debug/module.h"

enum type_kind {
	TYPE_NUMBER, /* an integer, a character, a truth value, an enumeration */
	TYPE_POINTER,
	TYPE_ARRAY,
	TYPE_STRUCTURE, /* class and union, too */
	TYPE_OTHER,	/* floating point, functions, ... */
};

struct type {
	enum type_kind kind;
	uint64_t size; /* in bytes; 0 = unknown */
	bool is_unsigned;
	bool leads;	    /* the next is known: void * leads nowhere */
	bool of_array;	    /* ARRAY, and a pointer to the first element of one */
	uint32_t dimension; /* of an array: the first one that is left */
	Dwarf_Die die;	    /* STRUCTURE and array: itself; POINTER: what it leads to */
};

/* Names and qualifiers are passed through. */
struct type type_of_die(Dwarf_Die *die);
/* What a pointer or an array leads to; false: nothing that is known. */
bool type_target(const struct type *t, struct type *ret);
/* A member by its name, in base classes and unnamed members too. False: there is none.
 * *is_bits: it is a bit-field, of which only the name is known. */
bool type_member(const struct type *structure, const char *name, struct type *ret, uint64_t *at,
		 bool *is_bits);
/* A structure that is nothing but a number, as std::atomic<int> is: that number. */
bool type_inside(const struct type *structure, struct type *ret);

/* Every number and pointer of 1, 2, 4 or 8 bytes inside, `at` being where the whole lies. Left out: unions, of which
 * nobody knows which member is meant, bit-fields, and arrays of more than 16 elements. */
typedef void type_part_fn(void *arg, const struct type *part, uint64_t at);
void type_each_part(const struct type *t, uint64_t at, type_part_fn *fn, void *arg);

/* ---- locals.c ---- */

struct scope;
struct strbuf;

enum scope_found {
	SCOPE_NONE,    /* no variable has this name there */
	SCOPE_UNKNOWN, /* where it is cannot be told */
	SCOPE_FOUND,
};
/* A variable of a frame by its name, the innermost one. *is_place: *value is its address, else what it holds. */
enum scope_found scope_find(const struct scope *s, const char *name, struct type *type,
			    bool *is_place, uint64_t *value);
/* Append what is there, as C would write it. False: some of it is not known. */
bool scope_add_value(const struct scope *s, const struct type *t, bool is_place, uint64_t value,
		     struct strbuf *out);

/* ---- variables.c ---- */

/* Append which member or element lies at this offset: ".next", "[3].name". */
void type_add_path(Dwarf_Die *type, uint64_t offset, struct strbuf *out);
/* A variable with static storage by its name. Returns how many there are at different addresses. */
size_t module_variable(struct module *m, const char *name, uint64_t *offset, struct type *ret);

#endif
