#!/usr/bin/env bash
# Verification people run unplait: tasks of SV-COMP's kind, and BenchExec's tool-info module.
# level: check
. "$(dirname "$0")/lib.sh"

mkdir path && ln -s "$UNPLAIT" path/unplait
PATH=$work/path:$PATH
verify=$top/contrib/benchexec/unplait-verify
echo 'CHECK( init(main()), LTL(G ! call(reach_error())) )' >unreach-call.prp
echo 'CHECK( init(main()), LTL(G ! data-race) )' >no-data-race.prp
printf 'CHECK( init(main()), LTL(G valid-free) )\nCHECK( init(main()), LTL(G valid-deref) )\n' >memory.prp
echo 'CHECK( init(main()), LTL(F end) )' >termination.prp
head='#include <pthread.h>
#include <stdlib.h>
void reach_error(void) {}
void abort(void);
void assume(int c) { if (!c) abort(); }
int __VERIFIER_nondet_int(void);
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
int x;'
main='int main(void) { pthread_t t; pthread_create(&t, 0, f, 0); g(); pthread_join(t, 0); return 0; }'
task() { printf '%s\n' "$head" "$2" "$main" >"$1.c"; }
task reach 'void *f(void *p) { x = 1; return p; } void g(void) { if (x == 1) reach_error(); }'
task safe 'void *f(void *p) { pthread_mutex_lock(&m); x++; pthread_mutex_unlock(&m); return p; }
void g(void) { f(0); pthread_mutex_lock(&m); if (x > 2) reach_error(); pthread_mutex_unlock(&m); }'
task input 'void *f(void *p) { pthread_mutex_lock(&m); x = 1; pthread_mutex_unlock(&m); return p; }
void g(void) { assume(__VERIFIER_nondet_int() == 0); if (__VERIFIER_nondet_int() == 7) reach_error(); }'
task assumes 'void *f(void *p) { x = 1; return p; } void g(void) { assume(x == 0); }'
task freed 'int *q; void *f(void *p) { free(q); return p; } void g(void) { if (q) *q = 1; }'
sed -i 's/int main(void) { pthread_t t;/int main(void) { pthread_t t; q = malloc(4);/' freed.c
task atomic 'void __VERIFIER_atomic_begin(void); void *f(void *p) { __VERIFIER_atomic_begin(); return p; } void g(void) {}'
answer() { # verdict property program [option...]
	local want=$1 property=$2 program=$3
	shift 3
	"$verify" --time 20 --property $property.prp "$@" $program.c >out 2>err
	is "$(sed -n 's/^verdict: //p' out)" "$want" "$program, $property: $want"
}
answer 'FALSE(unreach-call)' unreach-call reach --witness reach.yml
has reach.yml 'file_name: "reach.c"' "the witness speaks of the task's own file"
answer TRUE unreach-call safe
answer UNKNOWN unreach-call input
answer UNKNOWN unreach-call reach --data-model ILP32
answer UNKNOWN unreach-call atomic
answer UNKNOWN termination reach
answer 'FALSE(no-data-race)' no-data-race assumes
answer UNKNOWN no-data-race safe
answer 'FALSE(valid-deref)' memory freed
"$verify" --time 20 --property unreach-call.prp assumes.c >out
grep -q 'verdict: FALSE' out && not_ok "an assumption that fails is no violation" "$(cat out)" || ok "an assumption that fails is no violation"
echo 'int main(' >broken.c
run 3 "$verify" broken.c
run 2 "$verify"

# the module against BenchExec, or where that is not installed against a stand-in with its interface
if ! python3 -c 'import benchexec' 2>/dev/null; then
	mkdir -p benchexec/tools
	touch benchexec/__init__.py benchexec/tools/__init__.py
	printf 'RESULT_%s = "%s"\n' TRUE_PROP true FALSE_PROP false UNKNOWN unknown ERROR ERROR >benchexec/result.py
	cat >benchexec/tools/template.py <<'END'
import subprocess
class BaseTool2:
    def _version_from_tool(self, executable, arg="--version"):
        return subprocess.run([executable, arg], capture_output=True, text=True).stdout.strip()
END
	echo "# BenchExec is not installed: a stand-in"
fi
cp "$top/contrib/benchexec/unplait.py" .
cat >bench.py <<'END'
import os, subprocess, sys, types
sys.path.insert(0, os.getcwd())
import importlib.util
spec = importlib.util.spec_from_file_location("unplait_info", "unplait.py")
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
tool = module.Tool()
class Locator:
    def find_executable(self, name, subdir=""):
        return os.path.join(sys.argv[1], name)
executable = tool.executable(Locator())
print("name", tool.name(), "version", tool.version(executable))
for program in ("reach.c", "safe.c", "input.c"):
    task = types.SimpleNamespace(property_file="unreach-call.prp", options={"language": "C", "data_model": "LP64"},
                                 input_files_or_identifier=[program])
    limits = types.SimpleNamespace(cputime=20, walltime=None)
    line = tool.cmdline(executable, ["--witness", program + ".yml"], task, limits)
    done = subprocess.run(line, capture_output=True, text=True)
    print(program, tool.determine_result(types.SimpleNamespace(output=done.stdout.splitlines(), exit_code=done.returncode)))
print("nothing", tool.determine_result(types.SimpleNamespace(output=[], exit_code=1)))
END
run 0 python3 bench.py "$top/contrib/benchexec"
has out "name unplait version $(unplait version | awk '{ print $NF; exit }')"
has out 'reach.c false(unreach-call)'
has out 'safe.c true'
has out 'input.c unknown'
has out 'nothing ERROR'
finish
