#!/usr/bin/env bash
# As a new user: a project with its own Makefile, gcc -O2 and a library of its own crashes; the kernel's core, one command,
# and gdb stops at the failure in the shipped binary, again and again.
# level: check
. "$(dirname "$0")/lib.sh"
. "$top/test/e2e/dumps.sh"

mkdir project
cat >project/Makefile <<'M'
CFLAGS ?= -O2 -g
table: main.o libtable.so
	$(CC) $(CFLAGS) -o $@ main.o -L. -ltable
libtable.so: store.c table.h
	$(CC) $(CFLAGS) -fPIC -shared -o $@ store.c
main.o: main.c table.h
M
cat >project/table.h <<'C'
struct row { char name[8]; struct row *next; };
struct row *row_find(const char *name);
void row_add(const char *name);
C
cat >project/store.c <<'C'
#include "table.h"
#include <stdlib.h>
#include <string.h>
static struct row *first;
void row_add(const char *name)
{
	struct row *r = calloc(1, sizeof(*r));
	strncpy(r->name, name, sizeof(r->name) - 1);
	r->next = first;
	first = r;
}
struct row *row_find(const char *name)
{
	struct row *r = first;
	while (r && strcmp(r->name, name) != 0)
		r = r->next;
	return r;
}
C
cat >project/main.c <<'C'
#include "table.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
__attribute__((noinline)) static void rename_row(const char *from, const char *to)
{
	struct row *r = row_find(from);
	strncpy(r->name, to, sizeof(r->name) - 1); /* nobody looked whether it is there */
	printf("%s\n", r->name);
}
int main(int argc, char **argv)
{
	char line[64];
	while (fgets(line, sizeof(line), stdin)) {
		line[strcspn(line, "\n")] = 0;
		row_add(line);
	}
	if (argc > 1 && getenv("RENAME"))
		rename_row(argv[1], getenv("RENAME"));
	return 0;
}
C
cp -r project again
make -s -C project CC=gcc >/dev/null 2>&1
make -s -C again CC="$UNPLAIT cc" CFLAGS="-O0 -g" >/dev/null 2>&1
[ -x again/table ] && ok "its own Makefile builds it with unplait cc" || not_ok "its own Makefile builds it with unplait cc"
export LD_LIBRARY_PATH=$PWD/project
printf 'ann\nbob\n' | RENAME=eve dump_of t.core project/table joe
unset LD_LIBRARY_PATH
# the loader's own words, when it does not find the library of this build
run 3 unplait synth t.core again/table
has err "libtable.so"
has err "LD_LIBRARY_PATH"
# its library by this variable; the shipped one finds its own where the dump says
export LD_LIBRARY_PATH=$PWD/again
run 1 unplait synth -o t.plait t.core again/table
unset LD_LIBRARY_PATH
has out "rename_row at main.c:8"
has out "RENAME=eve"
has out "joe"
has out "8 bytes of standard input"
has out "confirmed in the unplait build and in the shipped binary"
run 1 unplait replay --times 50 t.shipped.plait
has out "replayed 50 of 50"
if command -v gdb >/dev/null; then
	mkdir elsewhere
	cd elsewhere || exit 3
	printf 'set confirm off\nrun\nbt 4\nkill\nrun\nbt 4\nkill\nrun\nbt 4\n' |
		"$UNPLAIT" replay --gdb ../t.shipped.plait >../gdb.out 2>&1
	cd ..
	[ "$(grep -c 'Program received signal SIGSEGV' gdb.out)" -eq 3 ] && ok "gdb stops at the failure each time" ||
		not_ok "gdb stops at the failure each time" "$(cat gdb.out)"
	[ "$(grep -c '"eve") at main.c:8' gdb.out)" -eq 3 ] && ok "with the variable of the dump" ||
		not_ok "with the variable of the dump" "$(cat gdb.out)"
else
	skip "gdb" "not installed"
fi
finish
