#!/bin/sh
# image/index.sh OUT.tar IMAGE.tar...: one OCI archive with an image index over the images that image/build.sh
# wrote for several architectures. The same images give the same bytes.
set -eu
# shellcheck source=image/oci.sh
. "$(dirname "$0")/oci.sh"
out=$1
shift
epoch=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || echo 0)}
version=$(sed -n 's/^#define HEADGATE_VERSION "\(.*\)"/\1/p' common/process/version.h)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
oci=$work/oci
mkdir -p "$oci/blobs/sha256"

separator=
printf '{"schemaVersion":2,"mediaType":"%s.index.v1+json","manifests":[' $oci_type >"$work/index"
for image; do
	mkdir "$work/one"
	tar -C "$work/one" -xf "$image"
	cp "$work/one"/blobs/sha256/* "$oci/blobs/sha256/"
	# The descriptor as it stands in the image's own index, without the names that the whole will have.
	descriptor=$(tr -d '\n' <"$work/one/index.json" |
		sed -n 's/.*"manifests":\[\({.*"platform":{[^}]*}\),"annotations":.*/\1}/p')
	[ -n "$descriptor" ] || {
		echo "index: $image has no descriptor of ours" >&2
		exit 1
	}
	printf '%s\n%s' "$separator" "$descriptor" >>"$work/index"
	separator=,
	rm -rf "$work/one"
done
printf ']}\n' >>"$work/index"
index=$(keep "$work/index")

echo '{"imageLayoutVersion":"1.0.0"}' >"$oci/oci-layout"
cat >"$oci/index.json" <<EOF
{"schemaVersion":2,"mediaType":"$oci_type.index.v1+json","manifests":[
{"mediaType":"$oci_type.index.v1+json","digest":"sha256:$index","size":$(size "$index"),
$(named "$version")}]}
EOF
pack "$oci" >"$out.new"
mv "$out.new" "$out"
echo "$out: sha256:$index"
