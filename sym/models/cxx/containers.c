/* What the templates of std::map, std::set, std::list and the hashed containers call in the library: balancing of trees,
 * links of lists, sizes of tables. Red and black as in every textbook; the layouts are libstdc++'s. */
#include "../libc/model.h"

#include <string.h>

/* ---- trees ---- */

enum { RED, BLACK };

struct node {
	int color;
	struct node *parent, *left, *right;
};

/* The header of a tree is red and its parent is the root, whose parent is the header. */
struct node *tree_next(struct node *x) __asm__("_ZSt18_Rb_tree_incrementPSt18_Rb_tree_node_base");
struct node *tree_next(struct node *x)
{
	struct node *up;

	if (x->right) {
		for (x = x->right; x->left;)
			x = x->left;
		return x;
	}
	for (up = x->parent; x == up->right; up = up->parent)
		x = up;
	return x->right != up ? up : x; /* the root may be the last one: then x is the header */
}
struct node *
tree_next_const(struct node *x) __asm__("_ZSt18_Rb_tree_incrementPKSt18_Rb_tree_node_base");
struct node *tree_next_const(struct node *x)
{
	return tree_next(x);
}

struct node *
tree_previous(struct node *x) __asm__("_ZSt18_Rb_tree_decrementPSt18_Rb_tree_node_base");
struct node *tree_previous(struct node *x)
{
	struct node *up;

	if (x->color == RED && x->parent->parent == x) /* the header: the end */
		return x->right;
	if (x->left) {
		for (x = x->left; x->right;)
			x = x->right;
		return x;
	}
	for (up = x->parent; x == up->left; up = up->parent)
		x = up;
	return up;
}
struct node *
tree_previous_const(struct node *x) __asm__("_ZSt18_Rb_tree_decrementPKSt18_Rb_tree_node_base");
struct node *tree_previous_const(struct node *x)
{
	return tree_previous(x);
}

/* `y` takes the place of x below x's parent. */
static void replace(struct node *x, struct node *y, struct node *header)
{
	if (x == header->parent)
		header->parent = y;
	else if (x == x->parent->left)
		x->parent->left = y;
	else
		x->parent->right = y;
	if (y)
		y->parent = x->parent;
}

static void rotate(struct node *x, int to_left, struct node *header)
{
	struct node *y = to_left ? x->right : x->left, *inner = to_left ? y->left : y->right;

	*(to_left ? &x->right : &x->left) = inner;
	if (inner)
		inner->parent = x;
	replace(x, y, header);
	*(to_left ? &y->left : &y->right) = x;
	x->parent = y;
}

void tree_insert(_Bool left, struct node *x, struct node *p, struct node *header) __asm__(
	"_ZSt29_Rb_tree_insert_and_rebalancebPSt18_Rb_tree_node_baseS0_RS_");
void tree_insert(_Bool left, struct node *x, struct node *p, struct node *header)
{
	*x = (struct node){ .color = RED, .parent = p };
	if (left) {
		p->left = x; /* of the header: the first one */
		if (p == header)
			header->parent = header->right = x;
		else if (p == header->left)
			header->left = x;
	} else {
		p->right = x;
		if (p == header->right)
			header->right = x;
	}
	while (x != header->parent && x->parent->color == RED) {
		struct node *up = x->parent->parent;
		int on_left = x->parent == up->left;
		struct node *uncle = on_left ? up->right : up->left;

		if (uncle && uncle->color == RED) {
			x->parent->color = uncle->color = BLACK;
			up->color = RED;
			x = up;
			continue;
		}
		if (x == (on_left ? x->parent->right : x->parent->left)) {
			x = x->parent;
			rotate(x, on_left, header);
		}
		x->parent->color = BLACK;
		up->color = RED;
		rotate(up, !on_left, header);
	}
	header->parent->color = BLACK;
}

