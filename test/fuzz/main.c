/* test/fuzz/main.c - picks the target by FUZZ_TARGET. */
#include "test/fuzz/fuzz.h"

#include "base/err.h"
#include "base/file.h"
#include "base/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static const struct {
	const char *name;
	fuzz_target *run;
} targets[] = {
	{ "plait", fuzz_plait },	 { "schedule", fuzz_schedule },
	{ "script", fuzz_script },	 { "graph", fuzz_graph },
	{ "vectors", fuzz_vectors },	 { "profile", fuzz_profile },
	{ "store", fuzz_store },	 { "area", fuzz_area },
	{ "sites", fuzz_sites },	 { "folder", fuzz_folder },
	{ "reports", fuzz_reports },	 { "suppressions", fuzz_suppressions },
	{ "witness", fuzz_witness },	 { "dump", fuzz_dump },
	{ "paths", fuzz_paths },	 { "crumbs", fuzz_crumbs },
	{ "landmarks", fuzz_landmarks }, { "triage", fuzz_triage },
};
static fuzz_target *target;

const char *fuzz_base(const char *name)
{
	return xasprintf("%s/%s", getenv("FUZZ_BASE"), name);
}

const char *fuzz_file(const char *name, const uint8_t *data, size_t len)
{
	static char *path;

	if (!path)
		path = xasprintf("%s/%s", getenv("FUZZ_BASE"), name);
	err_free(file_write(path, data, len));
	return path;
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	const char *name = getenv("FUZZ_TARGET");

	(void)argc, (void)argv;
	for (size_t i = 0; name && i < ARRAY_SIZE(targets); i++)
		if (strcmp(targets[i].name, name) == 0)
			target = targets[i].run;
	if (target && getenv("FUZZ_BASE"))
		return 0;
	fprintf(stderr, "FUZZ_TARGET and FUZZ_BASE, please\n");
	exit(2);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	target(data, len);
	return 0;
}
