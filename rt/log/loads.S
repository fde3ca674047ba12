/* Mode sync: an atomic load of the plain variant, without a lock where that will do (atomics.c).
 *
 * rdi: the address; the value, filled up with zeros, is returned in rax. rcx, rdx, rsi, r8, r9 and the flags
 * are lost; every other register stays. */
#include "rt/log/atomics.h"

	.macro sync_load bytes, move, value
	.globl	plait_sync_load\bytes
	.type	plait_sync_load\bytes, @function
	.p2align 4
plait_sync_load\bytes:
	.cfi_startproc
	movq	rt_self_@gottpoff(%rip), %rcx
	movq	%fs:(%rcx), %rcx
	testq	%rcx, %rcx
	je	1f
	movq	LOG_THREAD_CELLS(%rcx), %rdx
	testq	%rdx, %rdx
	je	1f
	cmpl	$0, LOG_THREAD_DEPTH(%rcx)
	jne	1f
	/* four times the place's number, and its stamp: the one that this thread has seen? */
	movq	%rdi, %rax
	shrq	$4, %rax
	imull	$LOG_CELLS_HASH, %eax, %eax
	shrl	$(32 - LOG_CELLS_BITS), %eax
	shll	$2, %eax
	leaq	log_stamps(%rip), %r8
	movq	(%r8, %rax, 2), %rsi
	cmpq	LOG_CELLS_FIRST(%rdx, %rax, 8), %rsi
	jne	1f
	\move	(%rdi), \value
	cmpq	(%r8, %rax, 2), %rsi
	jne	1f
	/* nobody has written meanwhile: count, and note it. A debugger stops a load here (2161-record-sync-late.sh) */
plait_sync_load\bytes\()_found:
	movq	LOG_THREAD_SYNCED(%rcx), %rcx
	movl	$1, %esi
	xaddq	%rsi, (%rcx)
	incq	%rsi
	movq	%rsi, LOG_CELLS_FIRST + 8(%rdx, %rax, 8)
	incq	(%rdx)
	movq	%r9, %rax
	ret
1:	pushq	%rdi
	.cfi_adjust_cfa_offset 8
	call	plait_sync_enter_kept
	\move	(%rdi), \value
	call	plait_sync_leave_kept
	popq	%rdi
	.cfi_adjust_cfa_offset -8
	movq	%r9, %rax
	ret
	.cfi_endproc
	.size	plait_sync_load\bytes, .-plait_sync_load\bytes
	.endm

	.text
	sync_load 1, movzbl, %r9d
	sync_load 2, movzwl, %r9d
	sync_load 4, movl, %r9d
	sync_load 8, movq, %r9
	.section .note.GNU-stack, "", @progbits
