# corpus/counts.awk - sizes of a run, from `unplait export -f csv`, as key=value lines.
#
# threads     that ran
# elements    named objects that two threads touch and one changes, an array being one; synchronisation objects too
# accesses    of those: loads and stores, plus synchronisation calls
# branches    conditional branches that the recording kept
BEGIN { FS = "," }
NR == 1 { next }
{ threads[$2] = 1 }
$4 == "branch" { branches++ }
$4 == "path-bits" { branches += $10 }
$4 ~ /^(read|write|atomic-|free)/ {
	count[$9]++
	name[$9] = $8
	if (!(($9, $2) in seen)) {
		seen[$9, $2] = 1
		users[$9]++
	}
	if ($4 !~ /^(read|atomic-read)/)
		written[$9] = 1
}
$4 ~ /lock|^(wait|woken|signal|broadcast|sem-|barrier-|once-|futex-)/ && $4 !~ /^signal-/ {
	accesses++
	object($8)
}
function object(s) {
	gsub(/"/, "", s)
	gsub(/\[[^]]*\]/, "", s)
	elements[s] = 1
}
END {
	for (a in count)
		if (users[a] > 1 && (a in written)) {
			accesses += count[a]
			object(name[a])
		}
	for (t in threads) nthreads++
	for (e in elements) nelements++
	printf "threads=%d\nelements=%d\naccesses=%d\nbranches=%d\n", nthreads, nelements, accesses, branches
}
