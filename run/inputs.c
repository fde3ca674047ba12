/* run/inputs.c - see inputs.h. */
#include "run/inputs.h"

#include "base/err.h"
#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "unplait/control.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <xxhash.h>

#define HEAD "unplait-inputs 1 "
enum { MAX_LINE = 128, MAX_TEXT = 8192 };

static const char *const kind_names[] = { "file", "large", "absent", "folder" };

const char *input_kind_name(enum input_kind kind)
{
	return kind_names[kind];
}

static void input_deinit(struct input *i)
{
	free(i->name);
	free(i->path);
	free(i->data);
}

void inputs_deinit(struct inputs *in)
{
	for (size_t i = 0; i < in->len; i++)
		input_deinit(&in->data[i]);
	vec_deinit(in);
}

/* ---- collecting ---- */

/* One entry of struct plait_inputs.named. */
struct named {
	char how;
	const char *name, *path;
};

static const char *next_named(const char *at, const char *end, struct named *ret)
{
	const char *name_end = at < end ? memchr(at, 0, (size_t)(end - at)) : NULL, *path_end;

	if (!name_end || name_end == at)
		return NULL;
	path_end = memchr(name_end + 1, 0, (size_t)(end - name_end - 1));
	*ret = (struct named){ *at, at + 1, name_end + 1 };
	return path_end ? path_end + 1 : NULL;
}

bool inputs_has(const struct plait_inputs *from, char how)
{
	const char *at = from->named,
		   *end = from->named + MIN(from->named_len, sizeof(from->named));
	struct named n;

	while ((at = next_named(at, end, &n)))
		if (n.how == how)
			return true;
	return false;
}

static bool is_written(const struct plait_inputs *from, const char *path)
{
	const char *at = from->named,
		   *end = from->named + MIN(from->named_len, sizeof(from->named));
	struct named n;

	while ((at = next_named(at, end, &n)))
		if (n.how == 'w' && !strcmp(n.path, path))
			return true;
	return false;
}

/* What the file holds, without ever having all of it in memory: programs read files of any size. */
static bool hash_file(const char *path, uint64_t *size, uint64_t *hash)
{
	enum { PIECE = 1 << 20 };
	_cleanup_(xfreep) char *piece = xmalloc(PIECE);
	XXH64_state_t *state = XXH64_createState();
	FILE *f = fopen(path, "re");
	size_t n;
	bool read = f != NULL;

	*size = 0;
	XXH64_reset(state, 0);
	while (f && (n = fread(piece, 1, PIECE, f)) > 0) {
		XXH64_update(state, piece, n);
		*size += n;
	}
	if (f) {
		read = !ferror(f);
		fclose(f);
	}
	*hash = XXH64_digest(state);
	XXH64_freeState(state);
	return read;
}

/* A device, a socket: nothing that can be carried. */
static bool look_at(struct input *i, uint64_t *left)
{
	struct strbuf bytes = { 0 };
	struct stat st;
	struct err *err;

	if (stat(i->path, &st) != 0) {
		i->kind = INPUT_ABSENT;
		return true;
	}
	i->kind = S_ISDIR(st.st_mode) ? INPUT_FOLDER : INPUT_FILE;
	if (i->kind == INPUT_FOLDER || !S_ISREG(st.st_mode))
		return i->kind == INPUT_FOLDER;
	if ((uint64_t)st.st_size > MIN(INPUT_MAX, *left)) {
		i->kind = INPUT_LARGE;
		return hash_file(i->path, &i->size, &i->hash);
	}
	err = file_read(i->path, &bytes);
	if (err) {
		err_free(err);
		return false;
	}
	i->size = bytes.len;
	i->hash = XXH64(strbuf_str(&bytes), bytes.len, 0);
	*left -= MIN(*left, bytes.len);
	i->data = strbuf_detach(&bytes);
	return true;
}

void inputs_collect(const struct plait_inputs *from, struct inputs *ret)
{
	const char *at = from->named,
		   *end = from->named + MIN(from->named_len, sizeof(from->named));
	uint64_t left = INPUTS_MAX;
	struct named n;

	while (ret->len < INPUTS_COUNT && (at = next_named(at, end, &n))) {
		struct input i = { 0 };

		if (n.how != 'r' || is_written(from, n.path) || strlen(n.name) > MAX_TEXT ||
		    strlen(n.path) > MAX_TEXT)
			continue;
		i.name = xstrdup(n.name);
		i.path = xstrdup(n.path);
		if (look_at(&i, &left))
			vec_push(ret, i);
		else
			input_deinit(&i);
	}
}

/* ---- the section ---- */

void inputs_write(const struct inputs *in, struct strbuf *out)
{
	strbuf_addf(out, HEAD "%zu\n", in->len);
	for (size_t k = 0; k < in->len; k++) {
		const struct input *i = &in->data[k];

		strbuf_addf(out, "%s %" PRIu64 " %016" PRIx64 " %zu %zu\n", kind_names[i->kind],
			    i->size, i->hash, strlen(i->name), strlen(i->path));
		strbuf_adds(out, i->name);
		strbuf_adds(out, i->path);
		if (i->kind == INPUT_FILE)
			strbuf_add(out, i->data, i->size);
	}
}

