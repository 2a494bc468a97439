#!/bin/sh
# image/static.sh COMPILER SYSROOT FOLDER: libcurl and cJSON as archives in FOLDER (include, lib), from the sources
# of Debian's packages, for a headgatectl that needs nothing of the machine it runs on. Debian's own libcurl.a
# cannot be used: it wants Kerberos, which has no archive, and Debian has none of cJSON. The libcurl made here
# speaks HTTP and HTTPS (OpenSSL, HTTP/2) and nothing else. SYSROOT: a folder of image/sysroot.sh.
set -eu
cc=$1
sysroot=$(readlink -f "$2")
out=$3
done=$out/.complete

[ ! -e "$done" ] || exit 0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/lists/partial" "$work/cache/archives/partial" "$out/include/cjson" "$out/lib"
out=$(readlink -f "$out")
: >"$work/status"
for list in /etc/apt/sources.list.d/*.sources; do
	[ ! -e "$list" ] || { sed 's/^Types: .*/Types: deb-src/' "$list" && echo; }
done >"$work/src.sources"
for list in /etc/apt/sources.list /etc/apt/sources.list.d/*.list; do
	[ ! -e "$list" ] || sed -n 's/^deb /deb-src /p' "$list"
done >"$work/src.list"

get() {
	apt-get -qq -o Acquire::Retries=5 -o Dir::State="$work" -o Dir::State::lists="$work/lists" \
		-o Dir::State::status="$work/status" -o Dir::Cache="$work/cache" -o Dir::Etc::sourcelist=- \
		-o Dir::Etc::sourceparts="$work/parts" -o APT::Sandbox::User="$(id -un)" -o Debug::NoLocking=1 "$@" >&2
}
mkdir "$work/parts"
mv "$work/src.sources" "$work/src.list" "$work/parts/"
get update || true # a list that has no sources is no reason to stop
(cd "$work" && get source curl cjson >"$work/log" 2>&1) || {
	cat "$work/log" >&2
	exit 1
}
flags="-O2 -g0 -fPIE -fstack-protector-strong -D_FORTIFY_SOURCE=2 --sysroot=$sysroot -ffile-prefix-map=$work=."

cd "$work"/cjson-*/
# shellcheck disable=SC2086
"$cc" $flags -c cJSON.c -o cJSON.o
ar rcsD "$out/lib/libcjson.a" cJSON.o
cp cJSON.h "$out/include/cjson/"

cd "$work"/curl-*/
{
	PKG_CONFIG=false ./configure --host="$("$cc" -dumpmachine)" CC="$cc" CFLAGS="$flags" LDFLAGS="--sysroot=$sysroot" \
		--prefix="$out" --disable-shared --enable-static --with-openssl --with-nghttp2 --without-zlib \
		--without-brotli --without-zstd --without-libpsl --without-libidn2 --without-librtmp --without-libssh2 \
		--disable-ldap --disable-ldaps --disable-ftp --disable-file --disable-rtsp --disable-dict --disable-telnet \
		--disable-tftp --disable-pop3 --disable-imap --disable-smb --disable-smtp --disable-gopher --disable-mqtt \
		--disable-manual --disable-dependency-tracking --enable-threaded-resolver \
		--with-ca-bundle=/etc/ssl/certs/ca-certificates.crt
	make -C lib
	make -C lib install
	make -C include install
} >"$work/log" 2>&1 || {
	tail -n 20 "$work/log" >&2
	echo "static: libcurl does not build with $cc" >&2
	exit 1
}
touch "$out/.complete"
