/* test/gen/progen.c - random C programs without undefined behaviour, to compare two executions.
 *
 *	progen SEED COUNT > file.c
 *
 * The file holds COUNT independent programs as functions; its main runs them all and prints one
 * checksum line each. Arithmetic is done in unsigned types or guarded, indices are masked, loops
 * are bounded, every variable is initialised: whatever two correct executions print must agree. */
#include <stdio.h>
#include <stdlib.h>

static unsigned long long state;
static int unit; /* number of the program being written */
static int depth;

static unsigned rnd(unsigned n)
{
	state = state * 6364136223846793005ull + 1442695040888963407ull;
	return (unsigned)(state >> 33) % n;
}

static const char *const types[] = { "signed char", "unsigned char", "short", "unsigned short",
				     "int",	    "unsigned",	     "long",  "unsigned long",
				     "long long",   "_Bool" };
#define NTYPES	10
#define NVARS	8
#define NLOCALS 5

static int global_type[NVARS], local_type[NLOCALS];
static int in_function, nlocals;

static void expr(int d);

static void lvalue(void)
{
	switch (rnd(8)) {
	case 0:
		printf("g%d_a[(unsigned)(", unit);
		expr(3);
		printf(") %% 16u]");
		break;
	case 1:
		printf("g%d_s.f%u", unit, rnd(4));
		break;
	case 2:
		printf("g%d_p->f%u", unit, rnd(4));
		break;
	case 3:
		printf("g%d_m[(unsigned)(", unit);
		expr(3);
		printf(") & 3u][%u]", rnd(5));
		break;
	case 4:
		printf("(*g%d_q)", unit);
		break;
	default:
		if (in_function && rnd(2))
			printf("l%u", rnd((unsigned)nlocals));
		else
			printf("g%d_%u", unit, rnd(NVARS));
	}
}

static void constant(void)
{
	static const char *const c[] = { "0",
					 "1",
					 "2",
					 "7",
					 "-1",
					 "255",
					 "256",
					 "65535",
					 "2147483647",
					 "(-2147483647 - 1)",
					 "4294967295u",
					 "9223372036854775807l",
					 "0x8000000000000000ul",
					 "'z'",
					 "12345678901l",
					 "3",
					 "16",
					 "31",
					 "63" };

	printf("%s", c[rnd(sizeof(c) / sizeof(c[0]))]);
}

static void binary(const char *op, int d)
{
	printf("((unsigned long)(");
	expr(d + 1);
	printf(") %s (unsigned long)(", op);
	expr(d + 1);
	printf("))");
}

