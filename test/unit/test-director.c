/* The director (run/director.c): a race between plain accesses of a binary that nobody instrumented. */
#include "base/err.h"
#include "base/file.h"
#include "run/director.h"

#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

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
	unsigned met = 0, passed = 0;

	cr_assert(!file_temp_dir(&folder));
	snprintf(path, sizeof(path), "%s/add.c", folder);
	cr_assert(!file_write(path, source, sizeof(source) - 1));
	snprintf(path, sizeof(path), "%s/add", folder);
	snprintf(core, sizeof(core), "%s/core", folder);
	snprintf(command, sizeof(command), "gcc -O2 -pthread -o %s %s.c", path, path);
	cr_assert_eq(system(command), 0);
	for (uint64_t seed = 1; seed <= 60 && !(met && passed); seed++) {
		struct director_options o = {
			.argv = (char *[]){ path, NULL }, .timeout = 60, .core = core, .seed = seed
		};

		cr_assert(!director_run(&o, &r));
		met += r.signal == SIGABRT && r.dumped;
		passed += r.exit_code == 0;
	}
	cr_assert(met, "no switch between the load and the store");
	cr_assert(passed, "every run failed");
	file_remove_tree(folder);
	free(folder);
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
