/* Files that a plait carries: what is written is read back, and damage is refused. */
#include "base/err.h"
#include "base/file.h"
#include "base/mem.h"
#include "run/inputs.h"
#include "unplait/control.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void add(struct inputs *in, enum input_kind kind, const char *name, const char *data)
{
	struct input i = { .kind = kind,
			   .name = xstrdup(name),
			   .path = xasprintf("/there/%s", name),
			   .size = strlen(data),
			   .data = kind == INPUT_FILE ? xstrdup(data) : NULL };

	i.hash = 0x44bc2cf5ad770999ull; /* XXH64("abc", seed 0) */
	vec_push(in, i);
}

static void example(struct strbuf *out)
{
	struct inputs in = { 0 };

	add(&in, INPUT_FILE, "a name with\nlines", "abc");
	add(&in, INPUT_ABSENT, "none", "");
	add(&in, INPUT_LARGE, "large", "abc");
	add(&in, INPUT_FOLDER, "folder", "");
	inputs_write(&in, out);
	inputs_deinit(&in);
}

Test(inputs, round_trip)
{
	struct strbuf text = { 0 };
	struct inputs in = { 0 };

	example(&text);
	cr_assert_null(inputs_parse(strbuf_str(&text), text.len, &in));
	cr_assert_eq(in.len, 4);
	cr_assert_eq(in.data[0].kind, INPUT_FILE);
	cr_assert_str_eq(in.data[0].name, "a name with\nlines");
	cr_assert_str_eq(in.data[0].data, "abc");
	cr_assert_eq(in.data[1].kind, INPUT_ABSENT);
	cr_assert_eq(in.data[2].size, 3);
	cr_assert_str_eq(in.data[3].path, "/there/folder");
	inputs_deinit(&in);
	strbuf_deinit(&text);
}

/* Every single byte changed, every length cut: refused or read, never a crash. */
Test(inputs, damage)
{
	struct strbuf text = { 0 };
	size_t refused = 0;

	example(&text);
	for (size_t i = 0; i < text.len; i++) {
		char *copy = xcalloc(1, text.len);
		struct inputs in = { 0 };
		struct err *err = inputs_parse(strbuf_str(&text), i, &in);

		cr_assert(err, "cut at %zu", i);
		err_free(err);
		memcpy(copy, strbuf_str(&text), text.len);
		copy[i] ^= 0x15;
		err = inputs_parse(copy, text.len, &in);
		refused += err != NULL;
		err_free(err);
		inputs_deinit(&in);
		free(copy);
	}
	cr_assert(refused > text.len / 3);
	strbuf_deinit(&text);
}

static void name_it(struct plait_inputs *p, char how, const char *name, const char *path)
{
	p->named[p->named_len] = how;
	memcpy(p->named + p->named_len + 1, name, strlen(name) + 1);
	memcpy(p->named + p->named_len + 2 + strlen(name), path, strlen(path) + 1);
	p->named_len += (uint32_t)(3 + strlen(name) + strlen(path));
}

/* What was written by the run is no input; what is given is found again in a folder of ours. */
Test(inputs, collect_and_place)
{
	struct plait_inputs *p = xcalloc(1, sizeof(*p));
	struct inputs in = { 0 };
	struct strbuf text = { 0 };
	char *dir = NULL, *file, *none, *given;

	cr_assert_null(file_temp_dir(&dir));
	file = xasprintf("%s/read", dir);
	cr_assert_null(file_write(file, "abc", 3));
	name_it(p, 'r', "read", file);
	none = xasprintf("%s/none", dir);
	name_it(p, 'r', "none", none);
	name_it(p, 'r', "made", file);
	name_it(p, 'w', "made", "/made");
	name_it(p, 'r', "made2", "/made");
	inputs_collect(p, &in);
	cr_assert_eq(in.len, 3);
	cr_assert_eq(in.data[0].size, 3);
	cr_assert_eq(in.data[1].kind, INPUT_ABSENT);
	unlink(file);
	cr_assert_null(inputs_place(&in, dir, p));
	given = p->given + strlen(p->given) + 1;
	cr_assert_str_eq(p->given, "read");
	cr_assert_null(file_read(given, &text));
	cr_assert_str_eq(strbuf_str(&text), "abc");
	file_remove_tree(dir);
	strbuf_deinit(&text);
	inputs_deinit(&in);
	free(file);
	free(none);
	free(dir);
	free(p);
}
