# shellcheck shell=sh
# How a mutant is built: `. test/mutants/build.sh`. The object of the mutant stands before the archives, so that the
# linker takes nothing of the file that it replaces out of them. Make gives CC, CFLAGS, LDFLAGS, LIBS and BUILD.

# compile SOURCE OBJECT
compile() {
	# shellcheck disable=SC2086
	$CC $CFLAGS -g0 -Werror=implicit-function-declaration -Werror=int-conversion -Werror=incompatible-pointer-types -c "$1" -o "$2"
}

# link_with OBJECT... PROGRAM: of the other objects and the archives.
link_with() {
	objects=
	while [ $# -gt 1 ]; do
		objects="$objects $1"
		shift
	done
	# shellcheck disable=SC2086
	$CC $CFLAGS $objects -o "$1" $LDFLAGS -Wl,--strip-debug "$BUILD/libtest.a" "$BUILD/libheadgate.a" \
		$CMOCKA -lssl $LIBS
}