/* One black node is missing above x, a child of p. */
static void lift_black(struct node *x, struct node *p, struct node *header)
{
	while (x != header->parent && (!x || x->color == BLACK)) {
		int on_left = x == p->left;
		struct node *w = on_left ? p->right : p->left, *near, *far;

		if (w->color == RED) {
			w->color = BLACK;
			p->color = RED;
			rotate(p, on_left, header);
			w = on_left ? p->right : p->left;
		}
		near = on_left ? w->left : w->right;
		far = on_left ? w->right : w->left;
		if ((!near || near->color == BLACK) && (!far || far->color == BLACK)) {
			w->color = RED;
			x = p;
			p = p->parent;
			continue;
		}
		if (!far || far->color == BLACK) {
			near->color = BLACK;
			w->color = RED;
			rotate(w, !on_left, header);
			w = on_left ? p->right : p->left;
			far = on_left ? w->right : w->left;
		}
		w->color = p->color;
		p->color = BLACK;
		far->color = BLACK;
		rotate(p, on_left, header);
		break;
	}
	if (x)
		x->color = BLACK;
}

static struct node *outermost(struct node *x, int left)
{
	for (struct node *y = x; y; y = left ? y->left : y->right)
		x = y;
	return x;
}

/* Take z out; returns it. */
struct node *tree_erase(struct node *z, struct node *header) __asm__(
	"_ZSt28_Rb_tree_rebalance_for_erasePSt18_Rb_tree_node_baseRS_");
struct node *tree_erase(struct node *z, struct node *header)
{
	struct node *x, *p, *next;
	int color = z->color;

	if (z->left && z->right) { /* its successor takes its place */
		next = outermost(z->right, 1);
		color = next->color;
		x = next->right;
		p = next->parent == z ? next : next->parent;
		if (next->parent != z) {
			replace(next, x, header);
			next->right = z->right;
			z->right->parent = next;
		}
		replace(z, next, header);
		next->left = z->left;
		z->left->parent = next;
		next->color = z->color;
	} else {
		x = z->left ? z->left : z->right;
		p = z->parent;
		replace(z, x, header);
		if (header->left == z)
			header->left = x ? outermost(x, 1) : p;
		if (header->right == z)
			header->right = x ? outermost(x, 0) : p;
	}
	if (color == BLACK)
		lift_black(x, p, header);
	return z;
}

/* ---- lists ---- */

struct link {
	struct link *next, *previous;
};

void list_hook(struct link *l,
	       struct link *before) __asm__("_ZNSt8__detail15_List_node_base7_M_hookEPS0_");
void list_hook(struct link *l, struct link *before)
{
	*l = (struct link){ before, before->previous };
	before->previous->next = l;
	before->previous = l;
}
void list_unhook(struct link *l) __asm__("_ZNSt8__detail15_List_node_base9_M_unhookEv");
void list_unhook(struct link *l)
{
	l->previous->next = l->next;
	l->next->previous = l->previous;
}
void list_transfer(struct link *l, struct link *first, struct link *last) __asm__(
	"_ZNSt8__detail15_List_node_base11_M_transferEPS0_S1_");
void list_transfer(struct link *l, struct link *first, struct link *last)
{
	struct link *end = last->previous;

	if (l == last)
		return;
	first->previous->next = last;
	last->previous = first->previous;
	first->previous = l->previous;
	l->previous->next = first;
	end->next = l;
	l->previous = end;
}
void list_reverse(struct link *l) __asm__("_ZNSt8__detail15_List_node_base10_M_reverseEv");
void list_reverse(struct link *l)
{
	struct link *at = l;

	do {
		struct link *next = at->next;

		at->next = at->previous;
		at->previous = next;
		at = next;
	} while (at != l);
}
static void relink(struct link *l, const struct link *was)
{
	if (l->next == was) {
		l->next = l->previous = l;
		return;
	}
	l->next->previous = l;
	l->previous->next = l;
}
void list_swap(struct link *a,
	       struct link *b) __asm__("_ZNSt8__detail15_List_node_base4swapERS0_S1_");
void list_swap(struct link *a, struct link *b)
{
	struct link was = *a;

	*a = *b;
	*b = was;
	relink(a, b);
	relink(b, a);
}

/* ---- tables ---- */

struct policy {
	float most;	  /* elements per bucket */
	size_t next_size; /* elements that fit */
};

/* The library's own sizes, so that a table is walked in the same order as natively; larger ones than it lists, up to a
 * million, are not had. */
