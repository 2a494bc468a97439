#!/bin/sh
# test/e2e/controllers/build.sh: the controller managers of JobSet and LeaderWorkerSet, built into the cache when they
# are not there yet, with their charts; prints the folder they are in. The versions of go.mod are those of
# ../kueue/go.mod wherever both name a module, so that packages which Kueue's manager has as well are compiled once.
set -eu
cd "$(dirname "$0")"
out=${XDG_CACHE_HOME:-$HOME/.cache}/headgate/controllers

inputs=$(cat build.sh go.mod go.sum | cksum)
if [ "$(cat "$out/built-from" 2>/dev/null)" = "$inputs" ]; then
	echo "$out"
	exit
fi
command -v go >/dev/null || {
	echo "Go 1.26 is needed to build JobSet and LeaderWorkerSet; there is no go on PATH" >&2
	exit 1
}
export CGO_ENABLED=0 GOFLAGS=-trimpath
rm -rf "$out"
mkdir -p "$out"
echo "building JobSet and LeaderWorkerSet into $out (cold: minutes)" >&2

# build NAME MODULE PACKAGE: the program, its chart, and the module's version.
build() {
	go mod download "$2" >&2
	nice go build -ldflags '-s -w' -o "$out/$1" "$2$3" >&2
	cp -R "$(go list -m -f '{{.Dir}}' "$2")/charts/$1" "$out/$1-chart"
	go list -m -f '{{.Version}}' "$2" >"$out/$1-version"
}

build jobset sigs.k8s.io/jobset ""
build lws sigs.k8s.io/lws /cmd
chmod -R u+w "$out"
echo "$inputs" >"$out/built-from"
echo "$out"
