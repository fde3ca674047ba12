/* bench/06-coop-cost.c - what cooperative recording and the comparison of its logs cost: 000 tables
 * 3.5, 3.10 and 3.11, and the growth of ranking.
 *
 * usage: bench-coop-cost compare FOLDER | growth | overhead FOLDER BEST ROUNDS [PROGRAM]
 * FOLDER holds the cured corpus programs as fixed-NAME, built with unplait cc; BEST is a file of lines
 * "order|block PROGRAM SCHEME ATTEMPTS", the scheme that reproduced with the fewest attempts. */
#include "base/err.h"
#include "base/file.h"
#include "base/log.h"
#include "base/strbuf.h"
#include "coop/program.h"
#include "run/run.h"
#include "unplait/vectors.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static _Noreturn void die(struct err *err)
{
	fprintf(stderr, "bench-coop-cost: %s\n", err_message(err));
	exit(3);
}

/* ---- comparing two logs (table 3.5) ---- */

enum { ELEMENTS = 16, THREADS = 4, CHUNK_WORDS = 16384 - 4 };

/* A section of vectors of about `size` bytes. The second log has every other vector of the first,
 * and in the rest one run in a hundred is different. */
static void write_log(const char *path, uint64_t size, bool second)
{
	struct plait_vectors_header h = { .version = PLAIT_VECTORS_VERSION,
					  .mode = PLAIT_MODE_ORDER,
					  .used = size };
	static uint32_t chunk[4 + CHUNK_WORDS];
	uint32_t sequence[ELEMENTS] = { 0 }, *words = chunk + 4;
	uint64_t left = size > sizeof(h) ? size - sizeof(h) : 0;
	FILE *f = fopen(path, "w");

	memcpy(h.magic, PLAIT_VECTORS_MAGIC, 8);
	if (!f || fwrite(&h, sizeof(h), 1, f) != 1)
		exit(3);
	for (uint32_t e = 0; left > 20; e = (e + 1) % ELEMENTS) {
		uint32_t n = (uint32_t)MIN(CHUNK_WORDS, MAX(1, MIN(size / ELEMENTS, left) / 4 - 4));

		chunk[0] = e;
		chunk[1] = sequence[e];
		chunk[2] = n;
		chunk[3] = 1;
		for (uint32_t i = 0; i < n; i++) {
			uint64_t x = hash_u64(((uint64_t)e << 56) ^ ((uint64_t)sequence[e] << 24) ^ i);
			bool other = second && e % 2 && x >> 20 & 1 && x >> 32 & 63;

			/* never the same thread twice in a row: a run each */
			words[i] = (i % 2 ? 2 : 0) + (uint32_t)(x & 1) +
				   (uint32_t)(1 + (x >> 8 & 3) + other)
					   * (1u << PLAIT_VECTORS_THREAD_BITS);
		}
		sequence[e]++;
		if (fwrite(chunk, 4, n + 4, f) != n + 4)
			exit(3);
		left -= MIN(left, 4ull * (n + 4));
	}
	if (fclose(f) != 0)
		exit(3);
}

