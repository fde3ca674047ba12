# an AV1 decoder: frame and tile threads, through Meson; the picture comes from aom-tools
system="Meson"
needs="meson ninja-build aom-tools"
configure() {
	meson setup out --buildtype=plain -Denable_asm=false -Denable_tests=false --default-library=static -Dc_args="$FLAGS" \
		-Dc_link_args="$FLAGS"
}
build() { ninja -C out -j2; }
program=out/tools/dav1d
film() { # eight grey frames that change
	printf 'YUV4MPEG2 W96 H64 F25:1 C420jpeg\n'
	for i in 1 2 3 4 5 6 7 8; do
		printf 'FRAME\n'
		seq 1 2000 | awk -v i=$i '{ printf "%04d", ($1 * i) % 9973 }' | head -c 6144
		head -c 3072 /dev/zero | tr '\0' '\200'
	done
}
smoke() {
	[ -e in.ivf ] || { film >in.y4m && aomenc --cpu-used=8 --ivf -o in.ivf in.y4m; } >/dev/null 2>&1
	a=$(target "$prog" -q -i in.ivf --threads 3 --muxer md5 -o -) && b=$(target "$prog" -q -i in.ivf --threads 1 --muxer md5 -o -) &&
		[ -n "$a" ] && [ "$a" = "$b" ]
}
