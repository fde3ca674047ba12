/* What a file of crumbs is, and what each line of a text says (crumbs/). */
#include "base/err.h"
#include "base/file.h"
#include "base/mem.h"
#include "crumbs/crumbs.h"
#include "crumbs/format.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct err *read_bytes(struct crumbs *c, const void *data, size_t len)
{
	char *folder = NULL, *path;
	struct err *err = file_temp_dir(&folder);

	cr_assert_null(err);
	path = xasprintf("%s/crumb", folder);
	cr_assert_null(file_write(path, data, len));
	err = crumbs_read(c, path);
	file_remove_tree(folder);
	free(folder);
	free(path);
	return err;
}

static struct err *read_text(struct crumbs *c, const char *text)
{
	return read_bytes(c, text, strlen(text));
}

static void refuses(const void *data, size_t len, const char *why)
{
	struct crumbs c = { 0 };
	struct err *err = read_bytes(&c, data, len);

	cr_assert(err && strstr(err_message(err), why), "%s", err ? err_message(err) : "accepted");
	err_free(err);
	crumbs_deinit(&c);
}

Test(crumbs, lines)
{
	struct crumbs c = { 0 };

	cr_assert_null(read_text(&c, "first\r\n\n  second 2 \nthird"));
	cr_assert_eq(c.lines.len, 3);
	cr_assert_str_eq(c.lines.data[0].text, "first");
	cr_assert_str_eq(c.lines.data[1].text, "  second 2");
	cr_assert_eq(c.lines.data[1].number, 3);
	cr_assert_eq(c.lines.data[2].number, 4);
	cr_assert(!c.branches.len && !c.checks.len && !c.uses.len && !c.plaits.len);
	crumbs_deinit(&c);
}

Test(crumbs, long_log)
{
	struct crumbs c = { 0 };
	char *text = xmalloc(30000 * 8 + 1);

	for (unsigned i = 0; i < 30000; i++)
		snprintf(text + 8 * i, 9, "x%06u\n", i);
	cr_assert_null(read_text(&c, text));
	cr_assert_eq(c.lines.len, 20000);
	cr_assert_eq(c.passed, 10000);
	cr_assert_str_eq(c.lines.data[0].text, "x010000");
	cr_assert_eq(c.lines.data[0].number, 10001);
	cr_assert_str_eq(c.lines.data[19999].text, "x029999");
	free(text);
	crumbs_deinit(&c);
}

Test(crumbs, branches)
{
	struct crumbs c = { 0 };

	cr_assert_null(read_text(
		&c, "prog 4711 1.5:  0x401136/0x401180/P/-/-/3  0x40117b/0x401130/M/-/-/0\n"
		    "  0x5012(/bin/prog)/0x5040(/bin/prog)/P/-/-/1 "
		    "0x5000/0x500a/-/-/-/0//COND/NON_SPEC\n"
		    "copied a/b/P of 12/30/2024\n"));
	cr_assert_eq(c.branches.len, 2, "the last record counts");
	cr_assert_eq(c.branches.data[0].from, 0x5012);
	cr_assert_eq(c.branches.data[0].to, 0x5040);
	cr_assert_eq(c.branches.data[1].to, 0x500a);
	cr_assert_eq(c.lines.len, 1, "a date is no branch");
	crumbs_deinit(&c);
}

Test(crumbs, traces_of_branches)
{
	struct crumbs c = { 0 };

	cr_assert_null(read_text(
		&c,
		"prog 7 [001] 1.1: 1 branches:u: 401000 a+0x0 (/p) => 401800 b+0x0 (/p)\n"
		" instruction trace error type 1 time 1.2 cpu 1 pid 7 tid 7 ip 0 code 6: lost\n"
		"prog 7 [001] 1.3: 1 branches:u: 401136 a+0x4 (/p) => 401180 b+0x0 (/p)\n"
		"prog 7 [001] 1.4: 1 branches:u: 401188 b+0x8 (/p) => ffffffff81000000 [unknown]\n"
		"    401190 b+0x10 (/p) =>     40113b a+0x9 (/p)\n"
		"copied a => b\n"));
	cr_assert_eq(c.branches.len, 2, "a gap hides what lies before it, the kernel comes back");
	cr_assert_eq(c.branches.data[0].from, 0x401190, "the newest first");
	cr_assert_eq(c.branches.data[0].to, 0x40113b);
	cr_assert_eq(c.branches.data[1].from, 0x401136);
	cr_assert_eq(c.lines.len, 1, "an arrow alone is no branch");
	crumbs_deinit(&c);
}

Test(crumbs, histories_of_instructions)
{
	struct crumbs c = { 0 };

	cr_assert_null(read_text(&c,
				 "[disabled]\n"
				 "1\t   0x0000000000401130 <main+0>:\tcmp    $0x1,%edi\n"
				 "2\t   0x0000000000401133 <main+3>:\tje     0x401140 <main+16>\n"
				 "3\t   0x0000000000401135 <main+5>:\tjmp    *%rax\n"
				 "4\t   0x0000000000401200:\tcall   0x401300 <f>\n"
				 "5\t   0x0000000000401300 <f+0>:\tbnd jne 0x401310 <f+16>\n"
				 "6\t   0x0000000000401310 <f+16>:\tret\n"
				 "7\t   0x0000000000401205:\tnop\n"));
	cr_assert_eq(c.branches.len, 4, "the first jump was not taken");
	cr_assert_eq(c.branches.data[3].from, 0x401135);
	cr_assert_eq(c.branches.data[3].to, 0x401200);
	cr_assert_eq(c.branches.data[1].from, 0x401300);
	cr_assert_eq(c.branches.data[0].from, 0x401310);
	cr_assert_eq(c.branches.data[0].to, 0x401205);
	cr_assert_eq(c.lines.len, 0);
	crumbs_deinit(&c);
}

