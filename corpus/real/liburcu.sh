# userspace RCU: lock-free lists, queues and hash tables; its own stress tests, a second each, must end well
system="autotools, libtool"
tests="test_urcu_wfcq test_urcu_lfs test_urcu_gc test_urcu_hash test_urcu_assign"
configure() { ./configure --disable-shared CFLAGS="$FLAGS" LDFLAGS="$FLAGS"; }
build() { make -j2 -C src && make -j2 -C tests/common && make -j2 -C tests/benchmark $tests; }
program=tests/benchmark/test_urcu_gc
products=$(for t in $tests; do echo tests/benchmark/$t; done)
smoke() {
	cd tests/benchmark
	target ./test_urcu_wfcq 1 1 1 -v && target ./test_urcu_lfs 1 1 1 && target ./test_urcu_gc 2 1 1 && target ./test_urcu_assign 2 1 1 &&
		target ./test_urcu_hash 1 1 1 -N 100
}
