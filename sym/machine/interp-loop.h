/* sym/machine/interp-loop.h - the inner loop, included four times by interp.c: once for frames whose
 * registers are all concrete (SYMBOLIC 0), once for frames that may hold expressions (SYMBOLIC 1).
 * Each operation ends by jumping to the next one's code. Whatever is not simple goes to slow_op(),
 * which leaves the number of the next operation in the frame. */

static enum stop LOOP_NAME(struct machine *m)
{
	static const void *const labels[] = {
#define OP(name) &&L_##name,
#include "sym/ir/ops.def"
#undef OP
	};
	struct thread *t = current_thread(m);
	struct frame *f = t->top, *g;
	uint64_t *r = f->r;
#if SYMBOLIC
	expr_id *x = f->x;
#endif
	const struct op *ops = f->f->ops, *o = ops + f->pc;
#if FOLLOW
	const uint32_t *sites = f->f->sites;
#elif POINTS
	const uint32_t *points = f->f->points;
#endif
	const int32_t *args;
	struct function *callee;
	struct switch_table *table;
	uint64_t n = 0, limit = m->op_limit - m->s->ops, a, b;
	uint32_t count, target;
	uint8_t *p;
	enum stop st;

	if (limit > SLICE)
		limit = m->s->nthreads > 1 ? SLICE / 16 : SLICE;

#if FOLLOW /* decisions and accesses that a recording knows are looked at, or every decision */
#define DECIDE                                                                                     \
	if (!sites || sites[o - ops])                                                              \
	goto slow
#define SITE                                                                                       \
	if (sites && sites[o - ops])                                                               \
	goto slow
#define SITE_RARE (void)0
#elif POINTS /* accesses that other threads may notice are scheduling points */
#define DECIDE (void)0
#define SITE                                                                                       \
	do {                                                                                       \
		if (__builtin_expect(points[o - ops], 0) && machine_point(m, 0, points[o - ops]))  \
			goto point;                                                                \
	} while (0)
#define SITE_RARE SITE
#else
#define DECIDE	  (void)0
#define SITE	  (void)0
#define SITE_RARE (void)0
#endif
#if SYMBOLIC
#define SYM1(r1)                                                                                   \
	if (__builtin_expect(x[r1], 0))                                                            \
	goto slow
#define SYM2(r1, r2)                                                                               \
	if (__builtin_expect(x[r1] | x[r2], 0))                                                    \
	goto slow
#define PUT(v) (x[o->d] = 0, r[o->d] = (v))
#else
#define SYM1(r1)     (void)0
#define SYM2(r1, r2) (void)0
#define PUT(v)	     (r[o->d] = (v))
#endif
#define NEXT goto *labels[(++o)->code]
#define GOTO(pc)                                                                                   \
	do {                                                                                       \
		o = ops + (uint32_t)(pc);                                                          \
		goto *labels[o->code];                                                             \
	} while (0)
#define COUNT(k)                                                                                   \
	do {                                                                                       \
		n += (uint64_t)(k);                                                                \
		if (__builtin_expect(n >= limit, 0))                                               \
			goto budget;                                                               \
	} while (0)
#define BINARY(name, value)                                                                        \
	L_##name : SYM2(o->a, o->b);                                                               \
	a = r[o->a];                                                                               \
	b = r[o->b];                                                                               \
	PUT(value);                                                                                \
	NEXT
#define BRANCH(name, cond)                                                                         \
	L_##name : DECIDE;                                                                         \
	SYM2(o->a, o->b);                                                                          \
	COUNT(o->d);                                                                               \
	a = r[o->a];                                                                               \
	b = r[o->b];                                                                               \
	if (cond)                                                                                  \
		GOTO(o->imm);                                                                      \
	GOTO(o->imm >> 32)
#define FAST(addr, size, field)                                                                    \
	({                                                                                         \
		uint64_t ad_ = (addr);                                                             \
		struct cache_line *c_ = &m->cache[(ad_ >> 32) % CACHE_SIZE];                       \
		uint32_t off_ = (uint32_t)ad_ - ADDR_BIAS;                                         \
		c_->key == ad_ >> 32 && (uint64_t)off_ + (size) <= c_->field ? c_->bytes + off_    \
									     : NULL;               \
	})
#define INDEXED                                                                                    \
	(r[o->a] + r[o->b] * (uint64_t)(int64_t)(int32_t)o->imm + (uint64_t)((int64_t)o->imm >> 32))
#define LOAD(name, T, reg2, addr)                                                                  \
	L_##name : SITE;                                                                           \
	SYM2(o->a, reg2);                                                                          \
	p = FAST(addr, sizeof(T), rsize);                                                          \
	if (__builtin_expect(!p, 0))                                                               \
		goto slow;                                                                         \
	PUT(*(const T *)p);                                                                        \
	NEXT
#define STORE(name, T, reg2, addr)                                                                 \
	L_##name : SITE;                                                                           \
	SYM2(o->a, reg2);                                                                          \
	SYM1(o->d);                                                                                \
	p = FAST(addr, sizeof(T), wsize);                                                          \
	if (__builtin_expect(!p, 0))                                                               \
		goto slow;                                                                         \
	*(T *)p = (T)r[o->d];                                                                      \
	NEXT

