#!/bin/sh
# test/differential/build.sh: builds the comparison with Kueue's scheduler into the cache when it is
# not there yet, and prints where it is. With everything in place it needs no network, and no Go.
set -eu
cd "$(dirname "$0")"
out=${XDG_CACHE_HOME:-$HOME/.cache}/headgate/differential

inputs=$({ cat build.sh go.mod go.sum ./*.go lib/*.go mend/kueue.patch && find mend -name "*.go" -exec cat {} +; } | cksum)
if [ "$(cat "$out/built-from" 2>/dev/null)" = "$inputs" ]; then
	echo "$out/differential"
	exit
fi
command -v go >/dev/null || {
	echo "differential: Go 1.26 is needed to build Kueue's scheduler; there is no go on PATH" >&2
	exit 1
}
mkdir -p "$out"
echo "building Kueue's scheduler into $out (cold: minutes)" >&2

# A copy of Kueue with the changes of mend, all of them switched off.
kueue=$out/kueue
rm -rf "$kueue"
mkdir -p "$kueue"
go mod download sigs.k8s.io/kueue
(cd "$(go list -m -f '{{.Dir}}' sigs.k8s.io/kueue)" && cp -R go.mod go.sum apis pkg "$kueue")
chmod -R u+w "$kueue"
cp -R mend/pkg "$kueue"
patch -s -d "$kueue" -p1 <mend/kueue.patch || {
	echo "differential: Kueue's code is written differently now: see mend/kueue.patch" >&2
	exit 1
}
cp go.mod go.sum "$out"
go mod edit -replace "sigs.k8s.io/kueue=$kueue" "$out/go.mod"
export CGO_ENABLED=0
nice go vet -tags differential -modfile "$out/go.mod" . >&2
nice go build -trimpath -tags differential -modfile "$out/go.mod" -ldflags '-s -w' \
	-o "$out/differential" . >&2
rm -rf "$kueue"
echo "$inputs" >"$out/built-from"
echo "$out/differential"