static const size_t few[] = { 1, 2, 2, 3, 5, 5, 7, 7, 11, 11, 11, 11, 13, 13 };
static const size_t sizes[] = {
	13,	17,	 19,	 23,	 29,	 31,	 37,	 41,	 43,	 47,	 53,
	59,	61,	 67,	 71,	 73,	 79,	 83,	 89,	 97,	 103,	 109,
	113,	127,	 137,	 139,	 149,	 157,	 167,	 179,	 193,	 199,	 211,
	227,	241,	 257,	 277,	 293,	 313,	 337,	 359,	 383,	 409,	 439,
	467,	503,	 541,	 577,	 619,	 661,	 709,	 761,	 823,	 887,	 953,
	1031,	1109,	 1193,	 1289,	 1381,	 1493,	 1613,	 1741,	 1879,	 2029,	 2179,
	2357,	2549,	 2753,	 2971,	 3209,	 3469,	 3739,	 4027,	 4349,	 4703,	 5087,
	5503,	5953,	 6427,	 6949,	 7517,	 8123,	 8783,	 9497,	 10273,	 11113,	 12011,
	12983,	14033,	 15173,	 16411,	 17749,	 19183,	 20753,	 22447,	 24281,	 26267,	 28411,
	30727,	33223,	 35933,	 38873,	 42043,	 45481,	 49201,	 53201,	 57557,	 62233,	 67307,
	72817,	78779,	 85229,	 92203,	 99733,	 107897, 116731, 126271, 136607, 147793, 159871,
	172933, 187091,	 202409, 218971, 236897, 256279, 277261, 299951, 324503, 351061, 379787,
	410857, 444487,	 480881, 520241, 562841, 608903, 658753, 712697, 771049, 834181, 902483,
	976369, 1056323,
};
enum { FEW = sizeof(few) / sizeof(few[0]), SIZES = sizeof(sizes) / sizeof(sizes[0]) };

size_t table_size(struct policy *p,
		  size_t n) __asm__("_ZNKSt8__detail20_Prime_rehash_policy11_M_next_bktEm");
size_t table_size(struct policy *p, size_t n)
{
	size_t i = 0, size;

	if (!n)
		return 1;
	while (n >= FEW && i < SIZES && sizes[i] < n)
		i++;
	if (i == SIZES)
		sym_refuse("a hashed container of more than a million buckets");
	size = n < FEW ? few[n] : sizes[i];
	p->next_size = (size_t)((double)size * (double)p->most);
	return size;
}

struct need { /* std::pair<bool, size_t> */
	_Bool grow;
	size_t size;
};
struct need
table_need(struct policy *p, size_t buckets, size_t have,
	   size_t more) __asm__("_ZNKSt8__detail20_Prime_rehash_policy14_M_need_rehashEmmm");
struct need table_need(struct policy *p, size_t buckets, size_t have, size_t more)
{
	size_t wanted = have + more;

	if (wanted <= p->next_size)
		return (struct need){ 0, 0 };
	if (!p->next_size && wanted < 11)
		wanted = 11;
	wanted = (size_t)((double)wanted / (double)p->most);
	if (wanted >= buckets)
		return (struct need){ 1, table_size(p, wanted + 1 > 2 * buckets ? wanted + 1
										: 2 * buckets) };
	p->next_size = (size_t)((double)buckets * (double)p->most);
	return (struct need){ 0, 0 };
}

/* MurmurHash 2, as the library has it. */
size_t hash_bytes(const void *data, size_t n, size_t seed) __asm__("_ZSt11_Hash_bytesPKvmm");
size_t hash_bytes(const void *data, size_t n, size_t seed)
{
	const uint64_t mul = 0xc6a4a7935bd1e995ull;
	const unsigned char *p = data;
	uint64_t hash = seed ^ (n * mul), word;

	for (; n >= 8; n -= 8, p += 8) {
		memcpy(&word, p, 8);
		word *= mul;
		hash = (hash ^ ((word ^ word >> 47) * mul)) * mul;
	}
	if (n) {
		word = 0;
		while (n-- > 0)
			word = word << 8 | p[n];
		hash = (hash ^ word) * mul;
	}
	hash = (hash ^ hash >> 47) * mul;
	return hash ^ hash >> 47;
}
