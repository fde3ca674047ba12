/* Mode sync: around an atomic of the plain variant (atomics.c). Both functions keep every register; only the
 * flags are lost. The fast way is compiled for general registers alone, so only those are saved around it.
 *
 * enter: above the return address lies the address of what the atomic accesses. */
#include "rt/core/registers.inc"

	.macro save_general
	.irp	reg, rax, rcx, rdx, rsi, rdi, r8, r9, r10, r11
	pushq	%\reg
	.cfi_adjust_cfa_offset 8
	.endr
	.endm

	.macro restore_general
	.irp	reg, r11, r10, r9, r8, rdi, rsi, rdx, rcx, rax
	popq	%\reg
	.cfi_adjust_cfa_offset -8
	.endr
	.endm

	.text
	.globl	plait_sync_enter_kept
	.type	plait_sync_enter_kept, @function
plait_sync_enter_kept:
	.cfi_startproc
	save_general
	movq	80(%rsp), %rdi
	call	log_atomic_enter
	restore_general
	ret
	.cfi_endproc
	.size	plait_sync_enter_kept, .-plait_sync_enter_kept

	.globl	plait_sync_leave_kept
	.type	plait_sync_leave_kept, @function
plait_sync_leave_kept:
	.cfi_startproc
	save_general
	call	log_atomic_leave
	testb	%al, %al
	restore_general
	jne	leave_slow
	ret
	.cfi_endproc
	.size	plait_sync_leave_kept, .-plait_sync_leave_kept

	.type	leave_slow, @function
leave_slow:
	.cfi_startproc
	save_registers
	call	log_atomic_record
	restore_registers
	ret
	.cfi_endproc
	.size	leave_slow, .-leave_slow
	.section .note.GNU-stack, "", @progbits
