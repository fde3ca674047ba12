/* synth/align.h - private: stacks of the program that a stack of a shipped binary without lines may be. */
#ifndef SYNTH_ALIGN_H
#define SYNTH_ALIGN_H

#include "synth/study.h"

struct alignment {
	VEC(struct sym_point) points; /* the outermost first; names are the program's */
	double score; /* the more the likelier; to be compared within one list only */
};
struct alignments VEC_FIELDS(struct alignment);

/* Of stack number g of the goal, at most `most`, the likeliest first. Needs the program. */
struct err *align_stack(struct study *s, size_t g, size_t most, struct alignments *ret);
void alignments_deinit(struct alignments *all);

#endif
