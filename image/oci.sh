# shellcheck shell=sh
# Shared by what writes OCI layouts: `. image/oci.sh`. $oci is the folder of the layout, $epoch the time of
# everything in it.
# shellcheck disable=SC2154,SC2034
oci_type=application/vnd.oci.image

# pack FOLDER: a tar file on standard output that depends on names, modes and bytes only.
pack() {
	LC_ALL=C tar -C "$1" --sort=name --format=ustar --mtime="@$epoch" --owner=0 --group=0 \
		--numeric-owner -cf - .
}

digest() {
	sha256sum "$1" | cut -d ' ' -f 1
}

# keep FILE: moves it among the blobs; prints its digest.
keep() {
	sum=$(digest "$1")
	mv "$1" "$oci/blobs/sha256/$sum"
	echo "$sum"
}

size() {
	wc -c <"$oci/blobs/sha256/$1" | tr -d ' '
}

# named VERSION: the annotations by which the image is found in an archive. containerd keeps the name as it
# stands here, and the kubelet asks for it in full.
named() {
	printf '"annotations":{"org.opencontainers.image.ref.name":"%s","io.containerd.image.name":"docker.io/library/headgate:%s"}' \
		"$1" "$1"
}
