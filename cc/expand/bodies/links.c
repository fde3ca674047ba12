/* cc/expand/bodies/links.c - nodes of std::map, std::set and std::list, which libstdc++ links by
 * functions of its own.
 *
 * A red-black tree hangs on a header: its parent is the root, its left the first node, its right
 * the last. A list is a ring. */
#include "cc/expand/bodies/body.h"

#include <stdbool.h>

enum colour { RED, BLACK };

struct tree {
	int colour;
	struct tree *parent, *left, *right;
};

/* `y`, a child of `x`, takes its place below `parent`, or at the root. */
INSIDE void take_place(struct tree *x, struct tree *y, struct tree *header)
{
	struct tree *parent = x->parent;

	y->parent = parent;
	if (x == header->parent)
		header->parent = y;
	else if (x == parent->left)
		parent->left = y;
	else
		parent->right = y;
}

INSIDE void rotate_left(struct tree *x, struct tree *header)
{
	struct tree *y = x->right, *inner = y->left;

	x->right = inner;
	if (inner)
		inner->parent = x;
	take_place(x, y, header);
	y->left = x;
	x->parent = y;
}

INSIDE void rotate_right(struct tree *x, struct tree *header)
{
	struct tree *y = x->left, *inner = y->right;

	x->left = inner;
	if (inner)
		inner->parent = x;
	take_place(x, y, header);
	y->right = x;
	x->parent = y;
}

BODY void body__ZSt29_Rb_tree_insert_and_rebalancebPSt18_Rb_tree_node_baseS0_RS_(
	bool left, struct tree *x, struct tree *p, struct tree *header)
{
	x->parent = p;
	x->left = NULL;
	x->right = NULL;
	x->colour = RED;
	if (left) {
		p->left = x; /* of an empty tree: the header's first */
		if (p == header) {
			header->parent = x;
			header->right = x;
		} else if (p == header->left) {
			header->left = x;
		}
	} else {
		p->right = x;
		if (p == header->right)
			header->right = x;
	}
	while (x != header->parent && x->parent->colour == RED) {
		struct tree *parent = x->parent, *above = parent->parent;
		bool on_left = parent == above->left;
		struct tree *uncle = on_left ? above->right : above->left;

		if (uncle && uncle->colour == RED) {
			parent->colour = BLACK;
			uncle->colour = BLACK;
			above->colour = RED;
			x = above;
		} else if (on_left) {
			if (x == parent->right) {
				x = parent;
				rotate_left(x, header);
			}
			x->parent->colour = BLACK;
			above->colour = RED;
			rotate_right(above, header);
		} else {
			if (x == parent->left) {
				x = parent;
				rotate_right(x, header);
			}
			x->parent->colour = BLACK;
			above->colour = RED;
			rotate_left(above, header);
		}
	}
	header->parent->colour = BLACK;
}

INSIDE struct tree *lowest(struct tree *x)
{
	struct tree *next;

	while ((next = x->left))
		x = next;
	return x;
}

INSIDE struct tree *highest(struct tree *x)
{
	struct tree *next;

	while ((next = x->right))
		x = next;
	return x;
}

INSIDE int is_black(const struct tree *x)
{
	return !x || x->colour == BLACK;
}

/* `x` (or nothing) lacks a black node on its way down from `parent`. */
INSIDE void rebalance(struct tree *x, struct tree *parent, struct tree *header)
{
	while (x != header->parent && is_black(x)) {
		bool on_left = x == parent->left;
		struct tree *w = on_left ? parent->right : parent->left;
		struct tree *outer, *inner;

		if (w->colour == RED) {
			w->colour = BLACK;
			parent->colour = RED;
			if (on_left) {
				rotate_left(parent, header);
				w = parent->right;
			} else {
				rotate_right(parent, header);
				w = parent->left;
			}
		}
		inner = on_left ? w->left : w->right;
		outer = on_left ? w->right : w->left;
		if (is_black(inner) && is_black(outer)) {
			w->colour = RED;
			x = parent;
			parent = parent->parent;
			continue;
		}
		if (is_black(outer)) {
			inner->colour = BLACK;
			w->colour = RED;
			if (on_left) {
				rotate_right(w, header);
				w = parent->right;
			} else {
				rotate_left(w, header);
				w = parent->left;
			}
		}
		w->colour = parent->colour;
		parent->colour = BLACK;
		outer = on_left ? w->right : w->left;
		if (outer)
			outer->colour = BLACK;
		if (on_left)
			rotate_left(parent, header);
		else
			rotate_right(parent, header);
		break;
	}
	if (x)
		x->colour = BLACK;
}

