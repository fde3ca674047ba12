# place.awk -v first=N -v header=PATH FILE - put plant(N), plant(N + 1), ... behind whole statements.
# A statement that may be followed by another one: an assignment or a call, alone on its line, behind a line that ends a
# statement or opens a block. Line numbers stay. The number of places is printed to standard error.
BEGIN { n = first; print "#include \"" header "\"" }
{
	text = $0
	sub(/[ \t]*(\/\*.*\*\/|\/\/.*)?[ \t]*$/, "", text)
	whole = text ~ /^[ \t]+[a-zA-Z_][a-zA-Z0-9_>.\[\]-]*( [-+*|&]?= |\(|\+\+;|--;).*;$/
	whole = whole && text !~ /^[ \t]*(return|goto|if|for|while|do|switch|case|else|default|sizeof)[^a-z_]/
	whole = whole && gsub(/\(/, "(", text) == gsub(/\)/, ")", text) && text !~ /[{}]/
	if (whole && last ~ /[;{}]$/)
		print $0 " plant(" n++ ");"
	else
		print
	if (text !~ /^[ \t]*$/)
		last = text
}
END { print n > "/dev/stderr" }
