/* predict/digest.c - what tells recordings apart, from their records alone.
 *
 * What a thread does follows from its program, its inputs and what was recorded of its path. So two
 * recordings in which every thread has the same records, clocks aside, are of equal paths. Addresses
 * differ from run to run; what they name does not. So a block of the heap is called after the thread
 * that asked for it and how many it had asked for, a place on a stack after its thread, a place in a
 * module after the module. (A number may look like an address. Then equal paths have different
 * digests, and following them shows that they are equal.) */
#include "predict/digest.h"

#include "base/err.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "base/vec.h"
#include "trace/trace.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

const struct trace_module *predict_program(const struct trace_meta *meta)
{
	const struct trace_module *m = NULL;

	for (size_t i = 0; i < meta->nmodules; i++)
		if (meta->modules[i].nsites && meta->modules[i].first_site <= 1)
			m = &meta->modules[i];
	return m;
}

/* ---- which program, run how ---- */

static struct err *add_section(struct trace *t, const char *name, struct strbuf *out)
{
	const void *data = NULL;
	size_t len = 0;
	struct err *err = trace_section(t, name, &data, &len);

	if (!err && len)
		strbuf_addf(out, "%s %016lx\n", name, (unsigned long)hash_bytes(data, len, 3));
	return err;
}

struct err *predict_key(struct trace *t, char **ret)
{
	const struct trace_meta *meta = trace_meta(t);
	struct strbuf out = { 0 };
	struct err *err;

	strbuf_addf(&out, "%s\n", predict_program(meta)->build_id);
	for (size_t i = 1; meta->command && meta->command[0] && meta->command[i]; i++)
		strbuf_addf(&out, "%s\n", meta->command[i]);
	err = add_section(t, "stdin", &out);
	*ret = strbuf_detach(&out);
	return err;
}

/* ---- names for addresses ---- */

struct block {
	uint64_t low, size, name;
};

struct digest {
	const struct trace_meta *meta;
	uint64_t *threads;	  /* hashes of what each thread did */
	uint64_t *names;	  /* hashes of their names */
	uint64_t *asked;	  /* blocks that each has asked for */
	VEC(struct block) blocks; /* by address */
};

static uint64_t mix(uint64_t h, uint64_t x)
{
	return hash_u64(h ^ hash_u64(x + 0x9e37));
}

/* The last block to begin at an address keeps its name when it is given back: values are written to
 * the recording some time after they were read. */
static void add_block(struct digest *d, const struct event *ev)
{
	struct block b = { ev->address, ev->n, mix(d->names[ev->thread], ++d->asked[ev->thread]) };
	size_t i = vec_upper(&d->blocks, low, b.low);

	if (i && d->blocks.data[i - 1].low == b.low) {
		d->blocks.data[i - 1] = b;
		return;
	}
	vec_add(&d->blocks);
	memmove(&d->blocks.data[i + 1], &d->blocks.data[i],
		(d->blocks.len - 1 - i) * sizeof(struct block));
	d->blocks.data[i] = b;
}

/* A number for what lies at an address, the same in every run. False: nothing that we know lies there. */
static bool name_of(const struct digest *d, uint64_t address, uint64_t *ret)
{
	size_t i = vec_upper(&d->blocks, low, address);

	if (i && address - d->blocks.data[i - 1].low < d->blocks.data[i - 1].size) {
		*ret = mix(d->blocks.data[i - 1].name, address - d->blocks.data[i - 1].low);
		return true;
	}
	for (i = 0; i < d->meta->nmodules; i++)
		if (address >= d->meta->modules[i].low && address < d->meta->modules[i].high) {
			*ret = mix(i + 1, address - d->meta->modules[i].load_address);
			return true;
		}
	for (i = 0; i < d->meta->nthreads; i++)
		if (address - d->meta->threads[i].stack_low < d->meta->threads[i].stack_size) {
			*ret = mix(d->names[i] + 1, d->meta->threads[i].stack_low +
							    d->meta->threads[i].stack_size -
							    address);
			return true;
		}
	return false;
}

static uint64_t named(const struct digest *d, uint64_t value)
{
	uint64_t name;

	return name_of(d, value, &name) ? name : value;
}

/* Values of any width, one behind the other. */
static uint64_t mix_bytes(const struct digest *d, uint64_t h, const uint8_t *bytes, size_t n)
{
	size_t plain = 0; /* the first that is not mixed in yet */

	for (size_t i = 0; i + 8 <= n;) {
		uint64_t value, name;

		memcpy(&value, bytes + i, 8);
		if (value >> 48 || value < 65536 || !name_of(d, value, &name)) {
			i++;
			continue;
		}
		h = mix(mix(h, hash_bytes(bytes + plain, i - plain, 1)), name);
		plain = i += 8;
	}
	return mix(h, hash_bytes(bytes + plain, n - plain, 1));
}

