#!/bin/sh
# image/tools.sh ARCHITECTURE TRIPLET: fails, and names the Debian packages, when this machine cannot build a
# release for the architecture or start what it built.
set -eu
arch=$1
triplet=$2
missing=

case $(uname -m) in
x86_64) host=amd64 ;;
aarch64) host=arm64 ;;
*) host=$(uname -m) ;;
esac
case $triplet in
x86_64*) suffix=x86-64-linux-gnu ;;
*) suffix=$triplet ;;
esac
command -v "$triplet-gcc" >/dev/null || missing="$missing gcc-$suffix"
command -v "$triplet-strip" >/dev/null || missing="$missing binutils-$suffix"
if [ "$arch" = arm64 ] && [ "$host" != arm64 ] && ! command -v qemu-aarch64-static >/dev/null; then
	missing="$missing qemu-user-static"
fi
command -v dpkg-source >/dev/null || missing="$missing dpkg-dev"
[ -z "$missing" ] || {
	echo "release: for $arch this machine lacks:$missing" >&2
	exit 1
}
