#compdef unplait
# zsh completion for unplait: commands and options come from the tool itself.
_unplait() {
	local -a found
	if (( CURRENT == 2 )); then
		found=(${(f)"$(unplait help | sed -n 's/^  \([a-z+]*\)  *\(.*\)/\1:\2/p')"})
		_describe command found
		return
	fi
	case $words[CURRENT] in
	-*)
		case $words[2] in
		cc | c++) ;;
		*)
			found=(${(f)"$(unplait $words[2] --help 2>/dev/null | grep -oE -- '--[a-z0-9-]+' | sort -u)"})
			compadd -a found
			;;
		esac
		;;
	*) _files ;;
	esac
}
_unplait "$@"
