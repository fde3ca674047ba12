/* report/assets.c - the style and script of the pages, embedded at build time. */
#include "report/assets.h"

/* clang-format off */
#define EMBED(name, path)                                                                          \
	__asm__(".section .rodata\n.global " #name "\n" #name ":\n.incbin \"" path "\"\n.byte 0\n.previous\n")

EMBED(asset_explain_css, "report/assets/explain.css");
EMBED(asset_explain_js, "report/assets/explain.js");
/* clang-format on */