static void expr(int d)
{
	static const char *const plain[] = { "+", "-", "*", "&", "|", "^" };
	static const char *const compare[] = { "<", "<=", ">", ">=", "==", "!=" };

	if (d >= 5) {
		if (rnd(3))
			printf("%s%d_%u", "g", unit, rnd(NVARS));
		else
			constant();
		return;
	}
	switch (rnd(20)) {
	case 0:
		constant();
		break;
	case 1:
	case 2:
	case 3:
		lvalue();
		break;
	case 4:
	case 5:
	case 6:
		binary(plain[rnd(6)], d);
		break;
	case 7:
		printf("((");
		expr(d + 1);
		printf(") %s (", compare[rnd(6)]);
		expr(d + 1);
		printf("))");
		break;
	case 8: /* signed comparison of narrow values */
		printf("((int)(");
		expr(d + 1);
		printf(") %s (int)(", compare[rnd(6)]);
		expr(d + 1);
		printf("))");
		break;
	case 9:
		printf("safe_%s((long)(", rnd(2) ? "div" : "rem");
		expr(d + 1);
		printf("), (long)(");
		expr(d + 1);
		printf("))");
		break;
	case 10:
		printf("safe_u%s((unsigned)(", rnd(2) ? "div" : "rem");
		expr(d + 1);
		printf("), (unsigned)(");
		expr(d + 1);
		printf("))");
		break;
	case 11:
		printf("((unsigned)(");
		expr(d + 1);
		printf(") %s ((unsigned)(", rnd(2) ? "<<" : ">>");
		expr(d + 1);
		printf(") & 31u))");
		break;
	case 12:
		printf("((long)(");
		expr(d + 1);
		printf(") >> ((unsigned)(");
		expr(d + 1);
		printf(") & 63u))");
		break;
	case 13:
		printf("((");
		expr(d + 1);
		printf(") ? (");
		expr(d + 1);
		printf(") : (");
		expr(d + 1);
		printf("))");
		break;
	case 14:
		printf("((%s)(", types[rnd(NTYPES)]);
		expr(d + 1);
		printf("))");
		break;
	case 15:
		printf("(%s(", rnd(2) ? "!" : "~(unsigned)");
		expr(d + 1);
		printf("))");
		break;
	case 16:
		printf("((");
		expr(d + 1);
		printf(") %s (", rnd(2) ? "&&" : "||");
		expr(d + 1);
		printf("))");
		break;
	case 17:
		printf("via_double((double)(int)(");
		expr(d + 1);
		printf("), %u)", rnd(7));
		break;
	case 18:
		printf("wide((unsigned long)(");
		expr(d + 1);
		printf("), (unsigned long)(");
		expr(d + 1);
		printf("), %u)", rnd(6));
		break;
	default:
		printf("bits((unsigned long)(");
		expr(d + 1);
		printf("), %u)", rnd(8));
	}
}

static void indent(void)
{
	for (int i = 0; i <= depth; i++)
		putchar('\t');
}

static void statements(int n, int level);

static void statement(int level)
{
	static int counter;
	int id;

	indent();
	switch (level > 3 ? rnd(3) : rnd(11)) {
	case 0:
	case 1:
	case 2:
		lvalue();
		printf(" = ");
		expr(0);
		printf(";\n");
		break;
	case 3:
		printf("if (");
		expr(1);
		printf(") {\n");
		statements(2, level + 1);
		indent();
		printf("} else {\n");
		statements(1, level + 1);
		indent();
		printf("}\n");
		break;
	case 4:
		id = counter++;
		printf("for (int i%d = 0; i%d < %u; i%d++) {\n", id, id, 1 + rnd(9), id);
		statements(2, level + 1);
		depth++;
		indent();
		printf("g%d_a[i%d & 15] += (unsigned)i%d;\n", unit, id, id);
		indent();
		printf("if (g%d_0 == %u) %s;\n", unit, rnd(4), rnd(2) ? "break" : "continue");
		depth--;
		indent();
		printf("}\n");
		break;
	case 5:
		printf("switch ((unsigned)(");
		expr(2);
		printf(") %% 7u) {\n");
		for (unsigned k = 0; k < 7; k += 1 + rnd(2)) {
			indent();
			printf("case %u:\n", k);
			statements(1, level + 1);
			if (rnd(3)) {
				indent();
				printf("\tbreak;\n");
			}
		}
		indent();
		printf("default: g%d_1++;\n", unit);
		indent();
		printf("}\n");
		break;
	case 6:
		printf("g%d_p = &g%d_%s;\n", unit, unit, rnd(2) ? "s" : "t");
		break;
	case 7:
		printf("g%d_q = &g%d_a[(unsigned)(", unit, unit);
		expr(2);
		printf(") %% 16u];\n");
		break;
	case 8:
		printf("memcpy(%s, %s, sizeof(g%d_s));\n", rnd(2) ? "g_buf" : "g_buf + 3",
		       rnd(2) ? "g_buf + 40" : "g_buf + 41", unit);
		break;
	case 9:
		printf("g%d_t = g%d_s; g%d_u.w = (unsigned)(", unit, unit, unit);
		expr(2);
		printf("); g%d_2 ^= g%d_u.b[%u];\n", unit, unit, rnd(4));
		break;
	default:
		printf("g%d_3 = (%s)sum(%u, (int)(", unit, types[global_type[3]], 1 + rnd(3));
		expr(2);
		printf("), (long)(");
		expr(2);
		printf("), 2.5 * (double)(short)(");
		expr(2);
		printf("));\n");
	}
}

