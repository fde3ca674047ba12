/* run/sanitizer.c - see places.h.
 *
 * The sanitizer prints the address of the call itself, not the return address, as an offset in a
 * file: what debug/modules.h wants. Frames are counted anew, since one address may be several. */
#include "run/sanitizer.h"

#include "base/environment.h"
#include "base/err.h"
#include "base/path.h"
#include "base/strbuf.h"
#include "base/vec.h"
#include "debug/modules.h"
#include "run/place.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void sanitizer_leave_addresses(struct environment *e, bool live)
{
	const char *own = environment_find(e, "ASAN_OPTIONS");

	/* suppressions are told by names */
	if (!own || !strstr(own, "suppressions="))
		environment_prepend(e, "ASAN_OPTIONS", live ? "symbolize=1" : "symbolize=0");
}

/* "(/path/program+0x1234)" */
struct module_place {
	const char *end; /* behind it, and behind the build-id that may follow */
	char *path;
	uint64_t offset;
};

static bool read_place(const char *at, struct module_place *ret)
{
	const char *line_end = at + strcspn(at, "\n"), *plus = NULL, *close, *id;
	char *end;

	if (*at != '(')
		return false;
	close = memchr(at, ')', (size_t)(line_end - at));
	for (const char *p = at; close && p < close; p++)
		if (strncmp(p, "+0x", 3) == 0)
			plus = p;
	if (!plus)
		return false;
	ret->offset = strtoull(plus + 3, &end, 16);
	if (end != close)
		return false;
	ret->path = xstrndup(at + 1, (size_t)(plus - at - 1));
	ret->end = close + 1;
	id = strncmp(ret->end, " (BuildId: ", 11) == 0 ? strchr(ret->end, ')') : NULL;
	if (id && id < line_end)
		ret->end = id + 1;
	return true;
}

static void find_frames(struct modules **modules, const struct module_place *p,
			struct source_frames *ret)
{
	struct module *m;
	struct err *err;

	if (!*modules)
		*modules = modules_new();
	err = modules_get(*modules, p->path, NULL, &m);
	if (!err)
		module_frames(m, p->offset, ret);
	err_free(err);
}

static void add_file(struct strbuf *out, const struct source_frame *f)
{
	strbuf_adds(out, f->file);
	if (f->line)
		strbuf_addf(out, ":%u", f->line);
	if (f->line && f->column)
		strbuf_addf(out, ":%u", f->column);
}

/* "    #3 0x55e8  (place)": the beginning of the place, NULL = the line is none of these. */
static const char *frame_place(const char *line, unsigned *number, unsigned long long *address)
{
	int n = 0;

	return sscanf(line, " #%u %llx %n", number, address, &n) == 2 && n && line[n] == '('
		       ? line + n
		       : NULL;
}

static bool name_frame(struct strbuf *out, const char *line, struct modules **modules,
		       unsigned *count)
{
	struct source_frames frames = { 0 };
	unsigned long long address;
	struct module_place p;
	unsigned number;
	const char *at = frame_place(line, &number, &address);

	if (!at || !read_place(at, &p))
		return false;
	find_frames(modules, &p, &frames);
	free(p.path);
	if (!number)
		*count = 0;
	for (size_t i = 0; i < frames.len; i++) {
		const struct source_frame *f = &frames.data[i];

		strbuf_addf(out, "    #%u %#llx in %s ", (*count)++, address,
			    f->function ? f->function : "?");
		if (f->file)
			add_file(out, f);
		else
			strbuf_add(out, at, (size_t)(p.end - at));
		strbuf_addc(out, '\n');
	}
	if (!frames.len) {
		strbuf_addf(out, "    #%u %#llx ", (*count)++, address);
		strbuf_add(out, at, strcspn(at, "\n"));
		strbuf_addc(out, '\n');
	}
	vec_deinit(&frames);
	return true;
}

/* "SUMMARY: AddressSanitizer: heap-use-after-free (place)" becomes "... FILE:LINE:COLUMN in NAME". */
static bool name_summary(struct strbuf *out, const char *line, struct modules **modules)
{
	struct source_frames frames = { 0 };
	const char *end = line + strcspn(line, "\n"), *at = memchr(line, '(', (size_t)(end - line));
	const struct source_frame *f;
	struct module_place p;
	bool known;

	if (strncmp(line, "SUMMARY: ", 9) != 0 || !at || !read_place(at, &p))
		return false;
	find_frames(modules, &p, &frames);
	free(p.path);
	f = source_frames_own(&frames);
	known = f && f->file && f->function;
	if (known) {
		strbuf_add(out, line, (size_t)(at - line));
		add_file(out, f);
		strbuf_addf(out, " in %s\n", f->function);
	}
	vec_deinit(&frames);
	return known;
}

char *sanitizer_name_places(const char *text, struct modules **modules)
{
	_cleanup_(strbuf_deinit) struct strbuf out = { 0 };
	const char *next;
	unsigned count = 0;

	if (!strstr(text, "Sanitizer: "))
		return NULL;
	for (const char *line = text; *line; line = next) {
		size_t len = strcspn(line, "\n");

		next = line + len + (line[len] == '\n');
		if (!name_frame(&out, line, modules, &count) && !name_summary(&out, line, modules))
			strbuf_add(&out, line, (size_t)(next - line));
	}
	return xstrdup(strbuf_str(&out));
}

/* ---- the stack of a report ---- */

/* "    #3 0x55e8 in NAME FILE:LINE:COLUMN"; a name may have blanks, a file is what comes last. */
static bool read_frame(const char *line, struct place *ret)
{
	_cleanup_(xfreep) char *copy = xstrndup(line, strcspn(line, "\n"));
	unsigned long long address;
	unsigned number, place_line = 0;
	char *file, *colon;
	int n = 0;

	if (sscanf(copy, " #%u %llx in %n", &number, &address, &n) != 2 || !n)
		return false;
	file = strrchr(copy + n, ' ');
	colon = file ? strchr(file, ':') : NULL;
	if (colon)
		place_line = (unsigned)strtoul(colon + 1, NULL, 10);
	if (file)
		*file = '\0';
	if (colon)
		*colon = '\0';
	*ret = (struct place){ .file = xstrdup(place_line ? file + 1 : ""),
			       .function = xstrdup(copy + n),
			       .line = place_line };
	return true;
}

void sanitizer_stack(const char *text, struct places *ret)
{
	const char *line = strstr(text, "Sanitizer: ");
	struct places all = { 0 };
	struct place p;
	size_t own = 0;

	while (line && !read_frame(line, &p)) {
		line = strchr(line, '\n');
		line = line ? line + 1 : NULL;
	}
	for (; line; line = line ? line + 1 : NULL) {
		if (all.len && !read_frame(line, &p))
			break;
		vec_push(&all, p);
		own += p.line && !path_is_system(p.file);
		line = strchr(line, '\n');
	}
	for (size_t i = 0; i < all.len; i++) {
		const struct place *at = &all.data[i];
		bool is_own = at->line && !path_is_system(at->file);

		if (ret->len < PLACES_MOST && (is_own || (!own && !ret->len)))
			vec_push(ret, ((struct place){ .file = xstrdup(at->file),
						       .function = xstrdup(at->function),
						       .line = at->line }));
	}
	places_deinit(&all);
}
