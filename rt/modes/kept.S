/* Calls from the middle of a function, out of its way: every general register and the lower halves of
 * the vector registers are kept, so that instrumented code has nothing to save around a branch, a
 * value or an access. What wider code may lose to libc, `unplait cc` tells its code generator (cc/instrument/bits.c).
 *
 * Most flushes of bits have little to do: a quick function does it with general registers only,
 * keeps all of them but rax and r11, and returns whether that was all (path.c).
 *
 * In the full variant a site lies above the return address; in graph, a site and an address. */
#include "rt/core/registers.inc"

	.text

	.macro kept name, function, size=0, write=0, quick
	.globl	\name
	.type	\name, @function
\name:
	.cfi_startproc
	.ifnb	\quick
	pushq	%rax
	.cfi_adjust_cfa_offset 8
	pushq	%r11
	.cfi_adjust_cfa_offset 8
	call	\quick@PLT
	testb	%al, %al
	popq	%r11
	.cfi_adjust_cfa_offset -8
	popq	%rax
	.cfi_adjust_cfa_offset -8
	jz	1f
	ret
1:
	.endif
	save_registers
	movl	16(%rbp), %edi
	.if	\size
	movq	24(%rbp), %rsi
	movl	$\size, %edx
	movl	$\write, %ecx
	.endif
	call	\function@PLT
	restore_registers
	ret
	.cfi_endproc
	.size	\name, .-\name
	.endm

	kept	plait_flush_bits_kept, plait_flush_bits, quick=plait_quick_bits
	kept	plait_flush_values_kept, plait_flush_values
	kept	plait_flush_branch_kept, plait_flush_branch, quick=plait_quick_bits
	.irp	n, 1, 2, 4, 8
	kept	plait_shadow_read\n\()_kept, plait_shadow_slow, \n, 0
	kept	plait_shadow_write\n\()_kept, plait_shadow_slow, \n, 1
	.endr
	.section .note.GNU-stack, "", @progbits