static void statements(int n, int level)
{
	depth++;
	for (int i = 0; i < n; i++)
		statement(level);
	depth--;
}

static void function(int n)
{
	nlocals = NLOCALS;
	in_function = 1;
	printf("static long f%d_%d(long a, unsigned b, struct s%d by_value)\n{\n", unit, n, unit);
	for (int i = 0; i < NLOCALS; i++) {
		local_type[i] = (int)rnd(NTYPES);
		printf("\t%s l%d = (%s)(%s);\n", types[local_type[i]], i, types[local_type[i]],
		       i == 0	? "a"
		       : i == 1 ? "b"
		       : i == 2 ? "by_value.f1"
		       : i == 3 ? "5"
				: "(a ^ b)");
	}
	if (n)
		printf("\tif ((b & 3u) && calls++ < 200)\n\t\tl0 ^= (%s)f%d_%d(a + 1, b >> 1, "
		       "by_value);\n",
		       types[local_type[0]], unit, (int)rnd((unsigned)n));
	statements(5, 0);
	printf("\treturn (long)((unsigned long)l0 + (unsigned long)l1 * 3u + (unsigned long)l2 * "
	       "5u + (unsigned long)l3 + (unsigned long)l4);\n}\n");
	in_function = 0;
}

static void program(void)
{
	printf("struct s%d { %s f0; %s f1 : %u; unsigned f2 : %u; long f3; };\n", unit,
	       types[rnd(NTYPES - 1)], rnd(2) ? "int" : "unsigned", 3 + rnd(20), 5 + rnd(25));
	printf("static struct s%d g%d_s = { %u, 1, 2, 3 }, g%d_t, *g%d_p = &g%d_s;\n", unit, unit,
	       rnd(100), unit, unit, unit);
	printf("static union { unsigned w; unsigned char b[4]; } g%d_u;\n", unit);
	printf("static %s g%d_m[4][5];\n", types[rnd(NTYPES)], unit);
	printf("static unsigned g%d_a[16] = { %u, %u, %u }, *g%d_q = g%d_a;\n", unit, rnd(99),
	       rnd(99), rnd(99), unit, unit);
	for (int i = 0; i < NVARS; i++) {
		global_type[i] = (int)rnd(NTYPES);
		printf("static %s g%d_%d = %u;\n", types[global_type[i]], unit, i, rnd(128));
	}
	for (int i = 0; i < 3; i++)
		function(i);
	printf("static void program%d(void)\n{\n\tlong (*volatile fn)(long, unsigned, struct s%d) "
	       "= f%d_2;\n\tunsigned long h = 0;\n\tcalls = 0;\n"
	       "\tfor (int i = 0; i < 4; i++)\n\t\th = h * 31 + (unsigned long)fn(i * 1000003l, "
	       "(unsigned)i * 77u, g%d_t);\n",
	       unit, unit, unit, unit);
	for (int i = 0; i < NVARS; i++)
		printf("\th = h * 31 + (unsigned long)g%d_%d;\n", unit, i);
	printf("\tfor (int i = 0; i < 16; i++)\n\t\th = h * 31 + g%d_a[i];\n", unit);
	printf("\th += (unsigned long)g%d_s.f0 + (unsigned long)g%d_s.f1 * 7 + g%d_s.f2 + "
	       "(unsigned long)g%d_t.f3;\n",
	       unit, unit, unit, unit);
	printf("\tfor (int i = 0; i < 20; i++)\n\t\th = h * 31 + (unsigned long)g%d_m[i / 5][i %% "
	       "5];\n",
	       unit);
	printf("\tprintf(\"%%d %%016lx %%ld\\n\", %d, h, (long)g%d_s.f3);\n}\n", unit, unit);
}

