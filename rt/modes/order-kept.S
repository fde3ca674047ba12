/* The order variant: around a recorded access. Both functions keep every register, so that the
 * program's code has nothing to save; only the flags are lost. The fast ways need two registers
 * (order.h says the same in C: order_enter, order_leave); the others call order.c, which touches no
 * wide vector registers because it calls nobody outside.
 *
 * enter: above the return address lie the count, as a vector has it, and the address of the slot. */
#include "rt/modes/order-offsets.h"
#include "rt/core/registers.inc"

	.text
	.globl	plait_order_enter_kept
	.type	plait_order_enter_kept, @function
plait_order_enter_kept:
	.cfi_startproc
	pushq	%rax
	.cfi_adjust_cfa_offset 8
	pushq	%rcx
	.cfi_adjust_cfa_offset 8
	movq	rt_self_@gottpoff(%rip), %rax
	movq	%fs:(%rax), %rax
	movq	32(%rsp), %rcx
	testq	%rax, %rax /* a thread of libc's, or just born: nobody knows it yet */
	je	1f
	cmpq	$0, THREAD_HELD(%rax)
	jne	1f
	cmpl	$0, THREAD_DEPTH(%rax)
	jne	1f
	/* say that we are inside, then look again whether we may */
	orq	$ORDER_KEPT, %rcx
	movq	%rcx, THREAD_HELD(%rax)
	cmpq	%rax, SLOT_OWNER - ORDER_KEPT(%rcx)
	jne	2f
	movq	SLOT_WORD - ORDER_KEPT(%rcx), %rcx
	movl	24(%rsp), %eax
	addl	%eax, -4(%rcx)
	jc	3f
	popq	%rcx
	popq	%rax
	ret
3:	subl	%eax, -4(%rcx) /* the word is full */
	movq	rt_self_@gottpoff(%rip), %rax
	movq	%fs:(%rax), %rax
2:	movq	$0, THREAD_HELD(%rax)
1:	popq	%rcx
	.cfi_adjust_cfa_offset -8
	popq	%rax
	.cfi_adjust_cfa_offset -8
	jmp	enter_slow
	.cfi_endproc
	.size	plait_order_enter_kept, .-plait_order_enter_kept

	.type	enter_slow, @function
enter_slow:
	.cfi_startproc
	save_registers
	movq	24(%rbp), %rdi
	movl	16(%rbp), %esi
	call	order_enter_place
	restore_registers
	ret
	.cfi_endproc
	.size	enter_slow, .-enter_slow

	.globl	plait_order_leave_kept
	.type	plait_order_leave_kept, @function
plait_order_leave_kept:
	.cfi_startproc
	pushq	%rax
	.cfi_adjust_cfa_offset 8
	movq	rt_self_@gottpoff(%rip), %rax
	movq	%fs:(%rax), %rax
	testq	%rax, %rax
	je	4f
	cmpl	$0, THREAD_NESTED(%rax)
	jne	2f
	testb	$ORDER_KEPT, THREAD_HELD(%rax)
	je	1f
	movq	$0, THREAD_HELD(%rax)
	popq	%rax
	ret
1:	pushq	%rcx
	movq	THREAD_HELD(%rax), %rcx
	testq	%rcx, %rcx
	je	3f
	movl	$0, SLOT_LOCK(%rcx)
	movq	$0, THREAD_HELD(%rax)
3:	popq	%rcx
	popq	%rax
	ret
2:	decl	THREAD_NESTED(%rax) /* a signal handler, inside another access */
4:	popq	%rax
	ret
	.cfi_endproc
	.size	plait_order_leave_kept, .-plait_order_leave_kept
	.section .note.GNU-stack, "", @progbits