	goto *labels[o->code];

L_MOV:
	r[o->d] = r[o->a];
#if SYMBOLIC
	x[o->d] = x[o->a];
#endif
	NEXT;
L_MOV2:
	r[o->d] = r[o->a];
#if SYMBOLIC
	x[o->d] = x[o->a];
	x[(int32_t)o->imm] = x[(int32_t)(o->imm >> 32)];
#endif
	r[(int32_t)o->imm] = r[(int32_t)(o->imm >> 32)];
	NEXT;
L_MOVJ:
	COUNT(o->imm >> 32);
	r[o->d] = r[o->a];
#if SYMBOLIC
	x[o->d] = x[o->a];
#endif
	GOTO(o->imm);
L_SELECT:
#if FOLLOW
	SITE;
#endif
	SYM1(o->a);
	a = r[o->a] ? (uint64_t)(int64_t)o->b : (uint64_t)(int64_t)(int32_t)o->imm;
#if SYMBOLIC
	x[o->d] = x[(int32_t)a];
#endif
	r[o->d] = r[(int32_t)a];
	NEXT;

	BINARY(ADD64, a + b);
	BINARY(ADD32, (uint32_t)(a + b));
	BINARY(ADDN, (a + b) & mask_of(o->w));
	BINARY(SUB64, a - b);
	BINARY(SUB32, (uint32_t)(a - b));
	BINARY(SUBN, (a - b) & mask_of(o->w));
	BINARY(MUL64, a * b);
	BINARY(MUL32, (uint32_t)(a * b));
	BINARY(MULN, (a * b) & mask_of(o->w));
	BINARY(AND, a & b);
	BINARY(OR, a | b);
	BINARY(XOR, a ^ b);
	BINARY(SHL, b >= o->w ? 0 : (a << b) & mask_of(o->w));
	BINARY(LSHR, b >= o->w ? 0 : a >> b);
	BINARY(ASHR, (uint64_t)(sext_of(a, o->w) >> (b >= o->w ? o->w - 1u : b)) & mask_of(o->w));
	BINARY(EQ, a == b);
	BINARY(NE, a != b);
	BINARY(ULT, a < b);
	BINARY(ULE, a <= b);
	BINARY(SLT, sext_of(a, o->w) < sext_of(b, o->w));
	BINARY(SLE, sext_of(a, o->w) <= sext_of(b, o->w));
#define DIVIDE(name, op)                                                                           \
	L_##name : SYM2(o->a, o->b);                                                               \
	a = r[o->a];                                                                               \
	b = r[o->b];                                                                               \
	if (__builtin_expect(!b, 0))                                                               \
		goto slow;                                                                         \
	PUT(expr_fold(op, o->w, a, b));                                                            \
	NEXT
L_UDIV:
	SYM2(o->a, o->b);
	if (__builtin_expect(!r[o->b], 0))
		goto slow;
	PUT(r[o->a] / r[o->b]);
	NEXT;
L_UREM:
	SYM2(o->a, o->b);
	if (__builtin_expect(!r[o->b], 0))
		goto slow;
	PUT(r[o->a] % r[o->b]);
	NEXT;
	DIVIDE(SDIV, EX_SDIV);
	DIVIDE(SREM, EX_SREM);
L_TRUNC:
	SYM1(o->a);
	PUT(r[o->a] & mask_of(o->w));
	NEXT;
L_SEXT:
	SYM1(o->a);
	PUT((uint64_t)sext_of(r[o->a], o->w) & mask_of(o->aux));
	NEXT;
L_GEP:
	SYM2(o->a, o->b);
	PUT(INDEXED);
	NEXT;