static const char prelude[] =
	"#include <stdarg.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n"
	"static int calls;\nstatic unsigned char g_buf[128] = \"the quick brown fox jumps over the "
	"lazy dog and runs away from it\";\n"
	"static long safe_div(long a, long b) { return b == 0 || (b == -1 && a == "
	"(-9223372036854775807l - 1)) ? a : a / b; }\n"
	"static long safe_rem(long a, long b) { return b == 0 || b == -1 ? a : a % b; }\n"
	"static unsigned safe_udiv(unsigned a, unsigned b) { return b ? a / b : a; }\n"
	"static unsigned safe_urem(unsigned a, unsigned b) { return b ? a % b : a; }\n"
	"static long via_double(double d, int how)\n{\n\tfloat f = (float)d;\n\tswitch (how) {\n"
	"\tcase 0: return (long)(d * 1.5);\n\tcase 1: return (long)(d / 3.0);\n\tcase 2: return "
	"(long)(f * 0.25f);\n"
	"\tcase 3: return d < 10.5;\n\tcase 4: return (long)(d - (double)f * 0.5);\n\tcase 5: "
	"return (long)(long double)(d + 0.5L);\n"
	"\tdefault: return f == d ? 3 : (int)(d / 1024);\n\t}\n}\n"
	"static unsigned long wide(unsigned long a, unsigned long b, int how)\n{\n\tunsigned "
	"__int128 w = (unsigned __int128)a * b;\n"
	"\t__int128 s = (__int128)(long)a - (long)b;\n\tswitch (how) {\n\tcase 0: return (unsigned "
	"long)(w >> 64);\n"
	"\tcase 1: return (unsigned long)(w / (b | 1));\n\tcase 2: return (unsigned long)(s >> "
	"3);\n\tcase 3: return s < 0;\n"
	"\tcase 4: return (unsigned long)(w % ((unsigned __int128)a << 20 | 1));\n\tdefault: "
	"return (unsigned long)((w ^ (unsigned __int128)s) >> 17);\n\t}\n}\n"
	"static unsigned long bits(unsigned long v, int how)\n{\n\tint r;\n\tlong l;\n\tswitch "
	"(how) {\n\tcase 0: return (unsigned long)__builtin_popcountl(v);\n"
	"\tcase 1: return v ? (unsigned long)__builtin_clzl(v) : 64;\n\tcase 2: return v ? "
	"(unsigned long)__builtin_ctzl(v) : 64;\n"
	"\tcase 3: return __builtin_bswap64(v);\n\tcase 4: return v << 13 | v >> 51;\n\tcase 5: "
	"return (unsigned long)__builtin_add_overflow((int)v, 77777777, &r) + (unsigned)r;\n"
	"\tcase 6: return (unsigned long)__builtin_mul_overflow((long)v, 1234567l, &l) + (unsigned "
	"long)l;\n\tdefault: return (unsigned long)labs((long)(int)v) + (v > 5 ? v : 5);\n\t}\n}\n"
	"static long sum(int n, ...)\n{\n\tva_list ap;\n\tlong t = 0;\n\tva_start(ap, n);\n\tt += "
	"va_arg(ap, int);\n\tif (n > 1)\n\t\tt = (long)((unsigned long)t ^ (unsigned "
	"long)va_arg(ap, long));\n"
	"\tif (n > 2)\n\t\tt = (long)((unsigned long)t + (unsigned long)(long)va_arg(ap, "
	"double));\n\tva_end(ap);\n\treturn t;\n}\n";

int main(int argc, char **argv)
{
	int count = argc > 2 ? atoi(argv[2]) : 1;

	state = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
	rnd(2);
	fputs(prelude, stdout);
	for (unit = 0; unit < count; unit++)
		program();
	printf("int main(void)\n{\n");
	for (int i = 0; i < count; i++)
		printf("\tprogram%d();\n", i);
	printf("\treturn 0;\n}\n");
	return 0;
}
