/* sym/ir/op-sites.h - private to sym/: which operation is which site of the binary's table. */
#ifndef SYM_IR_OP_SITES_H
#define SYM_IR_OP_SITES_H

#include "sym/ir/ir.h"
#include "debug/names.h"

/* Per operation of the lowered function the number of its site, 0 = none; owned by the caller. */
uint32_t *op_sites(const struct sites *sites, const struct function *f);

#endif