BODY struct tree *
body__ZSt28_Rb_tree_rebalance_for_erasePSt18_Rb_tree_node_baseRS_(struct tree *z,
								  struct tree *header)
{
	struct tree *left = z->left, *right = z->right, *y = z, *x, *x_parent;
	int gone = z->colour;

	if (left && right) { /* the next node takes z's place */
		y = lowest(right);
		x = y->right;
		gone = y->colour;
		left->parent = y;
		y->left = left;
		if (y != right) {
			x_parent = y->parent;
			if (x)
				x->parent = x_parent;
			x_parent->left = x;
			y->right = right;
			right->parent = y;
		} else {
			x_parent = y;
		}
		take_place(z, y, header);
		y->colour = z->colour;
		z->colour = gone;
	} else {
		x = left ? left : right;
		x_parent = z->parent;
		if (x)
			x->parent = x_parent;
		if (header->parent == z)
			header->parent = x;
		else if (x_parent->left == z)
			x_parent->left = x;
		else
			x_parent->right = x;
		if (header->left == z)
			header->left = right ? lowest(x) : z->parent;
		if (header->right == z)
			header->right = left ? highest(x) : z->parent;
	}
	if (gone != RED)
		rebalance(x, x_parent, header);
	return z;
}

INSIDE struct tree *next_node(struct tree *x)
{
	struct tree *up;

	if (x->right)
		return lowest(x->right);
	up = x->parent;
	while (x == up->right) {
		x = up;
		up = up->parent;
	}
	return x->right != up ? up : x; /* from the last to the header of a tree of one */
}

INSIDE struct tree *previous_node(struct tree *x)
{
	struct tree *up;

	if (x->colour == RED && x->parent->parent == x)
		return x->right; /* from the header */
	if (x->left)
		return highest(x->left);
	up = x->parent;
	while (x == up->left) {
		x = up;
		up = up->parent;
	}
	return up;
}

BODY struct tree *body__ZSt18_Rb_tree_incrementPSt18_Rb_tree_node_base(struct tree *x)
{
	return next_node(x);
}

BODY struct tree *body__ZSt18_Rb_tree_incrementPKSt18_Rb_tree_node_base(struct tree *x)
{
	return next_node(x);
}

BODY struct tree *body__ZSt18_Rb_tree_decrementPSt18_Rb_tree_node_base(struct tree *x)
{
	return previous_node(x);
}

BODY struct tree *body__ZSt18_Rb_tree_decrementPKSt18_Rb_tree_node_base(struct tree *x)
{
	return previous_node(x);
}

struct ring {
	struct ring *next, *previous;
};

BODY void body__ZNSt8__detail15_List_node_base7_M_hookEPS0_(struct ring *x, struct ring *before)
{
	struct ring *last = before->previous;

	x->next = before;
	x->previous = last;
	last->next = x;
	before->previous = x;
}

BODY void body__ZNSt8__detail15_List_node_base9_M_unhookEv(struct ring *x)
{
	struct ring *next = x->next, *previous = x->previous;

	previous->next = next;
	next->previous = previous;
}

/* [first, end) goes before x. */
BODY void body__ZNSt8__detail15_List_node_base11_M_transferEPS0_S1_(struct ring *x,
								    struct ring *first,
								    struct ring *end)
{
	struct ring *last, *before;

	if (x == end)
		return;
	last = end->previous;
	before = first->previous;
	last->next = x;
	before->next = end;
	x->previous->next = first;
	first->previous = x->previous;
	x->previous = last;
	end->previous = before;
}
