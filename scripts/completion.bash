# bash completion for unplait: commands and options come from the tool itself.
_unplait() {
	local cur=${COMP_WORDS[COMP_CWORD]} cmd=${COMP_WORDS[1]-}
	if [ "$COMP_CWORD" -eq 1 ]; then
		COMPREPLY=($(compgen -W "$(unplait help | sed -n 's/^  \([a-z+]*\) .*/\1/p')" -- "$cur"))
		return
	fi
	case $cur in
	-*) case $cmd in
		cc | c++) ;;
		*) COMPREPLY=($(compgen -W "$(unplait "$cmd" --help 2>/dev/null | grep -oE -- '--[a-z0-9-]+' | sort -u)" -- "$cur")) ;;
		esac ;;
	*) compopt -o default ;;
	esac
}
complete -F _unplait unplait
