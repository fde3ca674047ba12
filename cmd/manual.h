/* cmd/manual.h - the pages of doc/manual, built into the tool. */
#ifndef CMD_MANUAL_H
#define CMD_MANUAL_H

#include <stdbool.h>

/* Print the page of a task ("flaky", "race" ...); false when there is no such task. */
bool manual_print(const char *task);

#endif
