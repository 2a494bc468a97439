#!/bin/sh
# image/build.sh BIN OUT.tar: an OCI image (also one that `docker load` takes) of the programs in
# folder BIN and the shared objects they need, with what scanners read: the records of the Debian packages
# that the objects come from, and an SBOM. No base image, no shell. The same input gives the same bytes;
# times are SOURCE_DATE_EPOCH (the last commit's). Beside OUT.tar stand the SBOM (.spdx.json) and the
# provenance (.provenance.json). SYSROOT: the folder of image/sysroot.sh that the programs were built with,
# when they are of another architecture. STRIP: the strip of their compiler.
set -eu
# shellcheck source=image/oci.sh
. "$(dirname "$0")/oci.sh"
bin=$1
out=$2
programs='headgate-webhook headgate-scheduler headgatectl'
user=65532
limit=41943040 # bytes of the file system
sysroot=
if [ -n "${SYSROOT:-}" ]; then
	sysroot=$(readlink -f "$SYSROOT")
	export DPKG_ADMINDIR="$sysroot/var/lib/dpkg"
fi

fail() {
	echo "image: $*" >&2
	exit 1
}

version=$(sed -n 's/^#define HEADGATE_VERSION "\(.*\)"/\1/p' common/process/version.h)
epoch=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || echo 0)}
created=$(date -u -d "@$epoch" +%Y-%m-%dT%H:%M:%SZ)
machine=$(readelf -h "$bin/headgatectl" | sed -n 's/^ *Machine: *//p')
case $machine in
*X86-64) arch=amd64 triplet=x86_64-linux-gnu ;;
AArch64) arch=arm64 triplet=aarch64-linux-gnu ;;
*) fail "no architecture of ours: $machine" ;;
esac

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
root=$work/root
oci=$work/oci
mkdir -p "$root" "$oci/blobs/sha256"

# put FILE [PATH]: a copy at the same path in the image (without the sysroot), whatever links lead there.
put() {
	set -- "$1" "${2:-${1#"$sysroot"}}"
	to=$root$2
	mkdir -p "$(dirname "$to")"
	cp -L "$1" "$to"
}

# needed FILE...: what the loader would be asked for, its own path included.
needed() {
	readelf -dl "$@" | sed -n 's/.*Shared library: \[\(.*\)\]/\1/p; s/.*program interpreter: \(.*\)\]/\1/p'
}

# locate NAME: its path, where the loader looks for it.
locate() {
	for path in "$1" "/lib/$triplet/$1" "/usr/lib/$triplet/$1"; do
		case $path in
		/*) [ ! -e "$sysroot$path" ] || break ;;
		esac
	done
	[ -e "$sysroot$path" ] || fail "no $1 for $arch"
	echo "$sysroot$path"
}

# objects FILE...: puts the paths of all shared objects that these load, directly or not, into $work/objects.
objects() {
	known=$(wc -l <"$work/objects")
	for name in $(needed "$@" | sort -u); do
		# The C library names the loader, of which the programs have the path.
		grep -q "/$(basename "$name")\$" "$work/objects" || locate "$name" >>"$work/objects"
	done
	# shellcheck disable=SC2046
	set -- $(tail -n +$((known + 1)) "$work/objects")
	[ $# -eq 0 ] || objects "$@"
}

for program in $programs; do
	[ -x "$bin/$program" ] || fail "$bin/$program is not there: make all"
	put "$bin/$program" "/usr/bin/$program"
	"${STRIP:-strip}" --strip-all "$root/usr/bin/$program"
done
# shellcheck disable=SC2046
set -- $(for program in $programs; do echo "$bin/$program"; done)
: >"$work/objects"
objects "$@"
LC_ALL=C sort -o "$work/objects" "$work/objects"
while read -r object; do
	put "$object"
done <"$work/objects"
# The C library loads it by name when a thread ends by pthread_exit.
gcc_s=$(dirname "$(grep '/libc\.so' "$work/objects")")/libgcc_s.so.1
[ ! -e "$gcc_s" ] || put "$gcc_s"

# owners: the Debian packages of the objects. The file lists name /lib or /usr/lib, as the package did.
owners() {
	while read -r object; do
		file=$(readlink -f "$object")
		file=${file#"$sysroot"}
		dpkg -S "$file" 2>/dev/null || dpkg -S "${file#/usr}" 2>/dev/null ||
			fail "no Debian package owns $file: the SBOM would not name it"
	done <"$work/objects" | sed 's/: .*//' | LC_ALL=C sort -u
}
[ ! -e "$gcc_s" ] || echo "$gcc_s" >>"$work/objects"
packages=$(owners)
mkdir -p "$root/var/lib/dpkg/status.d"
for package in $packages; do
	name=${package%%:*}
	dpkg -s "$package" >"$root/var/lib/dpkg/status.d/$name"
	put "$sysroot/usr/share/doc/$name/copyright"
