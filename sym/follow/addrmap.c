/* sym/follow/addrmap.c - see addrmap.h. */
#include "sym/follow/addrmap.h"

#include "base/err.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <string.h>
#include <unistd.h>

static uint32_t object_of(uint64_t machine)
{
	return (uint32_t)(machine >> 32) & 0x3fffffff;
}

static void add_symbol(struct addrmap *n, const struct ir *ir, const char *name, uint64_t at)
{
	uint32_t g = ir_find_global(ir, name), f;

	if (g != UINT32_MAX && ir->globals.data[g].address) {
		const struct global *v = &ir->globals.data[g];

		vec_push(&n->symbols, ((struct addr_range){ at, MAX(v->size, 1), v->address }));
		*map_put(&n->base_of, object_of(v->address), 0) = at + 1;
		return;
	}
	f = ir_find_function(ir, name);
	if (f != UINT32_MAX)
		vec_push(&n->symbols, ((struct addr_range){ at, 1, function_address(f) }));
}

static int by_low(const void *a, const void *b)
{
	const struct addr_range *x = a, *y = b;

	return x->low < y->low ? -1 : x->low > y->low;
}

static void keep_section(struct addrmap *n, Elf_Scn *scn, const GElf_Shdr *h, uint64_t load_address)
{
	Elf_Data *data = elf_getdata(scn, NULL);

	if (!data || !data->d_buf || !data->d_size)
		return;
	n->sections = xreallocarray(n->sections, n->nsections + 1, sizeof(*n->sections));
	n->sections[n->nsections++] =
		(struct addr_section){ h->sh_addr + load_address, data->d_size,
				       xmemdup(data->d_buf, data->d_size) };
}

size_t addrmap_constant(const struct addrmap *n, uint64_t native, const uint8_t **ret)
{
	for (size_t i = 0; i < n->nsections; i++) {
		const struct addr_section *s = &n->sections[i];

		if (native - s->low < s->size) {
			*ret = s->bytes + (native - s->low);
			return s->size - (native - s->low);
		}
	}
	return 0;
}

static struct err *read_symbols(struct addrmap *n, const struct ir *ir, uint64_t load_address)
{
	int fd = open(n->r->binary, O_RDONLY | O_CLOEXEC);
	Elf_Scn *scn = NULL;
	GElf_Shdr h;
	Elf *elf;

	if (fd < 0)
		return err_errno(errno, "%s", n->r->binary);
	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	while (elf && (scn = elf_nextscn(elf, scn))) {
		Elf_Data *data;
		GElf_Sym sym;

		if (!gelf_getshdr(scn, &h))
			continue;
		if (h.sh_type == SHT_PROGBITS && h.sh_flags & SHF_ALLOC &&
		    !(h.sh_flags & (SHF_WRITE | SHF_EXECINSTR)))
			keep_section(n, scn, &h, load_address);
		if (h.sh_type != SHT_SYMTAB)
			continue;
		data = elf_getdata(scn, NULL);
		for (int i = 0; data && gelf_getsym(data, i, &sym); i++) {
			const char *name = elf_strptr(elf, h.sh_link, sym.st_name);
			unsigned type = GELF_ST_TYPE(sym.st_info);

			if (name && *name && sym.st_shndx != SHN_UNDEF && type != STT_TLS &&
			    type != STT_SECTION && type != STT_FILE)
				add_symbol(n, ir, name, sym.st_value + load_address);
		}
	}
	elf_end(elf);
	close(fd);
	vec_sort(&n->symbols, by_low);
	return NULL;
}

static int by_block_address(const void *a, const void *b, void *arg)
{
	const struct recorded *r = arg;
	const struct rec_block *x = &r->blocks.data[*(const uint32_t *)a],
			       *y = &r->blocks.data[*(const uint32_t *)b];

	return x->address < y->address	 ? -1
	       : x->address > y->address ? 1
					 : (x->born < y->born ? -1 : x->born > y->born);
}

struct err *addrmap_init(struct addrmap *n, struct recorded *r, const struct ir *ir)
{
	uint64_t load_address = 0;

	*n = (struct addrmap){ .r = r };
	for (size_t i = 0; i < r->meta->nmodules; i++)
		if (!strcmp(r->meta->modules[i].path, r->binary))
			load_address = r->meta->modules[i].load_address;
	for (uint32_t i = 0; i < r->blocks.len; i++) {
		vec_push(&n->by_address, i);
		n->largest = MAX(n->largest, r->blocks.data[i].size);
	}
	if (r->blocks.len)
		qsort_r(n->by_address.data, n->by_address.len, sizeof(uint32_t), by_block_address,
			r);
	return read_symbols(n, ir, load_address);
}

