#include "explain/explanation.h"

#include "base/mem.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

void explanation_free(struct explanation *x)
{
	if (!x)
		return;
	arena_deinit(&x->arena);
	free(x);
}

void explanation_note(struct explanation *x, const char *fmt, ...)
{
	struct shown_note *notes = arena_array(&x->arena, struct shown_note, x->nnotes + 1);
	_cleanup_(xfreep) char *text = NULL;
	va_list ap;

	va_start(ap, fmt);
	text = xvasprintf(fmt, ap);
	va_end(ap);
	if (x->nnotes)
		memcpy(notes, x->notes, x->nnotes * sizeof(*notes));
	notes[x->nnotes++].text = arena_strdup(&x->arena, text);
	x->notes = notes;
}