done
put /etc/os-release

cas=/etc/ssl/certs/ca-certificates.crt
[ ! -e "$cas" ] || put "$cas"
# Where the chart mounts things; runtimes want the others.
mkdir -p "$root/etc/headgate/tls" "$root/tmp" "$root/proc" "$root/dev" "$root/sys"
printf 'root:x:0:0::/:/sbin/nologin\nheadgate:x:%s:%s::/:/sbin/nologin\n' $user $user >"$root/etc/passwd"
printf 'root:x:0:\nheadgate:x:%s:\n' $user >"$root/etc/group"
printf 'hosts: files dns\n' >"$root/etc/nsswitch.conf"
sbom=/usr/share/sbom/headgate.spdx.json
mkdir -p "$root$(dirname "$sbom")"
# shellcheck disable=SC2086
"$(dirname "$0")/sbom.sh" "$root" "$version" "$created" $packages >"$root$sbom"
find "$root" -type d -exec chmod 0755 {} +
find "$root" -type f -exec chmod 0644 {} +
find "$root/usr/bin" "$root/lib64" "$root/lib" -type f -exec chmod 0755 {} + 2>/dev/null || true
chmod 1777 "$root/tmp"

bytes=$(du -sb --apparent-size "$root" | cut -f 1)
[ "$bytes" -le $limit ] || fail "$bytes bytes: more than $limit"

pack "$root" >"$work/layer.tar"
diff_id=$(digest "$work/layer.tar")
gzip -n -9 "$work/layer.tar"
layer=$(keep "$work/layer.tar.gz")

cat >"$work/config" <<EOF
{"created":"$created","architecture":"$arch","os":"linux",
"config":{"User":"$user:$user","Env":["PATH=/usr/bin"],"Cmd":["headgatectl","--help"],"WorkingDir":"/",
"Labels":{"org.opencontainers.image.title":"headgate","org.opencontainers.image.version":"$version",
"org.opencontainers.image.licenses":"Apache-2.0"}},
"rootfs":{"type":"layers","diff_ids":["sha256:$diff_id"]},
"history":[{"created":"$created","created_by":"image/build.sh"}]}
EOF
config=$(keep "$work/config")

cat >"$work/manifest" <<EOF
{"schemaVersion":2,"mediaType":"$oci_type.manifest.v1+json",
"config":{"mediaType":"$oci_type.config.v1+json","digest":"sha256:$config","size":$(size "$config")},
"layers":[{"mediaType":"$oci_type.layer.v1.tar+gzip","digest":"sha256:$layer","size":$(size "$layer")}]}
EOF
manifest=$(keep "$work/manifest")

echo '{"imageLayoutVersion":"1.0.0"}' >"$oci/oci-layout"
cat >"$oci/index.json" <<EOF
{"schemaVersion":2,"mediaType":"$oci_type.index.v1+json","manifests":[
{"mediaType":"$oci_type.manifest.v1+json","digest":"sha256:$manifest","size":$(size "$manifest"),
"platform":{"architecture":"$arch","os":"linux"},
$(named "$version")}]}
EOF
# For docker load of before version 25.
cat >"$oci/manifest.json" <<EOF
[{"Config":"blobs/sha256/$config","RepoTags":["headgate:$version"],"Layers":["blobs/sha256/$layer"]}]
EOF
mkdir -p "$(dirname "$out")"
cp "$root$sbom" "${out%.tar}.spdx.json"
"$(dirname "$0")/provenance.sh" "$version" "$manifest" >"${out%.tar}.provenance.json"
pack "$oci" >"$out.new"
mv "$out.new" "$out"
printf '%s: headgate:%s, %s files, %s KiB, %s KiB packed, sha256:%s\n' "$out" "$version" \
	"$(find "$root" -type f | wc -l)" $((bytes / 1024)) \
	$(($(wc -c <"$out") / 1024)) "$manifest"