void addrmap_deinit(struct addrmap *n)
{
	vec_deinit(&n->symbols);
	vec_deinit(&n->learned);
	vec_deinit(&n->by_address);
	map_deinit(&n->base_of);
	for (size_t i = 0; i < n->nsections; i++)
		free(n->sections[i].bytes);
	free(n->sections);
}

static uint64_t find_symbol(const struct addrmap *n, uint64_t value)
{
	size_t lo = 0, hi = n->symbols.len;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (n->symbols.data[mid].low <= value)
			lo = mid + 1;
		else
			hi = mid;
	}
	while (lo-- > 0) { /* aliases, and the address behind the last byte */
		const struct addr_range *s = &n->symbols.data[lo];

		if (value - s->low < s->size)
			return s->machine + (value - s->low);
		if (value - s->low > 1u << 20)
			break;
		if (value - s->low == s->size && s->size > 1)
			return s->machine + (value - s->low);
	}
	return 0;
}

/* How many blocks begin at this address or below. */
static size_t blocks_up_to(const struct addrmap *n, uint64_t value)
{
	size_t lo = 0, hi = n->by_address.len;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (n->r->blocks.data[n->by_address.data[mid]].address <= value)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* Of the blocks around this address the one that lived at the time, else the last before. */
static struct rec_block *find_block(const struct addrmap *n, uint64_t value, uint64_t clock,
				    uint64_t until)
{
	struct rec_block *best = NULL;
	int best_rank = -1;

	for (size_t lo = blocks_up_to(n, value); lo-- > 0;) {
		struct rec_block *b = &n->r->blocks.data[n->by_address.data[lo]];
		bool inside = value - b->address < MAX(b->size, 1);
		int rank = (inside ? 4 : 0) + (b->born <= until ? 2 : 0) + (b->died >= clock);

		if (value - b->address > n->largest)
			break;
		if (value - b->address > MAX(b->size, 1))
			continue;
		if (rank > best_rank || (rank == best_rank && best && b->born > best->born)) {
			best = b;
			best_rank = rank;
		}
	}
	return best_rank >= 2 ? best : NULL;
}

uint64_t addrmap_machine(struct addrmap *n, uint64_t value, uint64_t clock, uint64_t until,
			 struct rec_block **block)
{
	uint64_t at = find_symbol(n, value);
	struct rec_block *b;

	*block = NULL;
	if (at)
		return at;
	b = find_block(n, value, clock, until);
	if (b && !b->object) {
		*block = b;
		return 0;
	}
	return b ? b->object + (value - b->address) : 0;
}

bool addrmap_may_be(const struct addrmap *n, uint64_t machine, uint64_t value, uint64_t clock,
		    uint64_t until)
{
	if (!addrmap_is(n, machine, value))
		return false;
	for (size_t lo = blocks_up_to(n, value); lo-- > 0;) {
		const struct rec_block *b = &n->r->blocks.data[n->by_address.data[lo]];

		if (value - b->address > n->largest)
			break;
		if (b->object && object_of(b->object) == object_of(machine))
			return b->born <= until && b->died >= clock;
	}
	return true;
}

uint64_t addrmap_learned(const struct addrmap *n, uint64_t value)
{
	for (size_t i = n->learned.len; i-- > 0;)
		if (value - n->learned.data[i].low < n->learned.data[i].size)
			return n->learned.data[i].machine + (value - n->learned.data[i].low);
	return 0;
}

void addrmap_learn(struct addrmap *n, uint64_t low, uint64_t size, uint64_t machine)
{
	if (machine & ADDR_TAG)
		*map_put(&n->base_of, object_of(machine), 0) = low + 1;
	for (size_t i = 0; i < n->learned.len; i++) { /* what was there is gone */
		struct addr_range *l = &n->learned.data[i];

		if (l->low < low + size && low < l->low + l->size)
			l->size = 0;
	}
	vec_push(&n->learned, ((struct addr_range){ low, MAX(size, 1), machine }));
}

uint64_t addrmap_native(const struct addrmap *n, uint64_t machine)
{
	uint64_t base;

	if (machine & ADDR_TAG) {
		base = map_get_or(&n->base_of, object_of(machine), 0);
		return base ? base - 1 + ((uint32_t)machine - ADDR_BIAS) : 0;
	}
	if (machine & FUNC_TAG)
		for (size_t i = 0; i < n->symbols.len; i++)
			if (n->symbols.data[i].machine == machine)
				return n->symbols.data[i].low;
	return 0;
}

bool addrmap_is(const struct addrmap *n, uint64_t machine, uint64_t native)
{
	return addrmap_native(n, machine) == native || find_symbol(n, native) == machine;
}
