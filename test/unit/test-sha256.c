/* test/unit/test-sha256.c - SHA-256 against the examples of FIPS 180-4. */
#include "base/sha256.h"

#include <criterion/criterion.h>
#include <string.h>

static void check(const char *text, size_t len, const char *want)
{
	char got[SHA256_HEX];

	sha256_hex(text, len, got);
	cr_assert_str_eq(got, want);
}

Test(sha256, published)
{
	static const char two[] = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
	static char million[1000000];

	check("", 0, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
	check("abc", 3, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
	check(two, 56, "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
	memset(million, 'a', sizeof(million));
	check(million, sizeof(million),
	      "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}