struct reader {
	const char *at, *end;
};

static bool read_line(struct reader *r, char line[MAX_LINE])
{
	const char *end = memchr(r->at, '\n', (size_t)(r->end - r->at));
	size_t n = end ? (size_t)(end - r->at) : 0;

	if (!end || n >= MAX_LINE)
		return false;
	memcpy(line, r->at, n);
	line[n] = 0;
	r->at = end + 1;
	return true;
}

static char *read_bytes(struct reader *r, uint64_t n)
{
	char *ret;

	if (n > (uint64_t)(r->end - r->at))
		return NULL;
	ret = xcalloc(1, n + 1);
	memcpy(ret, r->at, n);
	r->at += n;
	return ret;
}

static bool read_text(struct reader *r, size_t n, char **ret)
{
	*ret = n && n <= MAX_TEXT ? read_bytes(r, n) : NULL;
	return *ret && strlen(*ret) == n;
}

static bool read_input(struct reader *r, struct input *ret)
{
	char line[MAX_LINE], kind[16];
	size_t name, path, k = 0;

	if (!read_line(r, line) || sscanf(line, "%15s %" SCNu64 " %" SCNx64 " %zu %zu", kind,
					  &ret->size, &ret->hash, &name, &path) != 5)
		return false;
	while (k < ARRAY_SIZE(kind_names) && strcmp(kind_names[k], kind) != 0)
		k++;
	if (k == ARRAY_SIZE(kind_names))
		return false;
	ret->kind = (enum input_kind)k;
	if (!read_text(r, name, &ret->name) || !read_text(r, path, &ret->path))
		return false;
	if (ret->kind != INPUT_FILE)
		return true;
	ret->data = read_bytes(r, ret->size);
	return ret->data && XXH64(ret->data, ret->size, 0) == ret->hash;
}

struct err *inputs_parse(const void *data, size_t len, struct inputs *ret)
{
	struct reader r = { data, (const char *)data + len };
	char line[MAX_LINE];
	size_t n = 0;

	assert(!ret->len);
	if (!read_line(&r, line) || sscanf(line, HEAD "%zu", &n) != 1 || n > INPUTS_COUNT)
		return err_new(ERR_ENV, "its inputs are not readable, or of another version");
	for (size_t i = 0; i < n; i++) {
		struct input in = { 0 };

		if (!read_input(&r, &in)) {
			input_deinit(&in);
			inputs_deinit(ret);
			return err_new(ERR_ENV, "its inputs are damaged");
		}
		vec_push(ret, in);
	}
	if (r.at == r.end)
		return NULL;
	inputs_deinit(ret);
	return err_new(ERR_ENV, "its inputs are damaged");
}

/* ---- giving them to a run ---- */

static bool has_bytes(const char *path, const struct input *i)
{
	uint64_t size, hash;
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode) && (uint64_t)st.st_size == i->size &&
	       hash_file(path, &size, &hash) && size == i->size && hash == i->hash;
}

/* Where it was, or under its name where we are; NULL: nowhere. */
static char *find_large(const struct input *i)
{
	const char *path = has_bytes(i->path, i) ? i->path : has_bytes(i->name, i) ? i->name : NULL;

	if (!path)
		log_warn("the run read %s (%" PRIu64
			 " bytes), which is too large to be in the plait, "
			 "and is not there as it was; it may go another way now",
			 i->path, i->size);
	return path ? realpath(path, NULL) : NULL;
}

/* What is opened in its place; NULL: the file itself. */
static struct err *place(const struct input *i, const char *folder, size_t number, char **ret)
{
	_cleanup_(xfreep) char *own = xasprintf("%s/input-%zu", folder, number);
	struct err *err = NULL;

	*ret = NULL;
	switch (i->kind) {
	case INPUT_FILE:
		err = file_write(own, i->data, i->size);
		break;
	case INPUT_LARGE:
		*ret = find_large(i);
		return NULL;
	case INPUT_ABSENT:
		break;
	case INPUT_FOLDER:
		if (file_exists(i->path))
			return NULL;
		err = file_make_dirs(own);
		break;
	}
	if (!err) {
		*ret = own;
		own = NULL;
	}
	return err;
}

static bool give(struct plait_inputs *to, const char *name, const char *path)
{
	size_t n = strlen(name) + 1, m = strlen(path) + 1;

	if (n + m > sizeof(to->given) - to->given_len)
		return false;
	memcpy(to->given + to->given_len, name, n);
	memcpy(to->given + to->given_len + n, path, m);
	to->given_len += (uint32_t)(n + m);
	return true;
}

struct err *inputs_place(const struct inputs *in, const char *folder, struct plait_inputs *ret)
{
	struct err *err = NULL;

	ret->given_len = 0;
	for (size_t i = 0; i < in->len && !err; i++) {
		_cleanup_(xfreep) char *path = NULL;

		err = place(&in->data[i], folder, i, &path);
		if (!err && path && !give(ret, in->data[i].name, path))
			err = err_new(ERR_ENV, "too many inputs");
	}
	return err;
}
