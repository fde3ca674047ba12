/* Two ways lead to the same crash: which one was taken is not known any more. */
static volatile int secret, result, more, *nowhere;
int main(int argc, char **argv)
{
	secret = argc * 2;
	if (secret & 1)
		result = 5; /* one way */
	else
		result = 5; /* the other */
	secret = 0;
	more = 3;
	argc = 0;
	*nowhere = 1;
	return 0;
}
