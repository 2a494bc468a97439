#!/bin/sh
# image/release.sh FOLDER BUILD...: everything a release consists of, in FOLDER: the image index with SBOM and
# provenance of each image, the packaged chart, a static headgatectl of each architecture with its SBOM, its
# manual page, the release notes and the checksums of all. Each BUILD is a build folder named after its
# architecture, with headgate-image.tar and headgatectl. SYSROOTS: the folder of what they were built with
# (image/sysroot.sh). MANUAL: the manual page. RELEASE_KEY: a private key (PEM) that signs the checksums; without
# one there is no signature.
set -eu
# shellcheck source=image/oci.sh
. "$(dirname "$0")/oci.sh"
here=$(dirname "$0")
out=$1
shift
epoch=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || echo 0)}
version=$(sed -n 's/^#define HEADGATE_VERSION "\(.*\)"/\1/p' common/process/version.h)
created=$(date -u -d "@$epoch" +%Y-%m-%dT%H:%M:%SZ)
export SOURCE_DATE_EPOCH="$epoch"

fail() {
	echo "release: $*" >&2
	exit 1
}

rm -rf "$out"
mkdir -p "$out"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

images=
for build; do
	arch=$(basename "$build")
	images="$images $build/headgate-image.tar"
	for kind in spdx provenance; do
		cp "$build/headgate-image.$kind.json" "$out/headgate-$version-linux-$arch.$kind.json"
	done
	cp "$build/headgatectl" "$out/headgatectl-$version-linux-$arch"
	# The libraries in it have the versions of these packages.
	mkdir -p "$work/$arch/usr/bin"
	cp "$build/headgatectl" "$work/$arch/usr/bin/"
	DPKG_ADMINDIR=$SYSROOTS/$arch/var/lib/dpkg "$here/sbom.sh" "$work/$arch" "$version" "$created" "libc6-dev:$arch" \
		"libcurl4-openssl-dev:$arch" "libnghttp2-dev:$arch" "libssl-dev:$arch" "libcjson-dev:$arch" \
		"libyaml-dev:$arch" >"$out/headgatectl-$version-linux-$arch.spdx.json"
done
# shellcheck disable=SC2086
"$here/index.sh" "$out/headgate-$version.oci.tar" $images

cp "$MANUAL" "$out/headgatectl.1"

# A packaged chart is its folder, named like the chart, as a compressed tar file.
mkdir "$work/chart"
cp -R charts/headgate "$work/chart/headgate"
find "$work/chart" -type d -exec chmod 0755 {} +
find "$work/chart" -type f -exec chmod 0644 {} +
(cd "$work/chart" && find headgate -type f | LC_ALL=C sort) |
	tar -C "$work/chart" --format=ustar --mtime="@$epoch" --owner=0 --group=0 --numeric-owner -T - -cf - |
	gzip -n -9 >"$out/headgate-$version.tgz"

# The notes are the changelog's section of this version, without its heading.
awk -v heading="## [$version]" '
	/^## / { is_ours = index($0, heading) == 1; next }
	is_ours' CHANGELOG.md | sed '/./,$!d' >"$out/RELEASE_NOTES.md"
[ -s "$out/RELEASE_NOTES.md" ] || fail "CHANGELOG.md has no section ## [$version]"

(cd "$out" && LC_ALL=C sha256sum ./*) | sed 's|  \./|  |' >"$work/SHA256SUMS"
mv "$work/SHA256SUMS" "$out/SHA256SUMS"
if [ -n "${RELEASE_KEY:-}" ]; then
	openssl pkeyutl -sign -rawin -inkey "$RELEASE_KEY" -in "$out/SHA256SUMS" -out "$out/SHA256SUMS.sig" ||
		fail "$RELEASE_KEY does not sign"
else
	echo "release: not signed, because RELEASE_KEY names no key"
fi
(cd "$out" && wc -c ./*)
