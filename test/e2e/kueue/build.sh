#!/bin/sh
# test/e2e/kueue/build.sh bench|manager: programs of Kueue's module, built into the cache when they are not there
# yet; prints the folder they are in. bench: its performance runner and its minimal controller manager, with the
# CRDs and the sets of that version. manager: its controller manager, with its chart.
set -eu
cd "$(dirname "$0")"
part=${1:-}
case $part in
bench) out=kueue ;;
manager) out=kueue-manager ;;
*)
	echo "usage: test/e2e/kueue/build.sh bench|manager" >&2
	exit 2
	;;
esac
out=${XDG_CACHE_HOME:-$HOME/.cache}/headgate/$out

inputs=$(cat build.sh go.mod go.sum | cksum)
if [ "$(cat "$out/built-from" 2>/dev/null)" = "$inputs" ]; then
	echo "$out"
	exit
fi
command -v go >/dev/null || {
	echo "Go 1.26 is needed to build Kueue; there is no go on PATH" >&2
	exit 1
}
export CGO_ENABLED=0 GOFLAGS=-trimpath
rm -rf "$out"
mkdir -p "$out"
echo "building Kueue ($part) into $out (cold: minutes)" >&2
module=$(go list -m -f '{{.Dir}}' sigs.k8s.io/kueue)
if [ -z "$module" ]; then
	go mod download sigs.k8s.io/kueue >&2
	module=$(go list -m -f '{{.Dir}}' sigs.k8s.io/kueue)
fi

build_bench() {
	tests=test/performance/scheduler
	nice go build -ldflags '-s -w' -o "$out/" "sigs.k8s.io/kueue/$tests/runner" "sigs.k8s.io/kueue/$tests/minimalkueue" >&2

	# The same program without a limit of its requests, which it has no flag for.
	limit='kubeConfig.QPS = 50$'
	grep -q "$limit" "$module/$tests/minimalkueue/main.go"
	sed "s/$limit/kubeConfig.QPS = -1/" "$module/$tests/minimalkueue/main.go" >"$out/main.go"
	nice go build -ldflags '-s -w' -o "$out/minimalkueue-unlimited" "$out/main.go" >&2

	mkdir "$out/crds"
	cp "$module"/config/components/crd/bases/*.yaml "$out/crds/"
	for set in baseline large-scale; do
		cp "$module/$tests/configs/$set/generator.yaml" "$out/$set.yaml"
	done
}

build_manager() {
	nice go build -ldflags '-s -w' -o "$out/kueue" sigs.k8s.io/kueue/cmd/kueue >&2
	cp -R "$module/charts/kueue" "$out/chart"
}

"build_$part"
chmod -R u+w "$out"
go list -m -f '{{.Version}}' sigs.k8s.io/kueue >"$out/version"
echo "$inputs" >"$out/built-from"
echo "$out"
