/* rt/control/gate-fiber.c - swapping stacks and thread pointers.
 *
 * wrfsbase loads the thread pointer without a system call: after a swap, errno, thread-local
 * variables and pthread_self() are the other thread's. What the kernel knows per thread (signal
 * mask, alternate stack, kernel id) stays the carrier's.
 *
 * pthread_exit and cancellation unwind the stack down to the frame of a cleanup handler; the one
 * registered at a fiber's root ends the fiber, which then never runs again. */
#include "rt/control/gate.h"

#include "rt/core/rt.h"

#include <elf.h>
#include <pthread.h>
#include <sys/auxv.h>

void fiber_swap_asm(void **save, void *stack_pointer, uint64_t thread_pointer);
void fiber_thunk(void);
void fiber_root(struct gate *g);

/* Callee-saved registers and both control words go onto the old stack, and come from the new; to
 * load control words is slow, and they seldom differ. fiber_enter falls through into the thunk. */
__asm__(".pushsection .text\n"
	".type fiber_swap_asm, @function\n"
	".hidden fiber_swap_asm\n"
	".globl fiber_swap_asm\n"
	"fiber_swap_asm:\n"
	"	push %rbp\n	push %rbx\n	push %r12\n	push %r13\n	push %r14\n	"
	"push %r15\n"
	"	sub $8, %rsp\n	stmxcsr (%rsp)\n	fnstcw 4(%rsp)\n"
	"	mov %rsp, (%rdi)\n"
	"	mov (%rsp), %eax\n	mov 4(%rsp), %cx\n"
	"	mov %rsi, %rsp\n"
	"	wrfsbase %rdx\n"
	"	cmp (%rsp), %eax\n	jne 1f\n	cmp 4(%rsp), %cx\n	je 2f\n"
	"1:	ldmxcsr (%rsp)\n	fldcw 4(%rsp)\n"
	"2:	add $8, %rsp\n"
	"	pop %r15\n	pop %r14\n	pop %r13\n	pop %r12\n	pop %rbx\n	"
	"pop %rbp\n"
	"	ret\n"
	".size fiber_swap_asm, .-fiber_swap_asm\n"
	".type fiber_enter, @function\n"
	".hidden fiber_enter\n"
	".globl fiber_enter\n"
	"fiber_enter:\n"
	"	and $-16, %rsi\n	mov %rsi, %rsp\n	mov %rdi, %r12\n"
	".size fiber_enter, .-fiber_enter\n"
	".type fiber_thunk, @function\n"
	".hidden fiber_thunk\n"
	".globl fiber_thunk\n"
	"fiber_thunk:\n"
	"	xor %ebp, %ebp\n	mov %r12, %rdi\n	call fiber_root\n	ud2\n"
	".size fiber_thunk, .-fiber_thunk\n"
	".popsection");

bool fiber_possible(void)
{
	return getauxval(AT_HWCAP2) & 2; /* HWCAP2_FSGSBASE */
}

/* pthread_exit and cancellation unwind down to here. */
static void unwound(void *gate)
{
	struct gate *g = gate;

	g->end(g->arg);
}

__attribute__((used)) void fiber_root(struct gate *g)
{
	pthread_cleanup_push(unwound, g);
	g->body(g->arg);
	pthread_cleanup_pop(0);
	g->end(g->arg);
}

void fiber_prepare(struct gate *g, void *stack_top)
{
	uint64_t *sp = (uint64_t *)((uint64_t)stack_top & ~15ull);
	uint32_t mxcsr;
	uint16_t fpu;

	__asm__ volatile("stmxcsr %0" : "=m"(mxcsr));
	__asm__ volatile("fnstcw %0" : "=m"(fpu));
	*--sp = (uint64_t)fiber_thunk; /* the swap's ret leaves an aligned stack */
	*--sp = 0;		       /* rbp */
	*--sp = 0;		       /* rbx */
	*--sp = (uint64_t)g;	       /* r12 */
	*--sp = 0;
	*--sp = 0;
	*--sp = 0;
	*--sp = (uint64_t)fpu << 32 | mxcsr;
	g->stack_pointer = sp;
}

void fiber_swap(struct gate *from, struct gate *to)
{
	fiber_swap_asm(&from->stack_pointer, to->stack_pointer, to->thread_pointer);
}
