#!/bin/sh
# image/check.sh IMAGE.tar BUILD: the programs were compiled with every protection, the SBOM lists what is in
# the image, and the demo (API server, webhook, scheduler, gated pods, all promises checked) runs with both
# daemons confined to the image's file system, read-only, and a headgatectl from it, too. The demo needs root
# or user namespaces.
set -eu
image=$1
build=$2
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=test/lib/count.sh
. "$here/../test/lib/count.sh"

fail() {
	echo "image-check: $*" >&2
	exit 1
}

# The Makefile leaves out what the compiler does not know, so each is looked for here. The debug information
# has the compiler's flags; the notes of a linked program say nothing, since Debian's start files lack them.
hardened() {
	flags='-fstack-protector-strong -fstack-clash-protection -ftrivial-auto-var-init=zero'
	case $(uname -m) in
	x86_64) flags="$flags -fcf-protection" ;;
	aarch64) flags="$flags -mbranch-protection=standard" ;;
	esac
	readelf --debug-dump=info "$1" 2>/dev/null | grep 'DW_AT_producer.*GNU C' >"$work/units" ||
		fail "$1: no debug information that says how it was compiled"
	for flag in $flags; do
		! grep -vqF -e " $flag" "$work/units" || fail "$1: a part of it was compiled without $flag"
	done
	readelf -W --dyn-syms "$1" | grep -q '__[a-z]*_chk@' || fail "$1: without _FORTIFY_SOURCE"
	readelf -dW "$1" | grep -q 'FLAGS_1.*NOW.*PIE' || fail "$1: not a PIE that is bound at its start"
	readelf -lW "$1" | grep -q GNU_RELRO || fail "$1: without RELRO"
	! readelf -lW "$1" | grep GNU_STACK | grep -q RWE || fail "$1: its stack is executable"
}

# listed ROOT SBOM: the SBOM has each package and program that is in ROOT, and no others.
listed() {
	n=1 # Headgate itself
	for record in "$1"/var/lib/dpkg/status.d/*; do
		version=$(sed -n 's/^Version: //p' "$record")
		grep -qF "\"name\": \"$(basename "$record")\", \"versionInfo\": \"$version\"" "$2" ||
			fail "the SBOM lacks $(basename "$record") $version"
		n=$((n + 1))
	done
	[ "$(grep -c '"versionInfo"' "$2")" -eq $n ] || fail "the SBOM lists other packages than the $n of the image"
	for program in "$1"/usr/bin/*; do
		grep -qF "$(sha256sum "$program" | cut -d ' ' -f 1)" "$2" || fail "the SBOM lacks $(basename "$program")"
	done
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$here/unpack.sh" "$image" "$work/root"
for program in headgate-webhook headgate-scheduler headgatectl; do
	hardened "$build/bin/$program"
done
listed "$work/root" "$work/root/usr/share/sbom/headgate.spdx.json"
cmp "$work/root/usr/share/sbom/headgate.spdx.json" "${image%.tar}.spdx.json"

if ! unshare -rm true 2>/dev/null && [ "$(id -u)" -ne 0 ]; then
	echo "image-check: neither root nor user namespaces for the demo"
	count_line 0 0 1
	exit 0
fi
mkdir "$work/bin"

# Each program's stand-in enters the image's root. Only the folder of the run's files (kubeconfig,
# certificates) is visible besides it.
cat >"$work/confined" <<'EOF'
#!/bin/sh
# confined ROOT PROGRAM ARGS...
set -eu
root=$1
shift
mount --bind "$root" "$root"
mount --rbind /proc "$root/proc"
mount --bind /tmp "$root/tmp"
mount -o remount,bind,ro "$root"
if touch "$root/etc/passwd" 2>/dev/null; then
	echo "the root file system can be written to" >&2
	exit 1
fi
cd /
exec env -i PATH=/usr/bin "$(command -v chroot)" "$root" "$@"
EOF
chmod +x "$work/confined"
for program in headgate-webhook headgate-scheduler headgatectl; do
	cat >"$work/bin/$program" <<EOF
#!/bin/sh
exec unshare -rm "$work/confined" "$work/root" /usr/bin/$program "\$@"
EOF
	chmod +x "$work/bin/$program"
done
ln -s "$(cd "$build" && pwd)/bin/headgate-apiserver" "$work/bin/headgate-apiserver"

"$work/bin/headgatectl" version
HEADGATE_BIN=$work/bin "$build/test/demo/demo" >"$work/log" 2>&1 || {
	cat "$work/log"
	fail "the demo does not hold with the programs of the image"
}
tail -n 1 "$work/log"
echo "image-check: both daemons ran from the image alone"
