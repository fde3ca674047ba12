#include "base/path.h"

#include "base/mem.h"
#include "base/strbuf.h"

#include <string.h>

/* Back to the end of the folder above; false when ".." has to stay. */
static bool drop_last(struct strbuf *out, size_t begin)
{
	size_t at = out->len;

	if (at == begin)
		return false;
	if (at == begin + 1 && out->data[begin] == '/')
		return true; /* the root is its own parent */
	while (at > begin && out->data[at - 1] != '/')
		at--;
	if (out->len - at == 2 && strncmp(out->data + at, "..", 2) == 0)
		return false;
	out->len = at > begin + 1 ? at - 1 : at;
	out->data[out->len] = 0;
	return true;
}

static void add_clean(const char *path, struct strbuf *out)
{
	size_t begin = out->len;

	if (*path == '/')
		strbuf_addc(out, '/');
	while (*path) {
		size_t n;

		path += strspn(path, "/");
		n = strcspn(path, "/");
		if (n == 0 || (n == 1 && path[0] == '.')) {
			path += n;
			continue;
		}
		if (n != 2 || strncmp(path, "..", 2) != 0 || !drop_last(out, begin)) {
			if (out->len > begin && out->data[out->len - 1] != '/')
				strbuf_addc(out, '/');
			strbuf_add(out, path, n);
		}
		path += n;
	}
}

void path_shorten(const char *path, const char *folder, struct strbuf *out)
{
	struct strbuf clean = { 0 }, above = { 0 };
	const char *from;

	add_clean(path, &clean);
	add_clean(folder ? folder : "", &above);
	from = strbuf_str(&clean);
	if (above.len > 1 && strncmp(from, strbuf_str(&above), above.len) == 0 &&
	    from[above.len] == '/')
		from += above.len + 1;
	strbuf_adds(out, from);
	strbuf_deinit(&clean);
	strbuf_deinit(&above);
}

bool path_is_system(const char *path)
{
	return strncmp(path, "/usr/", 5) == 0;
}

bool path_is_runtime(const char *path)
{
	static const char *const rooms[] = { "rt/control/", "rt/core/", "rt/interpose/", "rt/log/",
					     "rt/modes/" };

	for (size_t i = 0; i < ARRAY_SIZE(rooms); i++) {
		const char *at = strstr(path, rooms[i]);

		if (at && (at == path || at[-1] == '/'))
			return true;
	}
	return false;
}

const char *path_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}
