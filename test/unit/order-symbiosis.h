/* test/unit/order-symbiosis.h - symbolic traces of the published system, read into our model.
 * The files are not part of the project: $UNPLAIT_FIXTURES says where they are. */
#ifndef TEST_ORDER_SYMBIOSIS_H
#define TEST_ORDER_SYMBIOSIS_H

#include "order/order.h"

/* The folder of a fixture, NULL when there is none. The caller frees it. */
char *symbiosis_folder(const char *name);

/* One file per thread: T0, T1, T1.1 ... The last path condition of `asserting` is the failure. Each
 * thread gets an exit, as in the original. NULL when the folder cannot be read. */
struct order_model *symbiosis_import(const char *folder, const char *asserting);

#endif
