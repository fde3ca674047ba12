/* A value is taken for one of another type: a number becomes a pointer (CVE-2014-0502's kin, CVE-2015-0313). */
#include <cstdio>
#include <cstdlib>
#include <cstring>

struct Value {
	enum Kind { NUMBER, TEXT } kind;
	union {
		long number;
		const char *text;
	};
};

static Value values[4];

static __attribute__((noinline)) void set_number(Value &v, long n)
{
	v.number = n; /* BUG:a */
}

static __attribute__((noinline)) long hash(const Value &v)
{
	long h = 7;

	for (const char *c = v.text; *c; c++)
		h = h * 31 + *c;
	return h;
}

int main(int argc, char **argv)
{
	for (Value &v : values) {
		v.kind = Value::TEXT;
		v.text = "a text";
	}
	set_number(values[2], argc > 1 ? atol(argv[1]) : 4711);
	long sum = 0;
	for (const Value &v : values)
		if (v.kind == Value::TEXT)
			sum += hash(v);
	return (int)sum;
}
