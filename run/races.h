/* run/races.h - private: the data races that the runs of a session have seen, each once. */
#ifndef RUN_RACES_H
#define RUN_RACES_H

#include "base/map.h"

struct plait_run;
struct racing;
struct run_result;
struct strbuf;

struct race_tally {
	struct map pairs; /* two sites, the lower one first: in how many runs */
};

void race_tally_deinit(struct race_tally *t);
void race_tally_add(struct race_tally *t, const struct run_result *r);
/* How many different places these are: pairs of source lines and what is accessed there. Sites
 * that were inlined or unrolled into many are one place; code without a site table is told apart by
 * its sites. */
uint64_t race_tally_places(const struct race_tally *t, const struct plait_run *process);
/* Append these places, at most so many pairs: "a.c:3 and a.c:9 (flag), ...". */
void race_tally_write(const struct race_tally *t, const struct plait_run *process, size_t most,
		      struct strbuf *out);
/* Add their lines to a list of racing ones. */
void race_tally_list(const struct race_tally *t, const struct plait_run *process,
		     struct racing *ret);
/* Append the place of one site: "a.c:3". */
void race_site_write(const struct plait_run *process, uint32_t site, struct strbuf *out);

#endif