	BINARY(FADD, fp_value(o, a, b));
	BINARY(FSUB, fp_value(o, a, b));
	BINARY(FMUL, fp_value(o, a, b));
	BINARY(FDIV, fp_value(o, a, b));
	BINARY(FREM, fp_value(o, a, b));
	BINARY(FCMP, fp_value(o, a, b));
	BINARY(FNEG, fp_value(o, a, b));
	BINARY(FPTOSI, fp_value(o, a, b));
	BINARY(FPTOUI, fp_value(o, a, b));
	BINARY(SITOFP, fp_value(o, a, b));
	BINARY(UITOFP, fp_value(o, a, b));
	BINARY(FPCAST, fp_value(o, a, b));
	BINARY(INTRIN2, intrin_value(o, a, b, 0));
L_INTRIN3:
	SYM2(o->a, o->b);
	SYM1((int32_t)o->imm);
	PUT(intrin_value(o, r[o->a], r[o->b], r[(int32_t)o->imm]));
	NEXT;
L_FMATH:
	SYM2(o->a, o->b);
	SYM1((int32_t)o->imm);
	PUT(fmath_value(o, r[o->a], r[o->b], r[(int32_t)o->imm]));
	NEXT;
L_OVERFLOW:
	SYM2(o->a, o->b);
	b = overflow_value(o, r[o->a], r[o->b], &a);
	PUT(a);
#if SYMBOLIC
	x[o->d + 1] = 0;
#endif
	r[o->d + 1] = b;
	NEXT;

