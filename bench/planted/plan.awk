# plan.awk -v count=N -v seed=S WITNESS... - N bugs that plain runs have shown to be possible, one a line:
# NUMBER KIND VISIT EXACT A B (visit.c, race.h). Kinds take turns. A bug at the n-th visit was witnessed at the n-th visit of both sides.
# "early" needs a place that came before the other in some runs and after it in others.
function add(k, what) { if (!((k, what) in known)) { known[k, what]; bug[k, bugs[k]++] = what } }
FNR == 1 { run++; visited = 0 }
$1 == "together" {
	n = $3 < $5 ? $3 : $5
	n = n > 3 ? 3 : n
	x = ($3 == $5 && n > 1 && $3 <= 3) ? int(n % 2) : 0
	if ($2 == $4) { add(0, n " " x " " $2 " " $4); add(5, n " " x " " $2 " " $4) }
	else { add(1, n " " x " " $2 " " $4); add(4, n " " x " " $2 " " $4); add(6, n " " x " " $2 " " $4) }
}
$1 == "three" { add(3, ($3 > 3 ? 3 : $3) " 0 " $2 " " $2) }
$1 == "first" { place[$2]; when[run, $2] = ++visited }
END {
	for (a in place)
		for (b in place) {
			before = after = 0
			for (r = 1; r <= run; r++)
				if (((r, a) in when) && ((r, b) in when)) { if (when[r, a] < when[r, b]) before++; else after++ }
			if (a != b && before && after)
				add(2, "1 0 " a " " b)
		}
	srand(seed)
	for (i = 1; i <= count; i++) {
		for (tries = 0; tries < 7 && !bugs[k = (i + tries) % 7]; tries++)
			;
		if (!bugs[k])
			break
		at = int(rand() * bugs[k])
		print i, k, bug[k, at]
		bug[k, at] = bug[k, --bugs[k]] # each once
	}
}
