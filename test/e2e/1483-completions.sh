#!/usr/bin/env bash
# Completions, typed into the shells themselves: bash, and zsh and fish where they are installed.
# level: check
. "$(dirname "$0")/lib.sh"

mkdir path plaits && ln -s "$UNPLAIT" path/unplait && touch plaits/fail.plait
PATH=$work/path:$PATH
# what each shell offers for a line goes to `offers`
offers_bash() {
	bash --norc -c '. "$1"; read -ra COMP_WORDS <<<"$2"; [ "${2% }" = "$2" ] || COMP_WORDS+=(""); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); compopt() { :; }
		_unplait; printf "%s\n" "${COMPREPLY[@]}"' - "$top/scripts/completion.bash" "$1" >offers
}
offers_fish() { HOME=$work fish --no-config -c 'source $argv[1]; complete -C $argv[2]' "$top/scripts/completion.fish" "$1" | cut -f1 >offers; }
# a terminal with zsh in it: Tab Tab lists; every offer of compadd is noted on the way
offers_zsh() {
	mkdir -p zfun && cp "$top/scripts/completion.zsh" zfun/_unplait
	cat >zsession.py <<'END'
import os, pty, select, sys
pid, fd = pty.fork()
if pid == 0:
    os.environ.update(ZDOTDIR=os.getcwd() + "/none", TERM="dumb", COLUMNS="200", LINES="60")
    os.execvp("zsh", ["zsh", "-f", "-i"])
def read(until, silence=20):
    """Up to these bytes, or until nothing has come for so long."""
    got = b""
    while until not in got and select.select([fd], [], [], silence)[0]:
        try:
            got += os.read(fd, 65536)
        except OSError:
            break
    return got
os.write(fd, b"PS1='> '; LISTMAX=9999; fpath=($PWD/zfun $fpath); autoload -U compinit; compinit -u -d $PWD/zdump; echo re''ady\n")
read(b"ready")
read(b"> ", 2)
os.write(fd, sys.argv[1].encode() + b"\t\t")
sys.stdout.write(read(b"no such end", 2).decode(errors="replace"))
os.kill(pid, 9)
END
	timeout 60 python3 zsession.py "$1" >offers 2>&1
}
tried=
for shell in bash zsh fish; do
	command -v $shell >/dev/null || { skip "$shell" "not installed"; continue; }
	tried="$tried $shell"
	offers_$shell "unplait hun"
	has offers hunt "$shell: a command"
	hasnt offers predict "$shell: and no other"
	offers_$shell "unplait re"
	for c in record replay report; do has offers $c "$shell: $c"; done
	offers_$shell "unplait hunt --witn"
	has offers --witness "$shell: an option of hunt"
	offers_$shell "unplait explain --witn"
	grep -q -- '--witness' offers && not_ok "$shell: explain has no such option" "$(cat offers)" || ok "$shell: explain has no such option"
done
for shell in zsh fish; do
	case $tried in *$shell*)
		cd plaits && cp -r ../zfun . 2>/dev/null
		offers_$shell "unplait replay fa"
		has offers fail.plait "$shell: files"
		cd ..
		;;
	esac
done
finish
