#!/usr/bin/env bash
# Causes that are about objects: who freed a block, what was written past its end, what nobody has written, and calls
# through pointers on the way there.
# level: check
. "$(dirname "$0")/lib.sh"

if [ ! -x "$top/build/unplait-lift" ] || [ "$(cat /proc/sys/kernel/core_pattern)" != core ]; then
	skip "rewind" "unplait-lift is not built, or the kernel does not write files named core"
	finish
fi
cp "$top/test/programs/rewind-objects.c" .
source=rewind-objects.c
line() { grep -n "$1" "$source" | cut -d: -f1; }
dump() { (ulimit -c unlimited && exec "$@") >/dev/null 2>&1; mv core* dump; }
# cause CASE TEXT WHAT: the cause of the dump that `program CASE` leaves
cause() { dump ./program "$1"; run 1 unplait rewind --time 10 dump; has out "$2" "$build: $3"; }

build="gcc -O0"
gcc -O0 -g -w -o program "$source"
cause s "+8 is still 0, as memset made it at rewind-objects.c:$(line 'prev is still 0')" \
	"a member that nobody wrote, behind an allocator in a table and a list"
cause f "was read after it was freed" "a block that was freed"
has out "; it was freed at rewind-objects.c:$(line 'freed here') in drop" "$build: and who freed it"
cause t "was given to free again, at rewind-objects.c:$(line 'given again') in twice" "a block that was freed twice"
cause n "which is no block of the heap (heap block of 24 bytes+2), at rewind-objects.c:$(line 'free(text)')" \
	"an address inside a block was freed"
cause l "overwritten past the end of line.name[0] of in_frame at rewind-objects.c:$(line 'past the end of name')" \
	"a loop over the end of a member of a local variable"
cause h "overwritten past the end of heap block of 24 bytes at rewind-objects.c:$(line 'past the end of a block')" \
	"a loop over the end of a block"
cause c "memcpy was given the length 18446744073709451621 for heap block of 72 bytes, at rewind-objects.c:$(line 'too long \*/')" \
	"a length that is too large"
cause i "row of far_index was set to 0x927c0 at rewind-objects.c:$(line 'the row')" "the index, not the line that used it"

build="clang -O2"
clang-19 -O2 -g -w -o program "$source"
cause s "+8 was set to 0x0 at rewind-objects.c:$(line 'prev is still 0') in new_item" "a member that nobody wrote"
cause f "; it was freed at rewind-objects.c:$(line 'freed here') in drop" "who freed it"
cause t "was given to free again" "a block that was freed twice"
finish