/* ---- digests ---- */

/* In mode path what was read is recorded where it matters; otherwise every read is. */
static bool counts(const struct trace_meta *meta, uint32_t kind)
{
	switch (kind) {
	case PLAIT_EV_BRANCH:
	case PLAIT_EV_READ:
	case PLAIT_EV_ATOMIC_READ:
	case PLAIT_EV_ATOMIC_RMW:
		return meta->mode != PLAIT_MODE_PATH;
	case PLAIT_EV_PATH_BITS:
	case PLAIT_EV_PATH_SWITCH:
	case PLAIT_EV_PATH_VALUE:
	case PLAIT_EV_PATH_VALUES:
	case PLAIT_EV_INPUT:
	case PLAIT_EV_INPUT_BYTES:
	case PLAIT_EV_FORK:
	case PLAIT_EV_JOIN:
	case PLAIT_EV_ONCE_BEGIN:
	case PLAIT_EV_ONCE_PASS:
	case PLAIT_EV_ALLOC:
	case PLAIT_EV_FREE:
	case PLAIT_EV_EXIT:
		return true;
	default:
		return false;
	}
}

static void digest_event(struct digest *d, const struct event *ev)
{
	uint64_t *h = &d->threads[ev->thread];

	if (ev->kind == PLAIT_EV_ALLOC)
		add_block(d, ev);
	*h = mix(mix(mix(*h, (uint64_t)ev->kind << 32 | ev->site), ev->n),
		 ev->kind != PLAIT_EV_PATH_BITS ? named(d, ev->value) : ev->value);
	*h = mix(mix(mix(*h, named(d, ev->address)), ev->other), (uint64_t)ev->result);
	if (ev->nbytes)
		*h = mix_bytes(d, *h, ev->bytes, ev->nbytes);
}

struct err *predict_digest(struct trace *t, uint64_t *ret)
{
	const struct trace_meta *meta = trace_meta(t);
	struct digest d = { .meta = meta };
	const struct event *ev;
	struct cursor c;
	struct err *err;

	d.threads = xcalloc(3 * meta->nthreads + 1, sizeof(*d.threads));
	d.names = d.threads + meta->nthreads;
	d.asked = d.names + meta->nthreads;
	for (size_t i = 0; i < meta->nthreads; i++)
		d.names[i] = hash_bytes(meta->threads[i].name, strlen(meta->threads[i].name), 2);
	cursor_init(&c, t, CURSOR_ALL, 0);
	while (!(err = cursor_next(&c, &ev)) && ev)
		if (ev->thread < meta->nthreads && counts(meta, ev->kind))
			digest_event(&d, ev);
	cursor_deinit(&c);
	*ret = 0;
	for (size_t i = 0; i < meta->nthreads; i++)
		*ret += mix(d.threads[i], d.names[i]);
	vec_deinit(&d.blocks);
	free(d.threads);
	return err;
}

struct err *predict_bits(struct trace *t, struct strbuf **ret)
{
	const struct trace_meta *meta = trace_meta(t);
	const struct event *ev;
	struct cursor c;
	struct err *err;

	*ret = xcalloc(meta->nthreads + 1, sizeof(**ret));
	cursor_init(&c, t, CURSOR_ALL, 0);
	while (!(err = cursor_next(&c, &ev)) && ev) {
		if (ev->kind != PLAIT_EV_PATH_BITS || ev->thread >= meta->nthreads || ev->n > 64)
			continue;
		for (uint64_t i = ev->n; i-- > 0;)
			strbuf_addc(&(*ret)[ev->thread], ev->value >> i & 1 ? '1' : '0');
	}
	cursor_deinit(&c);
	return err;
}

/* ---- folders ---- */

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool is_plait(const char *name)
{
	size_t len = strlen(name);

	return len > 6 && strcmp(name + len - 6, ".plait") == 0;
}

struct err *predict_list(const char *folder, struct predict_files *ret)
{
	DIR *dir = opendir(folder);
	struct dirent *e;

	if (!dir)
		return err_new(ERR_ENV, "%s cannot be read", folder);
	while ((e = readdir(dir)))
		if (is_plait(e->d_name))
			vec_push(ret, xasprintf("%s/%s", folder, e->d_name));
	closedir(dir);
	vec_sort(ret, by_name);
	return NULL;
}

void predict_files_deinit(struct predict_files *f)
{
	for (size_t i = 0; i < f->len; i++)
		free(f->data[i]);
	vec_deinit(f);
}