static double cpu_seconds(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
	       1e-6 * (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

static double read_seconds(const char *path)
{
	static char buffer[1 << 20];
	double start = cpu_seconds();
	int fd = open(path, O_RDONLY);

	while (fd >= 0 && read(fd, buffer, sizeof(buffer)) > 0)
		;
	close(fd);
	return cpu_seconds() - start;
}

static void load(struct coop *c, const char *path)
{
	static const char *const threads[THREADS] = { "0", "0.1", "0.2", "0.3" };
	int fd = open(path, O_RDONLY);
	off_t size = lseek(fd, 0, SEEK_END);
	void *data = mmap(NULL, (size_t)size, PROT_READ, MAP_PRIVATE, fd, 0);
	const char *wrong;

	if (data == MAP_FAILED)
		exit(3);
	wrong = coop_load_section(c, path, "failed", threads, THREADS, data, (size_t)size);
	if (wrong) {
		fprintf(stderr, "bench-coop-cost: %s: %s\n", path, wrong);
		exit(3);
	}
	munmap(data, (size_t)size);
	close(fd);
}

static void compare_row(const char *folder, uint64_t size, const char *name, const double *published)
{
	_cleanup_(xfreep) char *a = xasprintf("%s/a", folder), *b = xasprintf("%s/b", folder);
	double reading, start, boot;
	struct coop c = { 0 };
	struct rusage u;

	write_log(a, size, false);
	write_log(b, size, true);
	reading = read_seconds(a) + read_seconds(b);
	start = cpu_seconds();
	load(&c, a);
	load(&c, b);
	coop_choose(&c, 0);
	boot = cpu_seconds() - start;
	printf("| %s | %.3f | %.3f (%.3f) |", name, reading, boot, published[0]);
	for (enum coop_metric m = COOP_PSIM; m <= COOP_DHS; m++) {
		volatile double similarity;

		start = clock_seconds();
		similarity = coop_similarity(&c, m, 0, 1);
		(void)similarity;
		printf(" %.6f (%.3f) |", clock_seconds() - start, published[1 + m]);
	}
	getrusage(RUSAGE_SELF, &u);
	printf(" %ld |\n", u.ru_maxrss / 1024);
	fflush(stdout);
	coop_deinit(&c);
	unlink(a);
	unlink(b);
}

static void compare_table(const char *folder)
{
	static const double published[][4] = {
		{ 0.031, 0.001, 0.001, 0.002 },	    { 0.139, 0.001, 0.001, 0.010 },
		{ 0.477, 0.003, 0.004, 0.014 },	    { 1.712, 0.004, 0.007, 0.032 },
		{ 17.037, 0.005, 0.008, 0.489 },    { 119.413, 0.016, 0.022, 4.121 },
		{ 1202.054, 0.024, 0.032, 40.078 },
	};
	static const char *const names[] = { "1 KB",  "10 KB",	"100 KB", "1 MB",
					     "10 MB", "100 MB", "1 GB" };
	uint64_t size = 1000;

	printf("## Comparing two logs (000 table 3.5)\n\nSeconds (of reading and bootstrapping: of the processor); published in brackets. Reading: both files, with "
	       "read() and nothing else. Bootstrapping: from the file to deduplicated vectors. The logs have "
	       "16 elements, half of the vectors in common.\n\n"
	       "| log size | reading | bootstrapping | PSIM | DSIM | DHS | peak MB |\n|---|---|---|---|---|---|---|\n");
	for (size_t i = 0; i < ARRAY_SIZE(names); i++, size *= 10)
		compare_row(folder, size, names[i], published[i]);
	puts("");
}

/* ---- ranking many logs ---- */

/* Made-up logs of 20 elements, 25 % recorded; half of the elements calm, half scattered. */
static void many_logs(void)
{
	printf("## Ranking many logs\n\nLogs of 20 elements at 25 %% (SGM, DSIM); goal: 100 000 in under a minute and 4 GB.\n\n"
	       "| logs | seconds | peak MB |\n|---|---|---|\n");
	for (uint32_t n = 25000; n <= 100000; n *= 2) {
		struct coop_rank_options o = { COOP_SGM, COOP_DSIM, 0 };
		struct coop c = { 0 };
		struct coop_ranking r;
		struct rusage u;
		uint64_t state = 1;
		double start;

		for (uint32_t e = 0; e < 20; e++)
			coop_element(&c, e, "");
		for (uint32_t i = 0; i < n; i++) {
			coop_begin_log(&c, "log", "failed");
			for (uint32_t e = 0; e < 20; e++) {
				uint64_t k = hash_u64(++state) % (e < 10 ? 1 + e : 1ull << e);
				struct coop_run runs[16];

				for (unsigned x = 0; x < 16; x++)
					runs[x] = (struct coop_run){ x % 3, 1 + (k >> 2 * x & 3) };
				if (hash_u64(~state) % 4 == 0)
					coop_add(&c, e, runs, 16);
			}
			coop_end_log(&c);
		}
		coop_choose(&c, 0);
		start = clock_seconds();
		coop_rank(&c, &o, &r);
		getrusage(RUSAGE_SELF, &u);
		printf("| %u | %.1f | %ld |\n", n, clock_seconds() - start, u.ru_maxrss / 1024);
		fflush(stdout);
		coop_ranking_deinit(&r);
		coop_deinit(&c);
	}
	puts("");
}

/* ---- recording (tables 3.10 and 3.11) ---- */

enum { ORDER, BLOCK };
static const struct program {
	const char *name, *args[5];
	/* tables 3.10 and 3.11 by ORDER and BLOCK: the full scheme, and the best of CoopREP */
	int percent[2], best[2];
	double kb[2], best_kb[2];
	double accesses; /* tables 3.2 and 3.6 */
} programs[] = {
	{ "boundedbuffer", { "2", "2", "20000", "4" }, { 42, 22 }, { 15, 11 }, { 6, 45 }, { 3, 4 }, 525 },
	{ "bubblesort", { "1000", "4" }, { 50, 276 }, { 23, 21 }, { 600, 1200 }, { 209, 63 }, 52495 },
	{ "bufferwriter", { "4", "300000" }, { 68, 149 }, { 40, 131 }, { 3300, 214 }, { 988, 164 }, 130597 },
	{ "deadlock", { "100000" }, { 2, 5 }, { 1, 1 }, { 0.5, 0.5 }, { 0.4, 0.4 }, 12 },
	{ "manager", { "4", "4000" }, { 38, 37 }, { 29, 34 }, { 107, 29 }, { 23, 19 }, 2368 },
	{ "piper", { "2", "2", "20000" }, { 14, 60 }, { 12, 26 }, { 7, 17 }, { 5, 8 }, 580 },
	{ "producerconsumer", { "2", "2", "20000" }, { 52, 51 }, { 30, 22 }, { 8, 15 }, { 4, 27 }, 576 },
	{ "ticketorder", { "4", "250" }, { 111, 109 }, { 69, 67 }, { 71, 72 }, { 53, 57 }, 6662 },
	{ "twostage", { "1", "2", "200000" }, { 116, 128 }, { 42, 98 }, { 52, 138 }, { 33, 111 }, 27103 },
	{ "tomcat37458", { "8", "250" }, { 12, 6 }, { 2, 4 }, { 3, 3.4 }, { 2, 3.1 }, 89 },
	{ "derby2861", { "8", "8", "900" }, { 52, 95 }, { 43, 51 }, { 27, 171 }, { 20, 116 }, 2509 },
	{ "weblech", { "8", "250" }, { 12, 12 }, { 2, 4 }, { 2, 2 }, { 0.6, 0.4 }, 54 },
	{ "cache4j", { "20000", "4" }, { 23, 43 }, { 5, 17 }, { 3, 3 }, { 0.9, 1 }, 129 },
};
static const char *const modes[] = { "order", "block" };
static const char *const schemes[] = { "1SPE", "25%", "50%", "75%", "100%" };
enum { FULL = ARRAY_SIZE(schemes) - 1, PROFILES = 3 };

struct cost {
	double seconds, bytes, accesses;
};

/* One run: processor seconds (other load hardly matters), bytes and accesses of its vectors. mode
 * NULL: as it is. */
static struct cost timed(char **argv, const char *mode, const char *profile)
{
	struct cost cost = { 0 };
	char *dir = NULL;
	struct err *err = file_temp_dir(&dir);
	struct rusage used;
	int status;
	pid_t pid;

	if (err)
		die(err);
	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		_cleanup_(xfreep) char *options = xasprintf("profile=%s", profile ? profile : "");

		if (!freopen("/dev/null", "w", stdout))
			_exit(127);
		if (mode) {
			setenv("UNPLAIT_MODE", mode, 1);
			setenv("UNPLAIT_DIR", dir, 1);
			setenv("UNPLAIT_OPTIONS", options, 1);
		}
		execv(argv[0], argv);
		_exit(127);
	}
	wait4(pid, &status, 0, &used);
	if (status)
		fprintf(stderr, "bench-coop-cost: %s ended with status %d\n", argv[0], status);
	cost.seconds = (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
		       1e-6 * (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
	if (mode) {
		_cleanup_(xfreep) char *path = xasprintf("%s/vectors", dir);
		struct strbuf text = { 0 };

		if (!file_read(path, &text)) {
			const struct plait_vectors_header *h = (const void *)text.data;
			size_t at = sizeof(*h);

			cost.bytes = (double)h->used;
			while (at + sizeof(struct plait_vectors_chunk) <= h->used) {
				const struct plait_vectors_chunk *c = (const void *)(text.data + at);

				for (uint32_t i = 0; c->reserved && i < c->nwords && c->words[i]; i++)
					cost.accesses += c->words[i] >> PLAIT_VECTORS_THREAD_BITS;
				at += sizeof(*c) + c->nwords * 4ull;
				if (!c->nwords)
					break;
			}
		}
		strbuf_deinit(&text);
	}
	file_remove_tree(dir);
	free(dir);
	return cost;
}

struct recording {
	double plain;
	struct cost scheme[ARRAY_SIZE(schemes)];
};

static struct cost least(struct cost a, struct cost b)
{
	return a.seconds && a.seconds < b.seconds ? a : b;
}

static void write_profiles(struct coop_program *p, const char *folder)
{
	static const double shares[] = { 0, 0.25, 0.5, 0.75 };
	bool *chosen = xcalloc(p->elements.len + 1, sizeof(*chosen));

	for (unsigned s = 0; s <= FULL; s++) {
		for (uint32_t k = 0; k < PROFILES; k++) {
			struct plan_options o = { s < FULL ? shares[s] : 1, PROFILES, 1, false };
			_cleanup_(xfreep) char *path = xasprintf("%s/p%u.%u", folder, s, k);
			struct strbuf text = { 0 };
			struct err *err;

			plan_choose(p, &o, k, chosen);
			profile_write(p, s < FULL ? chosen : NULL, &text);
			err = file_write(path, text.data, text.len);
			strbuf_deinit(&text);
			if (err)
				die(err);
		}
	}
	free(chosen);
}

/* All schemes in turn, `rounds` times, the least of each; three profiles of each (the full one
 * thrice). */
static void record(const char *folder, const struct program *x, int mode, int rounds,
		   struct recording *ret)
{
	_cleanup_(xfreep) char *binary = xasprintf("%s/fixed-%s", folder, x->name);
	char *argv[7] = { binary }, *tiny[2] = { binary, NULL };
	struct target target = { .argv = tiny };
	struct cost of[FULL + 1][PROFILES] = { 0 };
	struct coop_program *p = NULL;
	struct session *s = NULL;
	struct err *err =
		coop_program_open(binary, mode == BLOCK ? PLAIT_MODE_BLOCK : PLAIT_MODE_ORDER, &p);

	*ret = (struct recording){ .plain = 1e9 };
	for (int k = 0; k < 5; k++)
		argv[k + 1] = (char *)x->args[k];
	if (!err)
		err = session_open(&target, &s);
	if (!err)
		err = fleet_pilot(s, p, 4, 1);
	if (err)
		die(err);
	write_profiles(p, folder);
	for (int r = 0; r < rounds; r++) {
		ret->plain = MIN(ret->plain, timed(argv, NULL, NULL).seconds);
		for (unsigned i = 0; i <= FULL; i++) {
			for (int k = 0; k < PROFILES; k++) {
				_cleanup_(xfreep) char *path = xasprintf("%s/p%u.%d", folder, i, k);

				of[i][k] = least(of[i][k], timed(argv, modes[mode], path));
			}
		}
	}
	for (unsigned i = 0; i <= FULL; i++) {
		for (int k = 0; k < PROFILES; k++) {
			ret->scheme[i].seconds += of[i][k].seconds / PROFILES;
			ret->scheme[i].bytes += of[i][k].bytes / PROFILES;
			ret->scheme[i].accesses += of[i][k].accesses / PROFILES;
		}
	}
	session_close(s);
	coop_program_close(p);
}

/* The scheme that reproduced best, from the file; FULL when it says nothing. */
static unsigned best_scheme(const struct strbuf *best, int mode, const char *name, char *how)
{
	_cleanup_(xfreep) char *text = xstrndup(strbuf_str(best), best->len);
	char *save = NULL;

	for (char *l = strtok_r(text, "\n", &save); l; l = strtok_r(NULL, "\n", &save)) {
		char m[16], program[64], attempts[16];

		if (sscanf(l, "%15s %63s %15s %15s", m, program, how, attempts) != 4 ||
		    strcmp(m, modes[mode]) != 0 || strcmp(program, name) != 0)
			continue;
		for (unsigned i = 0; i < FULL; i++)
			if (strstr(how, schemes[i]))
				return i;
	}
	snprintf(how, 16, "?");
	return FULL;
}

static void overhead_tables(const char *folder, const char *best_path, int rounds, const char *only)
{
	struct strbuf best = { 0 }, sizes = { 0 };
	struct err *err = file_read(best_path, &best);

	if (err)
		die(err);
	printf("## Recording (000 table 3.10)\n\nProcessor time as a ratio to the same binary not recording: least of %d runs, "
	       "mean of three profiles. Best: the scheme that needed the fewest attempts, and among those recorded the least "
	       "(coop). Published: the ratio of LEAP or PRES-BB, and of the best scheme, in brackets.\n\n"
	       "| program (cured) | mode | plain | 1SPE | 25 %% | 50 %% | 75 %% | 100 %% | best |\n"
	       "|---|---|---|---|---|---|---|---|---|\n",
	       rounds);
	strbuf_adds(&sizes, "\n## Log sizes (000 table 3.11)\n\nBytes of the vectors of the same runs; per access beside LEAP's and PRES-BB's "
			    "log divided by the accesses of tables 3.2 and 3.6 (goal: a third of it). The runs are not the published ones: "
			    "they are longer, so kilobytes do not compare, bytes per access do.\n\n"
			    "| program (cured) | mode | accesses | 1SPE | 25 % | 50 % | 75 % | 100 % | best / full | bytes per access | ratio |\n"
			    "|---|---|---|---|---|---|---|---|---|---|---|\n");
	for (int mode = ORDER; mode <= BLOCK; mode++) {
		for (size_t i = 0; i < ARRAY_SIZE(programs); i++) {
			const struct program *x = &programs[i];
			struct recording r;
			char how[16];
			unsigned b;
			double per, published;

			if (only && strcmp(only, x->name) != 0)
				continue;
			record(folder, x, mode, rounds, &r);
			b = best_scheme(&best, mode, x->name, how);
			printf("| %s | %s | %.0f ms |", x->name, modes[mode], 1e3 * r.plain);
			strbuf_addf(&sizes, "| %s | %s | %.0f |", x->name, modes[mode],
				    r.scheme[FULL].accesses);
			for (unsigned s = 0; s <= FULL; s++) {
				printf(" %.2f", r.scheme[s].seconds / r.plain);
				printf(s == FULL ? " (%.2f) |" : " |", 1 + x->percent[mode] / 100.0);
				strbuf_addf(&sizes, " %.0f |", r.scheme[s].bytes);
			}
			printf(" %s %.2f (%.2f) |\n", how, r.scheme[b].seconds / r.plain,
			       1 + x->best[mode] / 100.0);
			fflush(stdout);
			per = r.scheme[FULL].accesses ? r.scheme[FULL].bytes / r.scheme[FULL].accesses : 0;
			published = 1000 * x->kb[mode] / x->accesses;
			strbuf_addf(&sizes, " %.2f (%.2f) | %.2f (%.2f) | %.2f |\n",
				    r.scheme[b].bytes / r.scheme[FULL].bytes,
				    x->best_kb[mode] / x->kb[mode], per, published, per / published);
		}
	}
	puts(strbuf_str(&sizes));
	strbuf_deinit(&sizes);
	strbuf_deinit(&best);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	if (!strcmp(what, "growth"))
		many_logs();
	else if (!strcmp(what, "compare") && argc > 2)
		compare_table(argv[2]);
	else if (!strcmp(what, "overhead") && argc > 4)
		overhead_tables(argv[2], argv[3], atoi(argv[4]), argc > 5 ? argv[5] : NULL);
	else
		return 2;
	return 0;
}
