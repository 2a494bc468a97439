#!/bin/sh
# test/e2e/build.sh [COMPONENT...]: the real components, built from Go modules into the cache on first use;
# prints the folder they are in. Without arguments all are built: control-plane kwok helm karpenter.
# README.md says how long it takes. Each component has a stamp of its own, so that a scenario that needs
# no Karpenter starts while Karpenter is compiled. With everything in place it needs no network, and no Go.
set -eu
cd "$(dirname "$0")"
version=v1.37.2
out=${XDG_CACHE_HOME:-$HOME/.cache}/headgate/e2e-$version
export CGO_ENABLED=0 GOFLAGS=-trimpath
mkdir -p "$out"

# inputs COMPONENT: a checksum of this file, of the module files and of the sources of a component.
inputs() {
	case $1 in
	control-plane) set -- go.mod go.sum cmd/control-plane/*.go ;;
	kwok) set -- go.mod go.sum ;;
	*) set -- tools/go.mod tools/go.sum ;;
	esac
	cat build.sh "$@" | cksum
}

# Without its version the API server takes itself for v0.0.0 and all its features for new ones.
version_flags() {
	printf '%s' '-s -w'
	for package in k8s.io/component-base/version k8s.io/client-go/pkg/version; do
		printf ' %s' "-X $package.gitVersion=$version -X $package.gitMajor=1" \
			"-X $package.gitMinor=37 -X $package.gitTreeState=clean"
	done
}

# documents FILE...: one stream of YAML documents.
documents() {
	for file; do
		echo ---
		cat "$file"
	done
}

build() {
	case $1 in
	control-plane)
		nice go build -ldflags "$(version_flags)" -o "$out/control-plane" ./cmd/control-plane
		for program in etcd kube-apiserver kube-controller-manager kube-scheduler kubectl; do
			ln -sf control-plane "$out/$program"
		done
		;;
	kwok)
		nice go build -ldflags '-s -w' -o "$out/kwok" sigs.k8s.io/kwok/cmd/kwok
		stages=$(go list -m -f '{{.Dir}}' sigs.k8s.io/kwok)/kustomize/stage
		documents "$stages/node/fast/node-initialize.yaml" \
			"$stages/node/heartbeat-with-lease/node-heartbeat-with-lease.yaml" \
			"$stages/pod/fast/pod-ready.yaml" "$stages/pod/fast/pod-delete.yaml" >"$out/stages.yaml"
		;;
	helm) nice go -C tools build -ldflags '-s -w' -o "$out/helm" helm.sh/helm/v4/cmd/helm ;;
	karpenter)
		nice go -C tools build -ldflags '-s -w' -o "$out/karpenter" sigs.k8s.io/karpenter/kwok
		crds=$(go -C tools list -m -f '{{.Dir}}' sigs.k8s.io/karpenter)
		documents "$crds"/pkg/apis/crds/*.yaml "$crds"/kwok/apis/crds/*.yaml >"$out/karpenter-crds.yaml"
		;;
	*)
		echo "e2e: no component is called $1: control-plane, kwok, helm, karpenter" >&2
		exit 2
		;;
	esac
}

[ $# -gt 0 ] || set -- control-plane kwok helm karpenter
for component; do
	stamp=$(inputs "$component")
	[ "$(cat "$out/$component.built-from" 2>/dev/null)" != "$stamp" ] || continue
	command -v go >/dev/null || {
		echo "e2e: Go 1.26 is needed to build $component; there is no go on PATH" >&2
		exit 1
	}
	echo "building $component of Kubernetes $version into $out (cold: minutes)" >&2
	build "$component" >&2
	echo "$stamp" >"$out/$component.built-from"
done
echo "$out"
