/* cc/analyse/cxx.c - what the C++ library does behind its headers, for the points-to analysis.
 *
 * Most of libstdc++ is templates, which we see as code. The rest would be code outside, and
 * whatever it is handed would become one heap of everything: all that a std::thread gets, every
 * object with a std::map, a std::list, a condition variable or a std::string in it. So:
 *
 * - std::thread's constructor makes a state with a virtual table and hands it to _M_start_thread:
 *   the new thread calls the table's third function, then the second (the deleting destructor).
 * - Trees and lists link nodes that begin with two or three pointers to nodes. One class of "a node
 *   seen as links" per call; what is linked may also be one of it, by directed edges, so that the
 *   container and its nodes stay apart.
 * - A string's first word points to its characters: fresh memory, or its own bytes from 16 on. */
#include "cc/analyse/cxx.h"

#include "cc/analyse/nodes.h"
#include "cc/program.h"
#include "cc/analyse/summaries.h"

#include <string.h>

#define STRING_INSIDE 16 /* short strings live there */

static struct cell at(struct cell c, int32_t off)
{
	return (struct cell){ c.node, c.off + off };
}

static bool is_pointer(LLVMValueRef v)
{
	return LLVMGetTypeKind(LLVMTypeOf(v)) == LLVMPointerTypeKind;
}

/* Nobody writes it, and its functions are the library's. The state of a std::thread has one while
 * it is being made: its functions do nothing. */
void cxx_virtual_table(struct pointsto *pt, struct cell c, const char *name)
{
	node_collapse(pt, c.node);
	if (strcmp(name, "_ZTVNSt6thread6_StateE") != 0)
		node_add_unknown(pt, node_link(pt, c).node);
}

/* (this, unique_ptr<State> *, a function that is never called) */
static void bind_start(struct pointsto *pt, LLVMValueRef call)
{
	struct cell state = node_link(pt, pointsto_cell(pt, LLVMGetOperand(call, 1)));
	struct cell table = node_link(pt, state);

	if (!table.node)
		return;
	for (int32_t k = 1; k <= 2; k++)
		vec_push(&pt->creations,
			 (struct creation){ call, node_link(pt, at(table, 8 * k)), state, 0 });
}

/* All pointers it gets are nodes whose links, words first to last, lead to such nodes. */
static void bind_links(struct pointsto *pt, LLVMValueRef call, int32_t first, int32_t last)
{
	struct cell any = node_new(pt, 0, NULL);

	for (int32_t k = first; k <= last; k++)
		node_unify(pt, node_link(pt, at(any, 8 * k)), any);
	for (unsigned i = 0; i < LLVMGetNumArgOperands(call); i++)
		if (is_pointer(LLVMGetOperand(call, i)))
			node_add_edge(pt, pointsto_cell(pt, LLVMGetOperand(call, i)), any);
	if (is_pointer(call))
		node_add_edge(pt, any, pointsto_cell(pt, call));
}

/* A reference to a character, or a pointer; the other members return *this. */
static bool gives_character(const char *name)
{
	static const char *const members[] = { "EE2at",	   "EEix",   "EE5front", "EE4back",
					       "EE5begin", "EE3end", "EE4data",	 "EE5c_str" };

	for (size_t i = 0; i < ARRAY_SIZE(members); i++)
		if (strstr(name, members[i]))
			return true;
	return false;
}

static void bind_string(struct pointsto *pt, LLVMValueRef call, const char *name)
{
	struct cell self = pointsto_cell(pt, LLVMGetOperand(call, 0)), chars, other, fresh;

	if (!self.node)
		return;
	chars = node_link(pt, self);
	fresh = node_new(pt, NODE_HEAP, call);
	node_add_edge(pt, fresh, chars);
	node_add_edge(pt, at(self, STRING_INSIDE), chars);
	if (is_pointer(call))
		node_add_edge(pt,
			      strstr(name, "_M_create") ? fresh
			      : gives_character(name)	? chars
							: self,
			      pointsto_cell(pt, call));
	/* swapped, or moved from another string */
	if (LLVMGetNumArgOperands(call) < 2 || !is_pointer(LLVMGetOperand(call, 1)) ||
	    (!strstr(name, "OS4_") && !strstr(name, "swap")))
		return;
	other = pointsto_cell(pt, LLVMGetOperand(call, 1));
	if (other.node) {
		node_add_edge(pt, node_link(pt, other), chars);
		node_add_edge(pt, chars, node_link(pt, other));
	}
}

struct cell cxx_beyond(struct pointsto *pt, const struct summary *s, LLVMValueRef arg,
		       uint64_t *size)
{
	struct cell c = pointsto_cell(pt, arg);

	switch (s->special) {
	case SPECIAL_STRING:
		*size = 0;
		return node_link(pt, c);
	case SPECIAL_TOKEN: /* the text that was given in an earlier call */
		*size = 0;
		return node_find_link(pt, c);
	case SPECIAL_TREE:
		*size = 32;
		return node_link(pt, at(c, 8));
	case SPECIAL_LIST:
		*size = 16;
		return node_link(pt, c);
	default:
		return NOWHERE;
	}
}

void cxx_bind(struct pointsto *pt, LLVMValueRef call, const struct summary *s)
{
	switch (s->special) {
	case SPECIAL_START:
		bind_start(pt, call);
		break;
	case SPECIAL_TREE: /* colour, parent, left, right */
		bind_links(pt, call, 1, 3);
		break;
	case SPECIAL_LIST: /* next, previous */
		bind_links(pt, call, 0, 1);
		break;
	case SPECIAL_STRING:
		bind_string(pt, call, value_name(LLVMGetCalledValue(call)));
		break;
	default:
		break;
	}
}
