#include "explain/cure/faces.h"

#include "base/mem.h"
#include "run/run.h"

size_t faces_of(struct faces *all, const struct explain_result *run)
{
	if (!run->failed)
		return FACES;
	if (run->same_failure)
		return FACE_OWN;
	all->len = MAX(all->len, 1u);
	for (size_t i = 1; i < all->len; i++)
		if (all->data[i].signature == run->signature)
			return i;
	if (all->len == FACES)
		return FACES;
	all->data[all->len] = (struct face){ .signature = run->signature };
	if (run->end) {
		all->data[all->len].outcome = run->end->outcome;
		all->data[all->len].failure = run->end->failure;
	}
	return all->len++;
}