	LOAD(LOAD8, uint8_t, o->a, r[o->a] + o->imm);
	LOAD(LOAD16, uint16_t, o->a, r[o->a] + o->imm);
	LOAD(LOAD32, uint32_t, o->a, r[o->a] + o->imm);
	LOAD(LOAD64, uint64_t, o->a, r[o->a] + o->imm);
	LOAD(LOADX8, uint8_t, o->b, INDEXED);
	LOAD(LOADX16, uint16_t, o->b, INDEXED);
	LOAD(LOADX32, uint32_t, o->b, INDEXED);
	LOAD(LOADX64, uint64_t, o->b, INDEXED);
	STORE(STORE8, uint8_t, o->a, r[o->a] + o->imm);
	STORE(STORE16, uint16_t, o->a, r[o->a] + o->imm);
	STORE(STORE32, uint32_t, o->a, r[o->a] + o->imm);
	STORE(STORE64, uint64_t, o->a, r[o->a] + o->imm);
	STORE(STOREX8, uint8_t, o->b, INDEXED);
	STORE(STOREX16, uint16_t, o->b, INDEXED);
	STORE(STOREX32, uint32_t, o->b, INDEXED);
	STORE(STOREX64, uint64_t, o->b, INDEXED);

L_FENCE:
	NEXT;
L_JMP:
	COUNT(o->d);
	GOTO(o->imm);
L_BR:
	DECIDE;
	SYM1(o->a);
	COUNT(o->d);
	if (r[o->a])
		GOTO(o->imm);
	GOTO(o->imm >> 32);
	BRANCH(BREQ, a == b);
	BRANCH(BRNE, a != b);
	BRANCH(BRULT, a < b);
	BRANCH(BRULE, a <= b);
	BRANCH(BRSLT64, (int64_t)a < (int64_t)b);
	BRANCH(BRSLE64, (int64_t)a <= (int64_t)b);
	BRANCH(BRSLT32, (int32_t)a < (int32_t)b);
	BRANCH(BRSLE32, (int32_t)a <= (int32_t)b);
	BRANCH(BRSLTN, sext_of(a, o->w) < sext_of(b, o->w));
	BRANCH(BRSLEN, sext_of(a, o->w) <= sext_of(b, o->w));
L_SWITCH:
	DECIDE;
	SYM1(o->a);
	COUNT(o->d);
	table = &m->ir->tables.data[o->imm];
	target = switch_target(table, r[o->a]);
	GOTO(target);

L_CALL:
#if FOLLOW
	SITE;
#endif
	callee = m->ir->functions.data[o->b];
	if (__builtin_expect(!callee->lowered, 0)) {
		if (callee->declared_only)
			goto slow;
		ir_lower(m->ir, callee);
	}
	count = (uint32_t)(o->imm >> 32);
	if (__builtin_expect(count < callee->nparams + callee->variadic || f->depth >= MAX_DEPTH,
			     0))
		goto slow;
	n++;
	if (__builtin_expect(callee->watched && m->guide->called, 0))
		m->guide->called(m, f, (uint32_t)(o - ops));
	args = m->ir->args.data + (uint32_t)o->imm;
	g = frame_new(callee);
	for (uint32_t i = 0; i < callee->nparams; i++)
		g->r[i] = r[args[i]];
	if (callee->variadic)
		g->r[callee->nparams] = r[args[count - 1]];
#if SYMBOLIC
	for (uint32_t i = 0; i < callee->nparams; i++)
		if (x[args[i]]) {
			frame_make_symbolic(g);
			g->x[i] = x[args[i]];
		}
#endif
	g->caller = f;
	g->depth = f->depth + 1;
	g->ret = o->d;
	g->nret = o->w;
	f->pc = (uint32_t)(o - ops) + 1;
	t->top = f = g;
	goto enter;
L_RET:
	COUNT(o->d);
	if (!f->caller) {
		f->pc = (uint32_t)(o - ops);
		goto slow;
	}
	if (f->allocas)
		mem_release_to(m, f, 0);
	g = frame_own(&f->caller);
	count = MIN((uint32_t)(o->imm >> 32), f->nret);
	for (uint32_t i = 0; i < count; i++) {
		g->r[f->ret + (int32_t)i] = r[(int32_t)o->imm + (int32_t)i];
#if SYMBOLIC
		if (x[(int32_t)o->imm + (int32_t)i])
			frame_make_symbolic(g);
		if (g->x)
			g->x[f->ret + (int32_t)i] = x[(int32_t)o->imm + (int32_t)i];
#else
		if (__builtin_expect(g->x != NULL, 0))
			g->x[f->ret + (int32_t)i] = 0;
#endif
	}
	t->top = g;
	f->caller = NULL;
	frame_unref(f);
	f = g;
	goto enter;

/* everything else takes its time */
L_LDBIN:
L_LDCMP:
L_LDCONV:
L_WBIN:
L_WCMP:
L_WCONV:
L_LOADN:
L_STOREN:
L_ALLOCA:
L_ALLOCAV:
L_MEMCPY:
L_MEMMOVE:
L_MEMSET:
L_RMW:
L_CMPXCHG:
L_TLS:
L_RELATIVE:
L_CALLI:
L_BUILTIN:
L_VASTART:
L_STACKSAVE:
L_STACKRESTORE:
L_LANDING:
L_RESUME:
L_UNREACHABLE:
L_UNSUPPORTED:
	SITE_RARE;
slow:
	f->pc = (uint32_t)(o - ops);
	n++;
	st = slow_op(m, f, o);
	if (st)
		goto out;
	t = current_thread(m);
	f = t->top;
enter: /* f is the frame to go on with */
	if (__builtin_expect(SYMBOLIC ? !f->x : f->x != NULL, 0)) {
		st = STOP_SWITCH;
		goto out;
	}
	r = f->r;
#if SYMBOLIC
	x = f->x;
#endif
	ops = f->f->ops;
#if FOLLOW
	sites = f->f->sites;
#elif POINTS
	points = f->f->points;
#endif
	o = ops + f->pc;
	goto *labels[o->code];
#if POINTS
point:
	f->pc = (uint32_t)(o - ops);
	st = STOP_POINT;
	goto out;
#endif
budget:
	f->pc = (uint32_t)(o - ops);
	n -= 1; /* the branch runs again */
	st = STOP_BUDGET;
out:
	m->s->ops += n;
	m->stats.ops += n;
	return st;
}
#undef DECIDE
#undef SITE
#undef SITE_RARE
#undef SYM1
#undef SYM2
#undef PUT
#undef NEXT
#undef GOTO
#undef COUNT
#undef BINARY
#undef BRANCH
#undef FAST
#undef INDEXED
#undef LOAD
#undef STORE
#undef DIVIDE
