#!/bin/sh
# image/unpack.sh IMAGE.tar FOLDER: the image's file system in FOLDER, after checking every digest.
set -eu
image=$1
folder=$2
oci=$(mktemp -d)
trap 'rm -rf "$oci"' EXIT

tar -C "$oci" -xf "$image"
for blob in "$oci"/blobs/sha256/*; do
	echo "$(basename "$blob")  $blob"
done | sha256sum --check --quiet

# digest_in FILE TYPE: the digest beside the media type.
digest_in() {
	tr -d '\n' <"$1" | sed -n 's/.*"mediaType":"application\/vnd\.oci\.image\.'"$2"'","digest":"sha256:\([0-9a-f]*\)".*/\1/p'
}
manifest=$(digest_in "$oci/index.json" 'manifest\.v1+json')
layer=$(digest_in "$oci/blobs/sha256/$manifest" 'layer\.v1\.tar+gzip')
config=$(digest_in "$oci/blobs/sha256/$manifest" 'config\.v1+json')
sum=$(gzip -dc "$oci/blobs/sha256/$layer" | sha256sum | cut -d ' ' -f 1)
grep -q "\"diff_ids\":\[\"sha256:$sum\"\]" "$oci/blobs/sha256/$config" || {
	echo "$image: the layer is not the one of the configuration" >&2
	exit 1
}
mkdir -p "$folder"
gzip -dc "$oci/blobs/sha256/$layer" | tar -C "$folder" --no-same-owner -xf -
