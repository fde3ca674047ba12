/* base/embed.h - a file of the source tree as a string in the program: EMBED(name, "path/of/file");
 * with `extern const char name[];` declared. The Makefile lists what an object embeds. */
#ifndef BASE_EMBED_H
#define BASE_EMBED_H

/* clang-format off */
#define EMBED(name, path)                                                                          \
	__asm__(".section .rodata\n.global " #name "\n" #name ":\n.incbin \"" path "\"\n.byte 0\n.previous\n")
/* clang-format on */

#endif
