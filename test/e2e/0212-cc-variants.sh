#!/usr/bin/env bash
# Which code a link makes: by default that of hunting and modes sync, path and full. Modes order and block use full's
# otherwise, and say so; 1820 tests what is made at the first use of a mode.
# level: check
. "$(dirname "$0")/lib.sh"

cp "$CORPUS/account/main.c" .
run 0 unplait cc -g -O2 -pthread -o some main.c
run 0 env UNPLAIT_VARIANTS=order "$UNPLAIT" cc -g -O2 -pthread -o order main.c
run 0 env UNPLAIT_VARIANTS=all "$UNPLAIT" cc -g -O2 -pthread -o all main.c
variants() { readelf -p .plait.build "$1" | grep variants >sections; }
variants some
has sections "variants plain path full"
variants order
has sections "variants plain path full order"
variants all
has sections "variants plain path full graph order"
run 2 env UNPLAIT_VARIANTS=graph,some "$UNPLAIT" cc -g -O2 -pthread -o other main.c
has err "not 'some'"

for mode in order block; do
	"$UNPLAIT" record --mode $mode -o $mode.plait -- ./some >out 2>err
	has err "UNPLAIT_VARIANTS=order" "$mode: it says what would be quicker"
done
for mode in graph order block; do
	"$UNPLAIT" record --mode $mode -o $mode-all.plait -- ./all >out 2>err
	hasnt err "UNPLAIT_VARIANTS" "$mode: nothing to say"
done
# what it says is what to type
"$UNPLAIT" record --mode order -o order.plait -- ./some >out 2>err
again=$(sed -n 's/.*link it again: \((cd .*)\)$/\1/p' err)
run 0 env PATH="$(dirname "$UNPLAIT"):$PATH" sh -c "cd / && $again"
variants some
has sections "order"

# for hunting alone: one version, which works without us, under control, and in mode full
run 0 env UNPLAIT_VARIANTS=control "$UNPLAIT" cc -g -O2 -pthread -o only main.c
variants only
has sections "variants full"
hasnt sections "path"
run 1 unplait hunt --runs 2000 -o only.plait -- ./only
run 1 unplait replay only.plait
run 1 unplait explain --runs 100 only.plait
"$UNPLAIT" record -o full.plait -- ./only >out 2>err
has out " events" "mode full records"
# constructors, virtual functions, exceptions, weak functions, addresses in tables
cat >shapes.cc <<'X'
#include <cstdio>
#include <stdexcept>
#include <thread>
struct base { virtual ~base() {} virtual int f() { return 1; } };
struct derived : base { int f() override { throw std::runtime_error("f"); } };
static int counter = []() { return 40; }();
__attribute__((weak)) int weak(int x) { return x + 1; }
static int (*const table[])(int) = { weak };
thread_local int mine = counter;
int main()
{
	int got = 0;
	std::thread t([&] { derived d; base *b = &d; try { got = b->f(); } catch (const std::exception &e) { got = table[0](mine); } });
	t.join();
	std::printf("%d\n", got);
	return got != 41;
}
X
run 0 env UNPLAIT_VARIANTS=control "$UNPLAIT" c++ -g -O1 -pthread -o shapes shapes.cc
run 0 ./shapes
is "$(cat out)" 41 "runs by itself"
run 0 unplait hunt --runs 50 --fail-on exit -- ./shapes
# a library and its program
echo 'int twice(int x) { return 2 * x; }' >twice.c
echo 'int twice(int); int main(void) { return twice(21) != 42; }' >uses.c
run 0 env UNPLAIT_VARIANTS=control "$UNPLAIT" cc -g -shared -fPIC -o libtwice.so twice.c
run 0 env UNPLAIT_VARIANTS=control "$UNPLAIT" cc -g -o uses uses.c ./libtwice.so
run 0 ./uses
run 0 unplait hunt --runs 5 --fail-on exit -- ./uses
finish
