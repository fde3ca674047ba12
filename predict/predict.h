/* predict/predict.h - failing schedules from runs that passed (000 chapter 5).
 *
 *	struct predict *p;
 *	err = predict_open(&options, &p);
 *	err = predict_add(p, "runs/0001-pass.plait");      any number of recordings
 *	err = predict_run(p, &result);
 *	for (...result.predictions...)                     each was run natively and replayed
 *	predict_result_deinit(&result);
 *	predict_close(p);
 *
 * What the control engine has not run is a proposal, not a prediction. */
#ifndef PREDICT_PREDICT_H
#define PREDICT_PREDICT_H

#include "base/map.h"
#include "run/run.h"

struct err;
struct predict;

enum { PREDICT_MOST_FLIPS = 12, PREDICT_MOST_TRACES = 1000 };

/* What to look for. Decisions are flipped whatever it is: they lead to everything else. */
enum predict_target {
	PREDICT_ASSERT = 1,   /* assertions, aborts, exit statuses, outputs, oracles */
	PREDICT_CRASH = 2,    /* signals */
	PREDICT_MEMORY = 4,   /* memory that was given back is used, a lock that was destroyed */
	PREDICT_DEADLOCK = 8, /* cycles of locks, waits that nobody can end any more */
	PREDICT_HANG = 16,    /* loops that nobody can end any more */
	PREDICT_RACE = 32,    /* two threads are about to access one place, one of them writes */
	PREDICT_DEFAULT = 31,
};
/* "assert,race" into a set; false: one of the words is not the name of a target. */
bool predict_targets_parse(const char *text, uint32_t *ret);

/* How a recording is followed. */
enum predict_method {
	PREDICT_AUTO,	/* by paths; by values where that is not possible */
	PREDICT_PATHS,	/* symbolically, along its path */
	PREDICT_VALUES, /* by what was read and written: recordings with all events */
};

struct predict_options {
	/* How to run and judge; what the first recording says where this says nothing. argv: the
	 * command to run instead of the recorded one, NULL = that. */
	struct target target;
	enum predict_method method;
	uint32_t targets;    /* enum predict_target; 0 = PREDICT_DEFAULT */
	const char *at_file; /* only failures there: the end of its name; NULL = anywhere */
	uint32_t at_line;
	double seconds;		 /* for everything; 0 = 60 */
	double question_seconds; /* for one question to the solver; 0 = 2 */
	uint64_t questions;	 /* at most so many; 0 = no limit */
	uint64_t decisions;	 /* of the solver, for one question; 0 = no limit */
	uint64_t runs;		 /* proposals to run; 0 = 500 */
	uint64_t seed;
	unsigned replays; /* confirming replays of each failure */
	bool all;	  /* go on after the first failure */
	bool no_run;	  /* ask, but run nothing: every answer is unconfirmed */
	bool steady;	  /* the same answers however busy the machine is; slower */
	bool published;	  /* the published search, to the letter (published.h) */
	uint32_t flips;	  /* decisions taken otherwise, at most so many on one way; 0 = 8 */
	uint32_t
		traces; /* paths that a thread is lent, ways on behind a flip: so many each; 0 = 4 */
	const char *store;  /* folder where paths are kept between commands; NULL = nowhere */
	const char *output; /* plait to write, with `all` a folder; NULL = none */
};

/* What the failing run does otherwise than the recording. */
enum predict_change {
	PREDICT_BRANCH, /* takes the other side */
	PREDICT_VALUE,	/* reads another value, which becomes an address */
	PREDICT_STOP,	/* comes here while others are at the other stops */
	PREDICT_FREE,	/* gives something back here, before ... */
	PREDICT_USE,	/* ... this thread uses it */
	PREDICT_LENT,	/* goes as in another run (`file`: its recording) */
	PREDICT_RACING, /* is about to access what another thread is about to access, too */
};

struct predict_flip {
	enum predict_change change;
	char thread[32];
	char *file; /* "" = not known */
	uint32_t line;
	char *function;
	bool was, now; /* a branch */
};
struct predict_flips VEC_FIELDS(struct predict_flip);

struct prediction {
	size_t failure; /* in found.failures */
	char *base;	/* the recording it started from */
	struct predict_flips flips;
	uint64_t questions, native_runs; /* until it was found */
	uint64_t near;			 /* recordings with the path that it started from */
};

/* A data race that a native run has had. It need not fail. */
struct predicted_race {
	char *base, *plait;	    /* plait: of that run; NULL = not saved */
	struct predict_flips flips; /* the last two: the accesses */
	uint64_t questions, native_runs;
};

/* A proposal that no native run has shown to fail. */
struct predict_proposal {
	char *base;
	struct predict_flips flips;
};

/* What the published search did. */
struct predict_set {
	struct predict_flips flips;
	uint32_t tries;
	bool fails;
};
struct predict_published {
	uint64_t schedules;	      /* recorded runs asked about as they are */
	bool by_schedule;	      /* one of them fails in another order */
	uint64_t tries, synthesised;  /* executions asked about; paths made up */
	VEC(struct predict_set) sets; /* in the order they were tried */
};

struct predict_skipped {
	char *path, *why;
};

struct predict_result {
	struct hunt_result found; /* the failures, confirmed, and what else the runs showed */
	VEC(struct prediction) predictions;
	VEC(struct predicted_race) races;
	VEC(struct predict_proposal) unconfirmed; /* of no_run */
	VEC(struct predict_skipped) skipped;	  /* recordings that were of no use */
	struct predict_published published;
	size_t recordings, paths;     /* used; different ones */
	size_t others;		      /* inputs of our own making that were asked about */
	char *other_input;	      /* the one that all this is about; NULL = the given one */
	uint64_t sat, unsat, unknown; /* questions */
	uint64_t unwanted; /* runs that failed, but in no way or place that was asked for */
	uint64_t native_runs, proposals, followed;
	size_t models;	   /* paths that could be followed */
	size_t mixed;	   /* one run's path of a thread beside another run's others */
	bool exhausted;	   /* there is no other run with this input */
	struct names gaps; /* why it may be said or not; what was left out */
	double seconds_load, seconds_ask, seconds_run;
	bool interrupted, out_of_budget;
};
void predict_result_deinit(struct predict_result *r);

struct err *predict_open(const struct predict_options *o, struct predict **ret);
/* A plait of a run that passed, or a folder of them. What cannot be used is counted and named in
 * the result; an error only when there is no such file or folder. */
struct err *predict_add(struct predict *p, const char *path);
/* Make so many runs of options.target, recorded in mode path, and add them. The recordings live as
 * long as p. */
struct err *predict_record(struct predict *p, unsigned runs);
/* The recording whose command will be run. */
struct err *predict_first(struct predict *p, const char **ret);
/* ERR_ENV when no recording can be used, ERR_INCONCLUSIVE when none can be followed. */
struct err *predict_run(struct predict *p, struct predict_result *ret);
void predict_close(struct predict *p); /* NULL is fine */
/* If *r has found nothing: the same with inputs of our own making, of which it becomes the result of the first that
 * finds something. began: when all this was begun, for the time that there is. options.target.argv must be given. */
struct err *predict_others(const struct predict_options *o, double began, struct predict_result *r);

/* predictor.c: for hunts. */
extern const struct predictor predict_predictor;

#endif
