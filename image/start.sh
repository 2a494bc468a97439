#!/bin/sh
# image/start.sh ARCHITECTURE BUILD: starts each program of the image in BUILD once with the libraries of the image
# alone, and the static headgatectl with none; under qemu-user where this machine is of another architecture.
set -eu
arch=$1
build=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$(dirname "$0")/unpack.sh" "$build/headgate-image.tar" "$work"

case $arch-$(uname -m) in
amd64-x86_64) run= ;;
arm64-aarch64) run= ;;
arm64-*) run=qemu-aarch64-static ;;
amd64-*) run=qemu-x86_64-static ;;
esac

# start ROOT PROGRAM ARGUMENT...: without this machine's libraries.
start() {
	root=$1
	shift
	if [ -n "$run" ]; then
		"$run" -L "$root" "$@"
	else
		loader=$(readelf -l "$1" | sed -n 's/.*program interpreter: \(.*\)\]/\1/p')
		libraries=$(find "$root" -name 'libc.so.6' -exec dirname {} \; | head -n 1)
		${loader:+"$root$loader" --inhibit-cache --library-path "$libraries"} "$@"
	fi >"$work.log" 2>&1 || {
		cat "$work.log" >&2
		echo "release: $* does not start on $arch" >&2
		exit 1
	}
	rm -f "$work.log"
}

for program in "$work"/usr/bin/*; do
	start "$work" "$program" --help
done
start /nowhere "$build/headgatectl" version
start /nowhere "$build/headgatectl" simulate --help
echo "release: the programs start on $arch${run:+ under $run}"
