# race-kinds.awk - race-kinds.txt as one C program: `race-kinds NAME` runs that kind. With -v list=1: "NAME VERDICT" lines.
function done() { if (name != "" && !list) printf "static void end_%d(void)\n{\n%s\n}\n", n, end }
BEGIN { if (!list) print "#include \"race-kinds.h\"" }
/^#/ || /^$/ { next }
/^= / { done(); n++; name = $2; end = ""; if (list) print $2, $3; kinds[n] = name; next }
!list && /^one: / { printf "static void *one_%d(void *arg)\n{\n%s\n\treturn arg;\n}\n", n, substr($0, 6); next }
!list && /^two: / { printf "static void *two_%d(void *arg)\n{\n%s\n\treturn arg;\n}\n", n, substr($0, 6); next }
/^end: / { end = substr($0, 6) }
END {
	if (list) exit
	done()
	print "static const struct { const char *name; void *(*one)(void *), *(*two)(void *); void (*end)(void); } kinds[] = {"
	for (i = 1; i <= n; i++) printf "\t{ \"%s\", one_%d, two_%d, end_%d },\n", kinds[i], i, i, i
	print "};\nenum { KINDS = sizeof(kinds) / sizeof(kinds[0]) };"
	print "int main(int argc, char **argv)\n{\n\tpthread_t t, u;\n\tset_up();"
	print "\tfor (int i = 0; i < KINDS; i++) {\n\t\tif (argc < 2 || strcmp(argv[1], kinds[i].name) != 0)\n\t\t\tcontinue;"
	print "\t\tpthread_create(&t, NULL, kinds[i].one, NULL);\n\t\tpthread_create(&u, NULL, kinds[i].two, NULL);"
	print "\t\tpthread_join(t, NULL);\n\t\tpthread_join(u, NULL);\n\t\tkinds[i].end();\n\t\treturn 0;\n\t}\n\treturn 2;\n}"
}
