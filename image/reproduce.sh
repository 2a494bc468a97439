#!/bin/sh
# image/reproduce.sh IMAGE.tar: copies the tree to another folder, builds the programs and the image there,
# and fails when a byte of the image, its SBOM or its provenance differs.
set -eu
image=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
export SOURCE_DATE_EPOCH
copy=$work/a/folder/of/another/name
mkdir -p "$copy"
git ls-files -z | xargs -0 cp --parents -t "$copy"
cp -r .git "$copy/"
make -C "$copy" -j"$(nproc)" image >"$work/log" 2>&1 || {
	tail -n 20 "$work/log"
	echo "image-reproduce: the copy does not build"
	exit 1
}
for suffix in tar spdx.json provenance.json; do
	cmp "${image%.tar}.$suffix" "$copy/build/headgate-image.$suffix" || {
		echo "image-reproduce: headgate-image.$suffix is not the same when it is built in another folder"
		exit 1
	}
done
echo "image-reproduce: the same bytes from two folders: $(sha256sum "$image" | cut -c 1-64)"
