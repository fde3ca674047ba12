/* The director (run/director.c): a race between plain accesses of a binary that nobody instrumented. */
#include "base/err.h"
#include "base/file.h"
#include "run/director.h"
#include "run/perform.h"
#include "run/script.h"

#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char source[] =
	"#include <pthread.h>\n#include <stdlib.h>\n"
	"static int n;\n"
	"static void *add(void *arg) { for (int i = 0; i < 3; i++) { int old = *(volatile int *)&n;"
	" *(volatile int *)&n = old + 1; } return arg; }\n"
	"int main(void) { pthread_t t[2]; for (int i = 0; i < 2; i++) pthread_create(&t[i], 0, "
	"add, 0);\n"
	"for (int i = 0; i < 2; i++) pthread_join(t[i], 0); if (n != 6) abort(); return 0; }\n";

Test(director, meets_a_lost_update, .timeout = 120)
{
	char *folder = NULL, path[512], core[512], command[1200];
	struct director_result r = { 0 };
	struct turns_made made = { 0 };
	unsigned met = 0, passed = 0;

	cr_assert(!file_temp_dir(&folder));
	snprintf(path, sizeof(path), "%s/add.c", folder);
	cr_assert(!file_write(path, source, sizeof(source) - 1));
	snprintf(path, sizeof(path), "%s/add", folder);
	snprintf(core, sizeof(core), "%s/core", folder);
	snprintf(command, sizeof(command), "gcc -O2 -pthread -o %s %s.c", path, path);
	cr_assert_eq(system(command), 0);
	for (uint64_t seed = 1; seed <= 60 && !(met && passed); seed++) {
		struct director_options o = { .argv = (char *[]){ path, NULL },
					      .timeout = 60,
					      .core = core,
					      .seed = seed,
					      .made = &made };
		struct director_result again = { 0 };

		cr_assert(!director_run(&o, &r));
		met += r.signal == SIGABRT && r.dumped;
		passed += r.exit_code == 0;
		o.turns = made.data;
		o.nturns = made.len;
		cr_assert(!director_run(&o, &again));
		cr_assert_eq(again.signal, r.signal, "seed %lu", seed);
		cr_assert_eq(again.exit_code, r.exit_code);
		cr_assert_eq(again.missed, 0);
	}
	vec_deinit(&made);
	cr_assert(met, "no switch between the load and the store");
	cr_assert(passed, "every run failed");
	file_remove_tree(folder);
	free(folder);
}

static void same_again(const char *text)
{
	_cleanup_(strbuf_deinit) struct strbuf out = { 0 };
	struct script s = { 0 };

	cr_assert(!script_parse(text, strlen(text), &s));
	script_write(&s, &out);
	cr_assert_str_eq(strbuf_str(&out), text);
	script_deinit(&s);
}

static void refused(const char *text)
{
	struct script s = { 0 };
	struct err *err = script_parse(text, strlen(text), &s);

	cr_assert(err, "%s", text);
	err_free(err);
}

#define HEAD "unplait script 1\nprogram /opt/a b\n"

Test(script, is_text)
{
	same_again(HEAD "build-id 4f2a\nloader LD_LIBRARY_PATH=/x:/y\nsignal 11\nstack 11e9 120c\n"
			"turn 0 wait\nturn 0.1 11e9 3 2\n");
	same_again(HEAD "deadlock\nstack 1\nstack 2 3\n");
	refused("");
	refused("unplait script 2\nprogram x\n");
	refused("unplait script 1\nsignal 11\n"); /* of which program? */
	refused(HEAD "signal 0\n");
	refused(HEAD "signal 65\n");
	refused(HEAD "stack 0\n");
	refused(HEAD "turn 1 wait\n");
	refused(HEAD "turn 0.1 0 1 0\n");
	refused(HEAD "turn 0.1 5 0 0\n");
	refused(HEAD "turn 0.1 5 1\n");
	refused(HEAD "what 1\n");
}

/* A dump of any program, for those who want one of a race: see bench/13-synth. */
Test(director, dump_of_a_race, .timeout = 300)
{
	char *program = getenv("DIRECT_PROGRAM"), *core = getenv("DIRECT_CORE");
	struct director_result r = { 0 };

	if (!program || !core)
		cr_skip_test(
			"DIRECT_PROGRAM and DIRECT_CORE name what to run and where its dump goes");
	for (uint64_t seed = 1; seed <= 400 && !(r.signal && r.dumped); seed++) {
		struct director_options o = { .argv = (char *[]){ program, NULL },
					      .timeout = 60,
					      .core = core,
					      .seed = seed };

		cr_assert(!director_run(&o, &r));
	}
	cr_assert(r.signal && r.dumped);
}
