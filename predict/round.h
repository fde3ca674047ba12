/* predict/round.h - private to predict/: what is known so far, and the next question. */
#ifndef PREDICT_ROUND_H
#define PREDICT_ROUND_H

#include "predict/base.h"
#include "predict/paths.h"
#include "run/findings.h"

/* A path that one run lends to a thread of another (mix.c). */
struct loan {
	size_t base; /* that gets it */
	uint32_t thread;
	size_t lender; /* the base itself: it comes from the store */
	char *bits;
};

struct predict {
	struct predict_options o;
	struct paths_runs recordings; /* that can be used */
	struct paths *store;	      /* where they are kept, too; NULL = nowhere */
	size_t next;		      /* the first that was not followed yet */
	struct map digested;	      /* digest -> path */
	struct map runs;	      /* path -> recordings that have it */
	VEC(struct predict_skipped) skipped;
	struct target target;
	char *binary;
	char *key;		 /* of all recordings (digest.h) */
	struct session *session; /* NULL with no_run */
	struct sym_program *program;
	char *dir; /* for the recordings of our own runs */
	uint64_t saved;
	VEC(struct base) bases;
	struct map paths; /* of all threads -> 1 */
	struct map taken; /* node and outcome -> 1 */
	struct map asked; /* base, chance -> its answer, enum order_status */
	struct map times; /* key of a chance -> how often it was asked about */
	VEC(struct loan) loans;
	size_t loan;	    /* the first that was not followed yet */
	struct map lent;    /* base, thread -> how many paths it was lent */
	double mix_seconds; /* spent on following them */
	double begun;
	struct claim claim; /* what native runs say against a proof */
	bool meetings;	    /* chances of meetings.c come before other decisions for now */
	bool hasty;	    /* questions get little time for now */
	bool open_end;	    /* something was not answered, or not run as asked */
	struct findings findings;
	struct hunt_options hunt; /* what findings needs to know */
	struct predict_result *result;
	double deadline;
	bool stop;	/* a failure was found, and one is enough */
	size_t covered; /* bases whose chances were all covered */
};

/* recordings.c: what will be asked about; an error when that is nothing. */
struct err *predict_choose(struct predict *p);
/* A run of our own that passed, and its paths, enter the store, if there is one. */
struct err *predict_keep(struct predict *p, const struct base *b);
/* Follow recordings until one has a new path. *more: it has become a base. */
struct err *predict_load_next(struct predict *p, bool *more);
/* What a person calls a recording; owned by the caller. */
char *predict_name(const struct predict *p, const char *path);
/* A recording becomes a base, unless its path is known or cannot be followed. flips: that lead from
 * the user's recording to it; copied. path: of all its threads, 0 when it cannot be followed; may be
 * NULL. */
struct err *round_add(struct predict *p, const char *plait, const char *recording,
		      const struct predict_flips *flips, uint64_t *path);
/* Ask and run until nothing is left or the budget is used up. */
struct err *round_run(struct predict *p);
bool round_is_over(struct predict *p);
uint64_t round_questions(const struct predict *p); /* asked so far */
/* The parts, for cover.c: a question about a chance with more goals; a prefix that takes the chance
 * is run, and its run becomes a base or a finding. */
struct err *round_ask(struct predict *p, const struct base *b, const struct chance *c,
		      struct order_reached *ret);
struct err *round_propose(struct predict *p, size_t base, const struct chance *c,
			  const struct order_reached *a);
/* A run that failed becomes a finding, replayed and saved, with what leads to it. */
struct err *round_consider(struct predict *p, size_t base, const struct predict_flips *flips,
			   struct run_result *run);
/* What leads from the user's recording to a run that takes this chance. The caller frees. */
void round_flips(const struct base *b, const struct chance *c, struct predict_flips *ret);
/* races.c: has this run the race of that chance? Then it becomes one of the result's. */
struct err *race_consider(struct predict *p, size_t base, const struct chance *c,
			  const struct run_result *run);
bool round_is_asked(const struct predict *p, size_t base, size_t chance);
enum order_status round_answer(const struct predict *p, size_t base, size_t chance);

/* mix.c: a new base lends paths to those before it, and they to it. */
void mix_note(struct predict *p, size_t base);
/* Paths that only the store knows are lent to the first base. */
struct err *mix_note_stored(struct predict *p);
/* What was lent is followed and becomes bases that are no runs. */
struct err *mix_next(struct predict *p);
void mix_deinit(struct predict *p);

/* published-run.c: the published search instead of ours. */
struct err *published_run(struct predict *p);

/* cover.c: does every way to take a chance lead to a run that is known? Otherwise it is run.
 * *more: there are new bases. */
struct err *cover_all(struct predict *p, bool *more);
/* What speaks against "with this input every run passes" goes into the result's gaps; true: nothing
 * does. */
bool cover_is_proof(struct predict *p);

#endif
