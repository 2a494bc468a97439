#!/bin/sh
# test/e2e/build.sh: the real components, built from Go modules into the cache on first use; prints
# the folder they are in. README.md says how long it takes. With everything in place it needs no
# network, and no Go.
set -eu
cd "$(dirname "$0")"
version=v1.36.3
out=${XDG_CACHE_HOME:-$HOME/.cache}/headgate/e2e-$version

inputs=$(cat build.sh go.mod go.sum cmd/control-plane/*.go tools/go.mod tools/go.sum | cksum)
if [ "$(cat "$out/built-from" 2>/dev/null)" = "$inputs" ]; then
	echo "$out"
	exit
fi
command -v go >/dev/null || {
	echo "e2e: Go 1.26 is needed to build Kubernetes, etcd, kwok, helm and Karpenter; there is no go on PATH" >&2
	exit 1
}
export CGO_ENABLED=0 GOFLAGS=-trimpath
mkdir -p "$out"
echo "building Kubernetes $version, etcd, kwok, helm and Karpenter into $out (cold: minutes)" >&2

# Without its version the API server takes itself for v0.0.0 and all its features for new ones.
flags='-s -w'
for package in k8s.io/component-base/version k8s.io/client-go/pkg/version; do
	flags="$flags -X $package.gitVersion=$version -X $package.gitMajor=1"
	flags="$flags -X $package.gitMinor=36 -X $package.gitTreeState=clean"
done
nice go build -ldflags "$flags" -o "$out/control-plane" ./cmd/control-plane >&2
for program in etcd kube-apiserver kube-controller-manager kube-scheduler kubectl; do
	ln -sf control-plane "$out/$program"
done
nice go build -ldflags '-s -w' -o "$out/kwok" sigs.k8s.io/kwok/cmd/kwok >&2
nice go -C tools build -ldflags '-s -w' -o "$out/helm" helm.sh/helm/v4/cmd/helm >&2
nice go -C tools build -ldflags '-s -w' -o "$out/karpenter" sigs.k8s.io/karpenter/kwok >&2

stages=$(go list -m -f '{{.Dir}}' sigs.k8s.io/kwok)/kustomize/stage
for stage in node/fast/node-initialize node/heartbeat-with-lease/node-heartbeat-with-lease \
	pod/fast/pod-ready pod/fast/pod-delete; do
	echo ---
	cat "$stages/$stage.yaml"
done >"$out/stages.yaml"
karpenter=$(go -C tools list -m -f '{{.Dir}}' sigs.k8s.io/karpenter)
for crd in "$karpenter"/pkg/apis/crds/*.yaml "$karpenter"/kwok/apis/crds/*.yaml; do
	echo ---
	cat "$crd"
done >"$out/karpenter-crds.yaml"
echo "$inputs" >"$out/built-from"
echo "$out"
