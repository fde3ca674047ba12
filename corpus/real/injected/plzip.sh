# the end of the input is announced without the lock under which workers look for it
of=plzip
edit() {
	sed -i '/^  void finish/,/^    }/{ s|xlock( &imutex );|/* INJECTED */|; s|xunlock( &imutex );||; }' compress.cc
}
relevant='eof = true;'
command() { echo "$prog" -n 2 -B 8KiB -s 8KiB -c data; }
lines=3000
