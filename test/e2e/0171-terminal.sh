#!/usr/bin/env bash
# level: quick
# What the program under test says is shown, never obeyed: no escape sequence reaches the terminal.
. "$(dirname "$0")/lib.sh"
cat >prog.c <<'C'
#include <pthread.h>
extern void __assert_fail(const char *, const char *, unsigned, const char *) __attribute__((noreturn));
static void *work(void *a) { return a; }
int main(void)
{
	pthread_t t;
	pthread_create(&t, 0, work, 0);
	pthread_join(t, 0);
	__assert_fail("\033[2J\033]0;owned\007all \342\200\256is well", "prog.c", 10, "main");
}
C
unplait cc -g -O1 -o prog prog.c -lpthread || not_ok build
esc=$(printf '\033')
silent() { # CMD...: whatever the status, no escape sequence in what it prints
	"$@" >out 2>err </dev/null
	cat out err | grep -v '^prog: ' >both # the program's own output passes through
	hasnt both "$esc" "$*: no escape sequence"
	hasnt both "$(printf '\342\200\256')" "$*: nothing turned around"
}
silent unplait record -o rec.plait -- ./prog "$esc[31m"
has out 'all \u202eis well'
silent unplait info rec.plait
has out '\x1b[31m'
has out 'all \u202eis well'
silent unplait info --events rec.plait
silent unplait hunt -o fail.plait -- ./prog "$esc[31m"
silent unplait replay fail.plait
silent unplait replay --step fail.plait
silent unplait info fail.plait
silent unplait minimize fail.plait -o min.plait
silent unplait export -f text fail.plait
silent unplait info "$esc[2J.plait"
silent unplait "$esc[2J"
silent unplait coop record -n 4 --share 100% --store logs.db -o logs -- ./prog "$esc[31m"
silent unplait coop stats logs.db
silent unplait coop merge logs.db -o merged.plait -- ./prog "$esc[31m"
silent unplait record --mode graph --runs 3 -o graphs -- ./prog "$esc[31m"
silent unplait rank graphs
silent unplait seal "$esc[2J"
finish
