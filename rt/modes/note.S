/* A note by which `unplait` knows a program that contains libplait, even a stripped one. */
	.section .note.unplait, "a", @note
	.balign 4
	.long 8, 4, 1
	.asciz "unplait"
	.long 1
	.section .note.GNU-stack, "", @progbits
