/* test/fuzz/fuzz.h - one libFuzzer program for every reader of files that may come from anywhere.
 * FUZZ_TARGET names the reader, FUZZ_BASE a folder with good files to damage. Whatever the bytes,
 * a reader says no or hands out what it found, reads nothing outside, and ends. */
#ifndef FUZZ_FUZZ_H
#define FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>

typedef void fuzz_target(const uint8_t *data, size_t len);

fuzz_target fuzz_plait, fuzz_schedule, fuzz_script, fuzz_graph, fuzz_vectors, fuzz_profile,
	fuzz_store, fuzz_area, fuzz_sites, fuzz_folder, fuzz_reports, fuzz_suppressions,
	fuzz_witness, fuzz_dump, fuzz_paths, fuzz_crumbs, fuzz_landmarks, fuzz_triage;

/* FUZZ_BASE/name; keep it, and never free it. */
const char *fuzz_base(const char *name);
/* A file of our own with these bytes; the same path every time. */
const char *fuzz_file(const char *name, const uint8_t *data, size_t len);

#endif
