#!/bin/sh
# image/sysroot.sh ARCHITECTURE FOLDER: Debian's libraries and headers of another architecture, unpacked into
# FOLDER with a dpkg database of their own, so that a cross compiler finds them by --sysroot and dpkg by
# DPKG_ADMINDIR. Nothing is installed: neither root nor a foreign architecture of dpkg is needed, and no
# package of this machine has to have the same version. Needs apt and the network, once.
set -eu
arch=$1
root=$2
packages='libc6-dev libmicrohttpd-dev libgnutls28-dev libcurl4-openssl-dev libssl-dev
	libcjson-dev libyaml-dev libnghttp2-dev uthash-dev'
done=$root/.complete

[ ! -e "$done" ] || exit 0
apt=$(mktemp -d)
trap 'rm -rf "$apt"' EXIT
mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial"
: >"$apt/status"

get() {
	apt-get -qq -y -o Acquire::Retries=5 -o Dir::State="$apt" -o Dir::State::lists="$apt/lists" \
		-o Dir::State::status="$apt/status" -o Dir::Cache="$apt/cache" -o APT::Sandbox::User="$(id -un)" \
		-o APT::Architecture="$arch" -o APT::Architectures::="$arch" -o Debug::NoLocking=1 "$@" >&2
}
get update
# shellcheck disable=SC2086
get --no-install-recommends --download-only install $packages || {
	echo "sysroot: these packages are not to be had for $arch:" $packages >&2
	exit 1
}

rm -rf "$root"
database=$root/var/lib/dpkg
mkdir -p "$root/usr/lib" "$database/info"
ln -s usr/lib "$root/lib"
echo 1 >"$database/info/format"
for package in "$apt"/cache/archives/*.deb; do
	name=$(dpkg-deb -f "$package" Package)
	dpkg-deb -x "$package" "$root"
	{
		echo "Package: $name"
		echo 'Status: install ok installed'
		dpkg-deb -f "$package" | sed '/^Package:/d'
		echo
	} >>"$database/status"
	[ "$(dpkg-deb -f "$package" Multi-Arch)" != same ] || name=$name:$arch
	dpkg-deb --fsys-tarfile "$package" | tar -tf - | sed 's|^\./|/|; s|/$||; s|^$|/.|' >"$database/info/$name.list"
done
touch "$done"
