# test/e2e/dumps.sh - core dumps for the tests: of the kernel where it writes them here, else of gdb.
# dump_of CORE PROGRAM [ARG]...: run it until it fails, leave its dump. Standard input goes to the program.
dump_of() {
	local to=$1 folder
	shift
	folder=$(mktemp -d "$work/dump-XXXXXX")
	cat >"$folder/input" </dev/stdin
	(
		ulimit -c unlimited
		"$@" <"$folder/input" >/dev/null 2>&1
	) >/dev/null 2>&1
	for core in core core.*; do
		[ ! -f "$core" ] || mv "$core" "$to"
	done
	[ -f "$to" ] ||
		gdb -q -batch -nx -ex "set startup-with-shell off" -ex "run <$folder/input >/dev/null 2>&1" \
			-ex "generate-core-file $to" --args "$@" >/dev/null 2>&1
	[ -f "$to" ] && ok "a dump of $*" || not_ok "a dump of $*"
}
