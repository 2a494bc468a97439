#!/bin/sh
# test/differential/build.sh: builds the comparison with Kueue's scheduler into the cache when it is
# not there yet, and prints where it is. With everything in place it needs no network, and no Go.
set -eu
cd "$(dirname "$0")"
out=${XDG_CACHE_HOME:-$HOME/.cache}/headgate/differential

inputs=$(cat build.sh go.mod go.sum ./*.go | cksum)
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
CGO_ENABLED=0 nice go build -trimpath -ldflags '-s -w' -o "$out/differential" . >&2
echo "$inputs" >"$out/built-from"
echo "$out/differential"
