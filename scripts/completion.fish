# fish completion for unplait: commands and options come from the tool itself.
function __unplait_commands
	unplait help | string replace -rf '^  ([a-z+]+) +(.*)' '$1\t$2'
end
function __unplait_options
	set -l words (commandline -opc)
	if contains -- $words[2] cc c++
		return
	end
	unplait $words[2] --help 2>/dev/null | grep -oE -- '--[a-z0-9-]+' | sort -u
end
complete -c unplait -f -n 'test (count (commandline -opc)) -eq 1' -a '(__unplait_commands)'
complete -c unplait -n 'test (count (commandline -opc)) -ge 2; and string match -q -- "-*" (commandline -ct)' -a '(__unplait_options)'
