#include "base/arena.h"
#include "base/demangle.h"
#include "base/err.h"
#include "base/json.h"
#include "base/map.h"
#include "base/opt.h"
#include "base/printable.h"
#include "base/siphash.h"
#include "base/strbuf.h"
#include "base/vec.h"

#include <criterion/criterion.h>

Test(err, wrap_adds_context)
{
	struct err *err = err_wrap(err_new(ERR_ENV, "no %s", "disk"), "saving %d", 7);

	cr_assert_str_eq(err_message(err), "saving 7: no disk");
	cr_assert_eq(err_kind(err), ERR_ENV);
	err_free(err);
	cr_assert_null(err_wrap(NULL, "nothing"));
}

Test(vec, grows_and_pops)
{
	VEC(int) v = { 0 };

	for (int i = 0; i < 1000; i++)
		vec_push(&v, i);
	cr_assert_eq(v.len, 1000);
	for (int i = 999; i >= 0; i--)
		cr_assert_eq(vec_pop(&v), i);
	vec_deinit(&v);
}

Test(map, finds_what_was_put)
{
	struct map m = { 0 };

	cr_assert_null(map_find(&m, 0));
	for (uint64_t i = 0; i < 10000; i++)
		*map_put(&m, i * 7919, 0) += i;
	for (uint64_t i = 0; i < 10000; i++)
		cr_assert_eq(*map_find(&m, i * 7919), i);
	cr_assert_null(map_find(&m, 1));
	cr_assert_eq(m.entries[5].key, 5 * 7919, "iteration is in insertion order");
	map_deinit(&m);
}

Test(names, ids_are_dense)
{
	struct names n = { 0 };
	char text[16];

	for (int i = 0; i < 500; i++) {
		snprintf(text, sizeof(text), "n%d", i);
		cr_assert_eq(names_intern(&n, text), (uint32_t)i);
	}
	cr_assert_eq(names_intern(&n, "n42"), 42);
	cr_assert_eq(names_find(&n, "absent"), NAMES_NONE);
	names_deinit(&n);
}

Test(json, nests_and_escapes)
{
	struct json j;

	json_init(&j);
	j.compact = true;
	json_begin_object(&j, NULL);
	json_str(&j, "a", "q\"\\\n\x01\xff\xc3\xa9");
	json_begin_array(&j, "b");
	json_int(&j, NULL, -1);
	json_bool(&j, NULL, true);
	json_end(&j);
	json_end(&j);
	cr_assert_str_eq(strbuf_str(&j.out),
			 "{\"a\":\"q\\\"\\\\\\n\\u0001\\ufffd\xc3\xa9\",\"b\":[-1,true]}");
	json_deinit(&j);
}

Test(opt, stops_at_the_target_command)
{
	uint64_t runs = 0;
	bool all = false;
	const struct opt table[] = {
		OPT_U64('n', "runs", "N", &runs, ""),
		OPT_FLAG(0, "all", &all, ""),
		OPT_END,
	};
	char *words[] = { "-n3", "--all", "prog", "--runs", NULL };
	char **argv = words;
	int argc = 4;

	cr_assert_null(opt_parse(table, &argc, &argv));
	cr_assert_eq(runs, 3);
	cr_assert(all);
	cr_assert_eq(argc, 2);
	cr_assert_str_eq(argv[0], "prog");
}

Test(opt, bad_numbers_are_usage_errors)
{
	uint64_t runs = 0;
	const struct opt table[] = { OPT_U64('n', "runs", "N", &runs, ""), OPT_END };
	const char *bad[] = { "x", "-1", "", "1e" };

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		char *words[] = { "--runs", (char *)bad[i], NULL };
		char **argv = words;
		int argc = 2;
		struct err *err = opt_parse(table, &argc, &argv);

		cr_assert_not_null(err);
		cr_assert_eq(err_kind(err), ERR_USAGE);
		err_free(err);
	}
}

Test(arena, is_zeroed_and_aligned)
{
	struct arena a = { 0 };

	for (size_t i = 1; i < 3000; i += 7) {
		char *p = arena_alloc(&a, i);

		cr_assert_eq((uintptr_t)p % 16, 0);
		for (size_t k = 0; k < i; k++)
			cr_assert_eq(p[k], 0);
		memset(p, 0xff, i);
	}
	arena_deinit(&a);
}

