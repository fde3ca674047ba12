/* cc/instrument/scopes.c - see scopes.h. Which variables, and where: cc/analyse/locals.c. */
#include "cc/instrument/scopes.h"

#include "base/mem.h"
#include "base/strbuf.h"
#include "cc/analyse/locals.h"
#include "cc/analyse/types.h"
#include "cc/instrument/hooks.h"
#include "cc/program.h"

/* "`request' of wait": of a part of it, the whole. */
static void name_of(struct program *p, LLVMValueRef local, const char *function, struct strbuf *ret)
{
	_cleanup_(strbuf_deinit) struct strbuf part = { 0 };

	if (types_describe(p, local, &part))
		strbuf_addf(ret, "`%.*s' of %s", (int)strcspn(strbuf_str(&part), "."),
			    strbuf_str(&part), function);
	else
		strbuf_addf(ret, "a local variable of %s", function);
}

static void scope(struct hooks *h, const struct plan *plan, LLVMValueRef local)
{
	const struct plait_site *site = &h->p->sites.data[plan->site - 1];
	_cleanup_(strbuf_deinit) struct strbuf name = { 0 };
	uint64_t bytes = LLVMABISizeOfType(h->p->layout, LLVMGetAllocatedType(local));
	LLVMValueRef args[4] = { local, LLVMConstInt(h->i64, bytes, 0) };
	unsigned n = 2;

	if (plan->action == ACT_SCOPE_END) {
		name_of(h->p, local, h->p->strings.text[site->function], &name);
		args[n++] = LLVMBuildGlobalStringPtr(h->b, strbuf_str(&name), "plait.scope");
	}
	args[n++] = hooks_site(h, plan->site);
	hooks_call(h, plan->action == ACT_SCOPE_END ? "plait_scope_end" : "plait_scope_begin",
		   h->none, n, args);
}

void scopes_at(struct hooks *h, const struct plan *plan)
{
	LLVMValueRef one = locals_of_marker(plan->at);

	if (one) {
		scope(h, plan, one);
		return;
	}
	for_each_local_lock(local, plan->at) scope(h, plan, local);
}
