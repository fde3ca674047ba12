# corpus/marks.awk - does a run pass the marks in the stated order?
#
# input:  first file  "FILE:LINE:MARK" for each marked line; second file "THREAD FILE LINE" for each event, in order
# -v marks="a b b"    the order; each step is an event on a line with that mark, after the step before
# -v actors="1 2 1"   equal numbers are one thread, different ones different threads; empty: any thread
# -v any=1            the order says nothing: every mark must occur
# Says "in order" with status 0 if it does; else how far the run got, with status 1.
#
# A failure may end the run before the last marks: that one thread had done a and not yet c when another did b is the
# whole point of a, b, c. So the last steps may be missing, but their threads must not have done them since their own
# last step; that is said ("in order, ended before c").
#
# For a given choice of threads the earliest event is always the best one, so only the threads are searched.
NR == FNR { split($0, f, ":"); mark_at[f[1] ":" f[2]] = mark_at[f[1] ":" f[2]] " " f[3] " "; next }
{
	here = mark_at[$2 ":" $3]
	if (here == "")
		next
	n++
	thread[n] = $1
	event_marks[n] = here
}

function is_mark(e, i) { return index(event_marks[e], " " mark[i] " ") > 0 }

# Can steps i.. follow after event number `from`?
function follow(i, from,    e, who, tried) {
	if (i > nmarks) {
		left = ""
		return 1
	}
	if (i > best)
		best = i
	for (e = any ? 1 : from + 1; e <= n; e++) {
		if (!is_mark(e, i))
			continue
		if (!nactors)
			return follow(i + 1, e)
		who = actor[i]
		if (who in is_thread) {
			if (is_thread[who] == thread[e]) {
				at[i] = e
				return follow(i + 1, e)
			}
			continue
		}
		if ((thread[e] in taken) || index(tried, " " thread[e] " "))
			continue
		tried = tried " " thread[e] " "
		is_thread[who] = thread[e]
		taken[thread[e]] = 1
		at[i] = e
		if (follow(i + 1, e))
			return 1
		delete is_thread[who]
		delete taken[thread[e]]
	}
	return nactors && i > 2 && not_reached(i)
}

# Have the threads of steps i.. not passed those marks since their last step?
function not_reached(i,    k, m, e, last) {
	left = ""
	for (k = i; k <= nmarks; k++) {
		if (!(actor[k] in is_thread))
			return 0
		last = 0
		for (m = 1; m < i; m++)
			if (actor[m] == actor[k])
				last = at[m]
		for (e = last + 1; e <= n; e++)
			if (thread[e] == is_thread[actor[k]] && is_mark(e, k))
				return 0
		left = left " " mark[k]
	}
	return 1
}

END {
	nmarks = split(marks, mark, " ")
	nactors = split(actors, actor, " ")
	if (follow(1, 0)) {
		print "in order" (left != "" ? ", ended before" left : "")
		exit 0
	}
	printf "%d of %d, then no %s%s\n", best - 1, nmarks, mark[best], nactors ? " of actor " actor[best] : ""
	exit 1
}