Test(base, demangle)
{
	static const struct {
		const char *name, *text;
	} cases[] = {
		{ "_ZN10ThreadPool4workEv", "ThreadPool::work()" },
		{ "main", "main" },
		{ "_Znot a name", "_Znot a name" },
		{ "_ZNSt3mapINSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEEiSt4lessIS5_"
		  "ESaISt4pair"
		  "IKS5_iEEE4findERS9_",
		  "std::map<…>::find(std::__cxx11::basic_string<…> const&)" },
		{ "_ZlsRSoRK5Point", "operator<<(std::ostream&, Point const&)" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		char *text = demangle(cases[i].name);

		cr_expect_str_eq(text, cases[i].text);
		free(text);
	}
}

Test(base, own_name_of_a_function)
{
	static const char *const cases[][2] = {
		{ "work", "work" },
		{ "work.part.0", "work" },
		{ "_ZN10ThreadPool4workEv", "work" },
		{ "_ZL5parsePKc", "parse" },
		{ "parse(char const*)", "parse" },
		{ "int largest<int, long>(int, long)", "largest" },
		{ "largest<int, long>", "largest" },
		{ "(anonymous namespace)::look(int)", "look" },
		{ "Pool::Pool(int)::{lambda()#1}::operator()() const", "operator()" },
		{ "operator<<(std::ostream&, Point const&)", "operator<<" },
		{ "Pool::~Pool()", "~Pool" },
		{ "picojson::value::to_str[abi:cxx11]() const", "to_str" },
		{ "", "" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		char *own = function_own_name(cases[i][0]);

		cr_expect_str_eq(own, cases[i][1]);
		free(own);
	}
}

static void check_printable(const char *in, const char *want)
{
	char *got = printable(in);

	cr_assert_str_eq(got, want);
	free(got);
}

Test(printable, shows_what_a_terminal_would_obey)
{
	check_printable("", "");
	check_printable("plain text", "plain text");
	check_printable("a\033[2Jb\177", "a\\x1b[2Jb\\x7f");
	check_printable("two\nlines\tand\rmore", "two\\nlines\\tand\\x0dmore");
	check_printable("gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\xa7\xb5",
			"gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\xa7\xb5");
	/* a control of eight bits, as a byte and as UTF-8; a mark that turns the line around */
	check_printable("\x9b", "\\x9b");
	check_printable("\xc2\x9b", "\\u009b");
	check_printable("\xe2\x80\xae", "\\u202e");
	/* no UTF-8: cut off, too long a form, a surrogate, beyond the end */
	check_printable("\xc3", "\\xc3");
	check_printable("\xc1\x81", "\\xc1\\x81");
	check_printable("\xe0\x82\x9b", "\\xe0\\x82\\x9b");
	check_printable("\xed\xa0\x80", "\\xed\\xa0\\x80");
	check_printable("\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80");
	check_printable("\xff\xfe", "\\xff\\xfe");
	cr_assert_null(printable(NULL));
}

/* The first n of the bytes 0, 1, 2 ... under the key 0 .. 15, in pieces of every size. */
static void check_siphash(size_t n, const char *want)
{
	uint8_t key[SIPHASH_KEY], data[64], got[SIPHASH_LEN];
	struct siphash h;

	for (uint8_t i = 0; i < 64; i++)
		data[i] = i;
	memcpy(key, data, sizeof(key));
	for (size_t piece = 1; piece <= 64; piece++) {
		char text[2 * SIPHASH_LEN + 1];

		siphash_init(&h, key);
		for (size_t at = 0; at < n; at += piece)
			siphash_add(&h, data + at, n - at < piece ? n - at : piece);
		siphash_end(&h, got);
		for (size_t i = 0; i < SIPHASH_LEN; i++)
			snprintf(text + 2 * i, 3, "%02x", got[i]);
		cr_assert_str_eq(text, want);
	}
}

/* The values are those of `openssl mac -macopt size:16 SIPHASH`. */
Test(siphash, agrees_with_another_implementation)
{
	check_siphash(0, "a3817f04ba25a8e66df67214c7550293");
	check_siphash(1, "da87c1d86b99af44347659119b22fc45");
	check_siphash(7, "a1f1ebbed8dbc153c0b84aa61ff08239");
	check_siphash(8, "3b62a9ba6258f5610f83e264f31497b4");
	check_siphash(15, "5493e99933b0a8117e08ec0f97cfc3d9");
	check_siphash(16, "6ee2a4ca67b054bbfd3315bf85230577");
	check_siphash(63, "5150d1772f50834a503e069a973fbd7c");
}

Test(printable, a_report_keeps_lines_and_colours)
{
	struct strbuf out = { 0 };

	strbuf_add_printable_report(&out,
				    "\033[31mred\033[0m\tx\n\033[2Jgone\033]0;title\a \033[8m\n");
	cr_assert_str_eq(strbuf_str(&out), "\033[31mred\033[0m\tx\n\\x1b[2Jgone\\x1b]0;title\\x07 "
					   "\\x1b[8m\n");
	strbuf_deinit(&out);
}

Test(printable, words_for_a_shell)
{
	static const char *const cases[][2] = { { "fail.plait", "fail.plait" },
						{ "my plaits/a.plait", "'my plaits/a.plait'" },
						{ "it's", "'it'\\''s'" },
						{ "$(rm)", "'$(rm)'" },
						{ "", "''" } };

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct strbuf out = { 0 };

		strbuf_add_shell(&out, cases[i][0]);
		cr_assert_str_eq(strbuf_str(&out), cases[i][1]);
		strbuf_deinit(&out);
	}
}
