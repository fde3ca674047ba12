/* coop/hamming.h - private: all pairwise Hamming similarities of the vectors of each element. */
#ifndef COOP_HAMMING_H
#define COOP_HAMMING_H

#include "coop/coop.h"

struct hamming_element {
	uint32_t n;
	float *share; /* n * n */
};

struct hamming {
	struct hamming_element *elements;
	size_t nelements;
	struct map local; /* element and vector -> index in the element's matrix */
};

/* Over the pairs that the chosen logs have. */
void hamming_init(struct hamming *h, const struct coop *c);
void hamming_deinit(struct hamming *h);
double hamming_get(const struct hamming *h, uint32_t element, uint32_t a, uint32_t b);

#endif