static struct crumb_check check_of(const char *line)
{
	static struct crumbs c;

	c = (struct crumbs){ 0 }; /* leaves the last one to the end of the process */
	cr_assert_null(read_text(&c, line));
	cr_assert_eq(c.checks.len, 1, "%s", line);
	return c.checks.data[0];
}

Test(crumbs, machine_checks)
{
	struct crumb_check k = check_of("[ 12.5] Memory failure: 0x1a2b: Killing a:b:4711 due to "
					"hardware memory corruption");

	cr_assert(k.uncorrected && k.pid_known && k.pid == 4711);
	cr_assert_str_eq(k.program, "a:b");
	k = check_of("mce: [Hardware Error]: CPU 2: Machine Check Exception: 5 Bank 4: "
		     "be00000000800400");
	cr_assert(k.uncorrected && !k.pid_known);
	k = check_of("mce: [Hardware Error]: CPU 2: Machine Check: 0 Bank 7: 8c00004000010090");
	cr_assert(!k.uncorrected);
	k = check_of("STATUS bd80000000100134 MCGSTATUS 5");
	cr_assert(k.uncorrected);
	k = check_of("STATUS 9c00000000100134 MCGSTATUS 0");
	cr_assert(!k.uncorrected);
	cr_assert(
		check_of("EDAC MC0: 1 UE memory read error on CPU_SrcID#0_Ha#0_Chan#1 (channel:1)")
			.uncorrected);
	cr_assert(
		!check_of("EDAC MC0: 1 CE memory read error on CPU_SrcID#0_Ha#0_Chan#1 (channel:1)")
			 .uncorrected);
	cr_assert(
		check_of(
			"<idle>-0 [1] 0.1 mce_record: 2024-01-01 bank=1, status= be00000000800400, "
			"Uncorrected_error, mci=Error_overflow")
			.uncorrected);
	cr_assert(
		!check_of("rasdaemon: mc_event: 1 Corrected error: memory read error").uncorrected);
	cr_assert(check_of("mce: Uncorrected hardware memory error in user-access at 3f0c8000")
			  .uncorrected);
}

Test(crumbs, fingerprint)
{
	static const char text[] = "{\"unplait\": 1, \"command\": \"watch\", \"threads\": "
				   "[{\"thread\": \"0.1\", \"tid\": 7, "
				   "\"holds\": [{\"lock\": {\"name\": \"a\"}, \"stack\": "
				   "[{\"function\": \"f\", \"file\": "
				   "\"x.c\", \"line\": 3, \"module\": \"/p\", \"build_id\": "
				   "\"ab\", \"offset\": \"0x12\"}]}], "
				   "\"wants\": {\"lock\": {}, \"stack\": []}}]}";
	struct crumbs c = { 0 };

	cr_assert_null(read_text(&c, text));
	cr_assert_eq(c.uses.len, 2);
	cr_assert_str_eq(c.uses.data[0].lock, "a");
	cr_assert(!c.uses.data[0].wanted && c.uses.data[1].wanted && c.uses.data[0].tid == 7);
	cr_assert_str_eq(c.uses.data[0].points[0].function, "f");
	cr_assert_eq(c.uses.data[0].points[0].line, 3);
	cr_assert_eq(c.uses.data[0].points[0].offset, 0x12);
	cr_assert_str_eq(c.uses.data[0].points[0].build_id, "ab");
	crumbs_deinit(&c);
}

Test(crumbs, bad)
{
	refuses("", 0, "empty");
	refuses("a\0b", 3, "no crumb");
	refuses("{\"command\"", 10, "damaged");
	refuses("{\"command\": \"hunt\"}", 19, "no fingerprint");
	refuses("{\"command\": \"watch\", \"threads\": [3, {}]}", 40, "holds or wants");
}

Test(crumbs, formats)
{
	cr_assert_eq(format_fits("opened %s\n", "opened a file"), 7);
	cr_assert_eq(format_fits("opened %s\n", "12:30 prog[7]: opened a file"), 7, "a prefix");
	cr_assert_eq(format_fits("opened %d files\n", "opened 12 files"), 13);
	cr_assert_eq(format_fits("opened %d files\n", "opened no files"), 0);
	cr_assert_eq(format_fits("opened %d files\n", "opened 12 files twice"), 0);
	cr_assert_eq(format_fits("opened %d files", "opened 12 files twice"), 13);
	cr_assert_eq(format_fits("%s\n", "anything"), 0, "it fits everything");
	cr_assert_eq(format_fits("at %p: %5.2f%% done\n", "at 0x7ffe12: 33.25% done"), 11);
	cr_assert_eq(format_fits("usage: x\n  -v  more words\n", "  -v  more words"), 16);
	cr_assert_eq(
		format_fits("%s%s%s%s%s%s%s%s abc!\n", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"),
		0);
	cr_assert_eq(format_fits("", "x"), 0);
	cr_assert_eq(format_fits("abc%", "abc"), 3);
	cr_assert_eq(format_fits("puts does", "puts does"), 9);
	cr_assert_eq(format_fits_with("%d app: %s\n", "kept %s", "12 app: kept a copy"), 11);
	cr_assert_eq(format_fits_with("%d app: %s!\n", "kept", "12 app: kept a copy"), 0);
	cr_assert_eq(format_fits_with("app: none\n", "none", "app: none"), 0, "it takes no string");
}
