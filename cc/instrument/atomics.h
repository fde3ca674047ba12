/* cc/instrument/atomics.h - the plain variant: atomics that mode sync can record.
 *
 * The maker of plain is started before the program is analysed. So all atomics are noted before, and when it
 * is known which of them full has a hook for, the maker is told by number. */
#ifndef CC_INSTRUMENT_ATOMICS_H
#define CC_INSTRUMENT_ATOMICS_H

struct program;

/* Note every atomic load, store and read-modify-write, and plain accesses on racing lines (base/racing.h). Before anything
 * forks or changes. */
void atomics_collect(struct program *p);
/* The program has been planned: say which of them have hooks in full, which count in a replay. */
void atomics_decide(struct program *p);
/* Warn of racing lines where this program has no access that may be shared. list: the file they are from. */
void atomics_look_for_racing(struct program *p, const char *list);
/* Make those patchable: the same operations are counted in plain and in full. */
void atomics_make_places(struct program *p);

#endif
