/* test/unit/order-symbiosis.h - symbolic traces of the published system, read into our model.
 * The files are not part of the project: $UNPLAIT_FIXTURES says where they are. */
#ifndef TEST_ORDER_SYMBIOSIS_H
#define TEST_ORDER_SYMBIOSIS_H

#include "order/order.h"

#include <stddef.h>

/* The folder of a fixture, NULL when there is none. The caller frees it. */
char *symbiosis_folder(const char *name);

/* One file per thread: T0, T1, T1.1 ... The last path condition of `asserting` is the failure. Each
 * thread gets an exit, as in the original. NULL when the folder cannot be read. */
struct order_model *symbiosis_import(const char *folder, const char *asserting);

/* The same of named files, one per thread, of a run that passed (Cortex): the last condition of the
 * asserting thread is its assertion, which holds. Conditions get places, with bits from 1; the
 * assertion has doom 0. Each thread's path goes to paths[thread], the caller frees it. */
struct trace_file {
	char *path;
	char thread[16];
};
struct order_model *cortex_import(const struct trace_file *files, size_t n, char **paths);

#endif
